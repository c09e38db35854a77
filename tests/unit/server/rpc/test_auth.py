"""Bearer keys from a file."""

import hashlib
import logging
from pathlib import Path

import pytest

from server.errors import StartupError, UnauthenticatedError
from server.rpc.auth import KeyRing


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text("# team a\nfirst-key\n\n  second-key  \n", encoding="utf-8")
    return path


@pytest.mark.parametrize("value", ["Bearer first-key", "bearer second-key"])
def test_every_key_of_the_file_opens(keys_file: Path, value: str) -> None:
    caller = KeyRing(keys_file).caller_of([("user-agent", "x"), ("authorization", value)])
    assert caller.tenant == hashlib.sha256(value.split()[1].encode()).hexdigest()
    assert caller.tenant.startswith(caller.key)
    assert caller.key


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        [],
        [("authorization", "Bearer wrong")],
        [("authorization", "Bearer first-ke")],
        [("authorization", "Bearer # team a")],
        [("authorization", "Bearer ")],
        [("authorization", "first-key")],
        [("authorization", b"Bearer first-key")],
        [("x-authorization", "Bearer first-key")],
    ],
)
def test_anything_else_is_refused(keys_file: Path, metadata: list[tuple[str, str | bytes]] | None) -> None:
    with pytest.raises(UnauthenticatedError):
        KeyRing(keys_file).caller_of(metadata)


def test_keys_with_one_name_are_one_tenant(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("old-key billing\nnew-key\tbilling\nother-key\n", encoding="utf-8")
    ring = KeyRing(path)
    old, new, other = (ring.caller_of([("authorization", f"Bearer {key}-key")]) for key in ("old", "new", "other"))
    assert (old.tenant, new.tenant) == ("billing", "billing")
    assert old.key != new.key
    assert other.tenant not in {"billing", ""}
    assert ring.tenant_count == 2


@pytest.mark.parametrize("line", ["key a name", f"key {'n' * 41}", "key na/me", "key \u202ename"])
def test_a_name_that_is_none_stops_the_start_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "keys"
    path.write_text(f"# keys\n{line}\n", encoding="utf-8")
    with pytest.raises(StartupError, match=r"line 2: expected a key and perhaps a name") as caught:
        KeyRing(path)
    assert line not in str(caught.value)


def test_a_refused_key_is_known_to_the_log_by_its_digest(keys_file: Path) -> None:
    with pytest.raises(UnauthenticatedError) as caught:
        KeyRing(keys_file).caller_of([("authorization", "Bearer wrong")])
    assert caught.value.key == hashlib.sha256(b"wrong").hexdigest()[:12]
    assert caught.value.key not in str(caught.value)


def test_a_reload_takes_the_new_keys_forgets_the_old_and_logs_the_beginning_of_digests(
    keys_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    ring = KeyRing(keys_file)
    caplog.clear()
    keys_file.write_text("second-key\nthird-key\n", encoding="utf-8")
    ring.reload()
    ring.caller_of([("authorization", "Bearer third-key")])
    with pytest.raises(UnauthenticatedError):
        ring.caller_of([("authorization", "Bearer first-key")])
    shown = {name: hashlib.sha256(f"{name}-key".encode()).hexdigest()[:12] for name in ("first", "third")}
    assert caplog.messages == [f"event=key_loaded key={shown['third']}", f"event=key_removed key={shown['first']}"]


def test_a_failed_reload_keeps_the_old_keys(keys_file: Path) -> None:
    ring = KeyRing(keys_file)
    keys_file.unlink()
    with pytest.raises(StartupError, match="PRECIS_AUTH__KEYS_FILE"):
        ring.reload()
    ring.caller_of([("authorization", "Bearer first-key")])


@pytest.mark.parametrize("content", [b"", b"# only a comment\n", b"\xff\xfe"])
def test_a_file_without_keys_stops_the_start(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "keys"
    path.write_bytes(content)
    with pytest.raises(StartupError, match="keys"):
        KeyRing(path)


def test_the_keys_themselves_are_not_kept(keys_file: Path) -> None:
    assert "first-key" not in repr(vars(KeyRing(keys_file)))
