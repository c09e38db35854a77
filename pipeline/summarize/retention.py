"""Measures what share of the technical terms of an input survives in an output."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.text.terms import Term, TermKind, find_terms, fold_word

_MOST_MISSING = 20


@dataclass(frozen=True, slots=True)
class TermRetention:
    """How many distinct terms of one kind survived.

    Attributes:
        kept_count: those of them that the output has too; at most `input_count`.
        missing: some terms that were lost, in the order of the input; examples, not all of them.
    """

    kind: TermKind
    input_count: int
    kept_count: int
    missing: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """In [0, 1]; 1 when there was nothing to keep."""
        return self.kept_count / self.input_count if self.input_count else 1.0


@dataclass(frozen=True, slots=True)
class Retention:
    """What survived, one entry for each kind, in the order of `TermKind`."""

    kinds: tuple[TermRetention, ...]

    @property
    def share(self) -> float:
        """Of the terms of all kinds together, in [0, 1]."""
        total = sum(kind.input_count for kind in self.kinds)
        return sum(kind.kept_count for kind in self.kinds) / total if total else 1.0

    def of(self, kind: TermKind) -> TermRetention:
        """Returns the entry of a kind."""
        return next(entry for entry in self.kinds if entry.kind is kind)


@dataclass(frozen=True, slots=True, eq=False)
class Mentions:
    """A text as it is searched for terms.

    Attributes:
        words: folded.
        line: the same words in order, with spaces between and around.
    """

    terms: frozenset[Term]
    words: frozenset[str]
    line: str

    @classmethod
    def of(cls, text: str) -> "Mentions":
        """Reads a text once. Linear in its length."""
        words = [fold_word(word) for word in text.split()]
        return cls(frozenset(find_terms(text)), frozenset(words), f" {' '.join(words)} ")

    def says(self, words: str) -> bool:
        """Tells whether folded words are there in this order: a name at the start of a sentence is no term."""
        if " " not in words:
            return words in self.words
        return all(word in self.words for word in words.split()) and f" {words} " in self.line


def measure(input_terms: Iterable[Term], outputs: Sequence[Mentions]) -> Retention:
    """Counts the distinct terms of an input that at least one of the outputs mentions."""
    input_counts = dict.fromkeys(TermKind, 0)
    missing: dict[TermKind, list[str]] = {kind: [] for kind in TermKind}
    for term in input_terms:
        input_counts[term.kind] += 1
        for output in outputs:
            if term in output.terms or output.says(term.text):
                break
        else:
            missing[term.kind].append(term.text)
    return Retention(
        tuple(
            TermRetention(kind, count, count - len(missing[kind]), tuple(missing[kind][:_MOST_MISSING]))
            for kind, count in input_counts.items()
        )
    )


def add_up(retentions: Iterable[Retention]) -> Retention:
    """Adds the counts of several calls: a term that two inputs have counts twice, and must survive twice."""
    given = list(retentions)
    return Retention(
        tuple(
            TermRetention(
                kind,
                sum(retention.of(kind).input_count for retention in given),
                sum(retention.of(kind).kept_count for retention in given),
                tuple(dict.fromkeys(term for each in given for term in each.of(kind).missing))[:_MOST_MISSING],
            )
            for kind in TermKind
        )
    )
