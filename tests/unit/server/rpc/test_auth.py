"""Bearer keys from a file."""

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
    KeyRing(keys_file).caller_of([("user-agent", "x"), ("authorization", value)])


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


def test_reload_takes_the_new_keys_and_forgets_the_old(keys_file: Path) -> None:
    ring = KeyRing(keys_file)
    keys_file.write_text("third-key\n", encoding="utf-8")
    ring.reload()
    ring.caller_of([("authorization", "Bearer third-key")])
    with pytest.raises(UnauthenticatedError):
        ring.caller_of([("authorization", "Bearer first-key")])


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
