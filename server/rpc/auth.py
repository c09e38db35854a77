"""Bearer keys: who may call, and whose work it is."""

import hashlib
import hmac
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from server.errors import StartupError, UnauthenticatedError

HEADER = "authorization"
SCHEME = "bearer "
_SHOWN_DIGITS = 12  # of a digest, in log lines

_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")  # shorter than a digest, which it cannot pretend to be

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call."""

    key: str = ""  # the beginning of its key's digest, in hexadecimal; empty without keys
    # whose the summaries are that it makes: the name beside its key, or the key's digest; empty without keys
    tenant: str = ""
    share: str = ""  # with whom it shares one turn at the models: its tenant, or without keys its connection


NOBODY = Caller()


class KeyRing:
    """The keys of a file, kept as digests.

    The file has one key a line; empty lines and lines that start with # are skipped. A name behind a key joins several
    keys of one tenant, such as an old and a new one.

    Attributes:
        tenant_count: how many tenants have a key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.tenant_count = 0
        self._tenants: dict[bytes, str] = {}
        self.reload()

    def reload(self) -> None:
        """Reads the file again. Raises StartupError and keeps the old keys when that fails."""
        before, self._tenants = self._tenants, _read(self._path)
        self.tenant_count = len(set(self._tenants.values()))
        for event, digests in (
            ("key_loaded", self._tenants.keys() - before.keys()),
            ("key_removed", before.keys() - self._tenants.keys()),
        ):
            for shown in sorted(_shown(digest) for digest in digests):
                logger.info("event=%s key=%s", event, shown)

    def caller_of(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> Caller:
        """Returns who calls.

        Raises:
            UnauthenticatedError: the metadata holds no known key.
        """
        shown = ""
        for name, value in metadata or ():
            if name == HEADER and isinstance(value, str) and value[: len(SCHEME)].lower() == SCHEME:
                presented = _digest(value[len(SCHEME) :])
                shown = _shown(presented)
                tenant = self._tenant_of(presented)
                if tenant is not None:
                    return Caller(shown, tenant, tenant)
                break
        raise UnauthenticatedError(shown)

    def _tenant_of(self, presented: bytes) -> str | None:
        # No early exit, and digests of equal length: the time tells neither which key nor how much of it is right.
        matches = [tenant for digest, tenant in self._tenants.items() if hmac.compare_digest(presented, digest)]
        return matches[0] if matches else None


def _shown(digest: bytes) -> str:
    return digest.hex()[:_SHOWN_DIGITS]


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.strip().encode()).digest()


def _read(path: Path) -> dict[bytes, str]:
    """Returns the tenant of every key's digest: the name beside the key, else the digest."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"cannot read the keys of PRECIS_AUTH__KEYS_FILE={path}: {error}") from error
    tenants: dict[bytes, str] = {}
    for number, words in enumerate(map(str.split, lines), 1):
        if not words or words[0].startswith("#"):
            continue
        key, *names = words
        if len(names) > 1 or not all(map(_NAME.fullmatch, names)):
            expected = "expected a key and perhaps a name of letters, digits, `.`, `_` and `-`, at most 40"
            raise StartupError(f"PRECIS_AUTH__KEYS_FILE={path}, line {number}: {expected}")
        digest = _digest(key)
        tenants[digest] = names[0] if names else digest.hex()
    if not tenants:
        raise StartupError(f"PRECIS_AUTH__KEYS_FILE={path} has no key; write one a line")
    return tenants
