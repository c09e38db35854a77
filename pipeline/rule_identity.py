"""The identity of the rules: a hash of all that decides scores beside texts and models.

Code, word lists and weights are hashed as they stand, so that no change is missed; an edited comment is one, too.
"""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

from pipeline.frozen import FrozenModel

_ROOMS = ("reading", "support", "judge", "evaluate", "assess")
_READERS = ("nupunkt", "snowballstemmer", "vaderSentiment", "glin-profanity", "py3langid", "rapidfuzz")  # distributions
_NO_RULES = {"limits", "cache"}  # sections of settings that change no score


class ScoringSettings(FrozenModel):
    """Settings of which scores come."""

    @property
    def rules(self) -> str:
        """The identity of the rules, as applied with these settings."""
        return rules_of(self)


def rules_of(settings: FrozenModel | None = None) -> str:
    """Returns the SHA-256 of code and settings, 64 lower-case hexadecimal digits; equal ones score alike.

    Args:
        settings: as applied, the caller's options among them. None: the code alone.
    """
    chosen = settings.model_dump_json(exclude=_NO_RULES) if settings else ""
    return hashlib.sha256(f"{_code()} {chosen}".encode()).hexdigest()


@cache
def _code() -> str:
    digest, root = hashlib.sha256(), Path(__file__).parent
    found = (path for room in _ROOMS for path in (root / room).rglob("*.*") if path.suffix in (".py", ".txt", ".json"))
    for path in sorted(found):
        text = path.read_text(encoding="utf-8")  # line ends may differ between checkouts
        digest.update(f"{path.relative_to(root).as_posix()} {len(text)} {text}".encode())
    digest.update(" ".join(f"{name} {version(name)}" for name in _READERS).encode())
    return digest.hexdigest()
