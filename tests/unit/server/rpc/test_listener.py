"""What gRPC is told: about calls that it has and the server has not seen yet, and about the size of messages."""

import pytest

from server.config import ListenConfig
from server.rpc.admission import CallPolicy
from server.rpc.listener import exposure, options


def test_no_call_that_waits_is_dropped_before_its_own_deadline() -> None:
    told = dict(options(ListenConfig()))
    assert told["grpc.server_max_unrequested_time_in_server"] >= 600
    assert told["grpc.server.max_pending_requests"] == told["grpc.server.max_pending_requests_hard_limit"] >= 8_000


def test_no_response_that_is_let_through_is_too_large_for_grpc() -> None:
    config = ListenConfig(max_send_mib=3)
    policy = CallPolicy.of(config, 1, None, {})
    assert policy.max_response_bytes == dict(options(config))["grpc.max_send_message_length"] == 3 << 20


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
