"""An operator is told when a server is open to others."""

import pytest

from server.rpc.listener import exposure


@pytest.mark.parametrize(
    ("host", "has_keys", "has_tls", "said"),
    [
        ("127.0.0.1", False, False, None),
        ("::1", False, False, None),
        ("[::1]", False, False, None),
        ("localhost", False, False, None),
        ("0.0.0.0", False, False, "KEYS_FILE"),  # noqa: S104 - the subject
        ("[::]", False, True, "KEYS_FILE"),
        ("192.0.2.7", True, False, "unencrypted"),
        ("precis.example", True, True, None),
    ],
)
def test_what_is_open_is_said(host: str, *, has_keys: bool, has_tls: bool, said: str | None) -> None:
    reason = exposure(host, has_keys=has_keys, has_tls=has_tls)
    assert (reason is None) == (said is None)
    assert said is None or said in str(reason)
