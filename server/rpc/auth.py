"""Bearer keys: who may call."""

import hashlib
import hmac
from collections.abc import Iterable
from pathlib import Path

from server.errors import StartupError, UnauthenticatedError

HEADER = "authorization"
SCHEME = "bearer "
_CALLER_BYTES = 6


class KeyRing:
    """The keys of a file, kept as digests.

    The file has one key a line; empty lines and lines that start with # are skipped.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digests = _read(path)

    def reload(self) -> None:
        """Reads the file again. Raises StartupError and keeps the old keys when that fails."""
        self._digests = _read(self._path)

    @property
    def count(self) -> int:
        """How many keys there are."""
        return len(self._digests)

    def caller_of(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
        """Returns what a caller is known by: the beginning of its key's digest, in hexadecimal.

        Raises:
            UnauthenticatedError: the metadata holds no known key.
        """
        for name, value in metadata or ():
            if name == HEADER and isinstance(value, str) and value[: len(SCHEME)].lower() == SCHEME:
                presented = _digest(value[len(SCHEME) :])
                if self._is_known(presented):
                    return presented[:_CALLER_BYTES].hex()
                break
        raise UnauthenticatedError

    def _is_known(self, presented: bytes) -> bool:
        # No early exit, and digests of equal length: the time tells neither which key nor how much of it is right.
        matches = [hmac.compare_digest(presented, digest) for digest in self._digests]
        return any(matches)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.strip().encode()).digest()


def _read(path: Path) -> tuple[bytes, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"cannot read the keys of PRECIS_AUTH__KEYS_FILE={path}: {error}") from error
    keys = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not keys:
        raise StartupError(f"PRECIS_AUTH__KEYS_FILE={path} has no key; write one a line")
    return tuple(_digest(key) for key in keys)
