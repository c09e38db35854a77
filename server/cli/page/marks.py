"""Cuts a text where marked stretches begin and end, so that stretches which overlap can be shown.

Texts are shown as they are, Markdown included: what a span counts is a character of the page.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise


class Role(StrEnum):
    """What a marked stretch is to a claim."""

    CLAIM = "claim"  # in the summary: the claim itself
    DOUBT = "doubt"  # in the summary: words of it that are not supported
    PREMISE = "premise"  # in the source: the passage that it was checked against
    SUPPORT = "support"  # in the source: the sentence that says it
    CLOSEST = "closest"  # in the source: the sentence closest to saying it, when none does
    AGAINST = "against"  # in the source: the sentence that contradicts it
    INSTEAD = "instead"  # in the source: what stands there in place of a doubtful word


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a text, in characters, that has a role for a claim."""

    role: Role
    claim: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A stretch of a text in which nothing begins or ends.

    Attributes:
        text: its characters.
        marks: what covers it.
        begun: of those, what begins with it.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    begun: tuple[Mark, ...] = ()

    def has(self, *roles: Role) -> bool:
        """Tells whether the piece has one of the roles, for whatever claim."""
        return any(mark.role in roles for mark in self.marks)

    def begins(self, *roles: Role) -> list[int]:
        """Lists the claims for which a stretch of one of the roles begins here, in order."""
        return sorted({mark.claim for mark in self.begun if mark.role in roles})


def cut(text: str, marks: Iterable[Mark]) -> list[MarkedText]:
    """Cuts a text; the pieces' texts make up the whole again. Marks beyond its end are shortened."""
    size = len(text)
    inside = [mark for mark in marks if 0 <= mark.start < min(mark.end, size)]
    begun: dict[int, list[int]] = {}
    ended: dict[int, list[int]] = {}
    for at, mark in enumerate(inside):
        begun.setdefault(mark.start, []).append(at)
        ended.setdefault(min(mark.end, size), []).append(at)
    covering: dict[int, Mark] = {}
    pieces = []
    for start, end in pairwise(sorted({0, size, *begun, *ended})):
        for at in ended.get(start, ()):
            del covering[at]
        new = {at: inside[at] for at in begun.get(start, ())}
        covering.update(new)
        pieces.append(MarkedText(text[start:end], tuple(covering.values()), tuple(new.values())))
    return pieces
