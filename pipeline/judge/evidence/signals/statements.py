"""Statements: what claims about one sentence of the source say, and which of them say nearly the same.

Most words in common are not enough: where the source lists a budget, a library and a roof that a council approved, six
claims of one shape tell six facts. So a claim is another statement when it has a word of that sentence that those like
it lack, and they have one that it lacks. A claim that is part of several others, or has no words but theirs, is no
statement of its own. It joins one of them alone, so that it does not make one of them all.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice

from pipeline.off_loop import stop_if_nobody_waits

_ALIKE, _ALIKE_AS_PART = 0.6, 0.4  # of the stems that either has, both have: 0.4% of 9,424 claims have such a twin
_FEWEST_STEMS = 3  # of a claim that is a part of another one
_MOST_COMPARED = 64  # with one claim, those with its rarest stems first


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """What a claim says.

    Attributes:
        stems: of its content words, those that are compared.
        points: those of them that tell facts of one sentence apart.
        values: its numbers, parts of dates, and stems of names.
    """

    stems: frozenset[str]
    points: frozenset[str]
    values: frozenset[object]

    def is_like(self, other: "ClaimWords") -> bool:
        """Tells whether two claims have most stems in common, and one has all values of the other."""
        if not (self.values <= other.values or other.values <= self.values):
            return False
        shared = len(self.stems & other.stems)
        is_part = shared == min(len(self.stems), len(other.stems)) and shared >= _FEWEST_STEMS
        return shared >= (_ALIKE_AS_PART if is_part else _ALIKE) * len(self.stems | other.stems)

    @property
    def rank(self) -> tuple[int, int, list[str], list[str]]:
        """The general before the particular; the same whatever the order of the claims."""
        return len(self.points), len(self.stems), sorted(self.stems), sorted(map(repr, self.values))


@dataclass(slots=True, eq=False)
class _Group:
    """Claims that say nearly the same.

    Attributes:
        points: of the most particular one.
        family: the number that it shares with groups like it, directly or by way of others.
        size: how many claims they are.
    """

    points: frozenset[str]
    family: int
    size: int = 0

    def is_on_one_line_with(self, one: ClaimWords) -> bool:
        """Tells whether either has all points of the other."""
        return self.points <= one.points or one.points <= self.points


@dataclass(slots=True)
class _Families:
    """Groups that are like each other, and the points that they have between them, by the number of the family."""

    groups: dict[int, list[_Group]] = field(default_factory=dict)
    points: dict[int, set[str]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)

    def join(self, numbers: Iterable[int]) -> int:
        """Makes one family of some and returns its number; of none a new one, without groups."""
        largest, *others = sorted(set(numbers), key=lambda number: -len(self.groups[number])) or [self._new()]
        for other in others:
            self.points[largest] |= self.points.pop(other)
            for group in self.groups[other]:
                group.family = largest
            self.groups[largest] += self.groups.pop(other)
        return largest

    def found(self, points: frozenset[str], family: int) -> _Group:
        """Adds a group to a family."""
        group = _Group(points, family)
        self.groups[family].append(group)
        return group

    def _new(self) -> int:
        number = next(self._numbers)
        self.groups[number], self.points[number] = [], set()
        return number


@dataclass(slots=True)
class _Groups:
    """Groups, and the statements in them by their stems.

    Attributes:
        spread: how many statements have each stem.
        of: the group of each statement.
        having: the statements with each stem, in the order in which they came.
        families: the groups by likeness.
    """

    spread: Mapping[str, int]
    of: dict[ClaimWords, _Group] = field(default_factory=dict)
    having: defaultdict[str, list[ClaimWords]] = field(default_factory=lambda: defaultdict(list))
    families: _Families = field(default_factory=_Families)

    def add(self, one: ClaimWords, times: int) -> None:
        """Puts a statement into the group that has most of its points, of those that it adds nothing to or goes on."""
        stems = sorted(one.stems, key=lambda stem: (self.spread[stem], stem))
        like = list(dict.fromkeys(self._like(one, stems)))
        family = self.families.join(group.family for group in like)
        told = self.families.points[family]
        fitting = [group for group in like if group.is_on_one_line_with(one)] or (like if one.points <= told else [])
        if fitting:
            group = max(fitting, key=lambda group: len(group.points & one.points))
        else:
            group = self.families.found(one.points, family)
        group.points = max(group.points, one.points)
        told |= one.points
        group.size += times
        self.of[one] = group
        for stem in stems:
            self.having[stem].append(one)

    def _like(self, one: ClaimWords, stems: Sequence[str]) -> Iterator[_Group]:
        """Yields the groups of statements like one, the latest with its rarest stem first."""
        found = dict.fromkeys(other for stem in stems for other in islice(reversed(self.having[stem]), _MOST_COMPARED))
        return (self.of[other] for other in islice(found, _MOST_COMPARED) if one.is_like(other))


def count_same(statements: Sequence[ClaimWords]) -> list[int]:
    """Returns for each statement how many say nearly the same, itself included; the same in any order.

    Each is compared with at most 64 others. A new group needs a point that those like it, directly or by way of others,
    have not: many choices among the words of one sentence are not many statements.
    """
    times = Counter(statements)
    groups = _Groups(Counter(stem for one in times for stem in one.stems))
    for one in sorted(times, key=lambda one: one.rank):
        stop_if_nobody_waits()
        groups.add(one, times[one])
    return [groups.of[one].size for one in statements]
