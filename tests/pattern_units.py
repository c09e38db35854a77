"""Makes hostile units from a pattern itself: what its long repeats match, with and without what stands before them."""

import importlib
import re
from collections.abc import Iterator
from typing import Any

# What a pattern is made of. Private to Python; a test may look, and a Python that changes it fails at once.
_PARSER: Any = importlib.import_module("re._parser")
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_OF_CATEGORY = {"DIGIT": "1", "SPACE": " ", "WORD": "a", "NOT_DIGIT": "a", "NOT_SPACE": "a", "NOT_WORD": "-"}
_MANY = 50  # repeats that are worth a run
_MOST_OWN = 60


def own_units(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """Returns what the long repeats of a pattern match, with what matches before them: in front, or in each unit."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    parsed = _PARSER.parse(source, pattern.flags & ~re.ASCII if isinstance(pattern.pattern, bytes) else pattern.flags)
    units = (
        pair for before, unit in _repeats(parsed, ("",)) for pair in ((before, unit), ("", before + unit), ("", unit))
    )
    return list(dict.fromkeys(units))[:_MOST_OWN]


def _repeats(items: Any, fronts: tuple[str, ...]) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Yields what stands before each long repeat, and what it repeats."""
    for place, (kind, value) in enumerate(items):
        here = tuple(dict.fromkeys(before + _sample(items[:place], which) for before in fronts for which in (0, 1)))[:2]
        if str(kind) in _REPEATS:
            if value[1] >= _MANY:
                yield from (
                    (before, unit) for before in here for which in (0, 1, 2) if (unit := _sample(value[2], which))
                )
            yield from _repeats(value[2], here)
        for part in _parts(str(kind), value):
            yield from _repeats(part, here)


def _parts(kind: str, value: Any) -> list[Any]:  # noqa: ANN401
    if kind == "BRANCH":
        return list(value[1])
    if kind in {"ASSERT", "ASSERT_NOT"}:
        return [value[1]]
    return [value[3]] if kind == "SUBPATTERN" else [value] if kind == "ATOMIC_GROUP" else []


def _sample(items: Any, which: int) -> str:  # noqa: ANN401
    """Returns a short text that a part of a pattern matches, more or less."""
    return "".join(_sample_one(str(kind), value, which) for kind, value in items)


def _sample_one(kind: str, value: Any, which: int) -> str:  # noqa: ANN401
    if kind == "LITERAL":
        return chr(value)
    if kind in {"ANY", "NOT_LITERAL"}:
        return "b" if value == ord("a") else "a"
    if kind == "IN":
        return _member(value, which)
    if kind in _REPEATS:
        return _sample(value[2], which) * max(1, min(value[0], _MANY)) if value[1] else ""
    parts = [] if kind.startswith("ASSERT") else _parts(kind, value)
    return _sample(parts[which % len(parts)], which) if parts else ""


def _member(members: Any, which: int) -> str:  # noqa: ANN401
    """Returns a character of a set."""
    if str(members[0][0]) == "NEGATE":
        taken = {chr(value) for kind, value in members[1:] if str(kind) == "LITERAL"}
        return next(character for character in "a1 -.(\né"[which:] if character not in taken)
    kind, value = members[which % len(members)]
    if str(kind) == "CATEGORY":
        return _OF_CATEGORY[str(value).removeprefix("CATEGORY_")]
    return chr(value if str(kind) == "LITERAL" else value[0])
