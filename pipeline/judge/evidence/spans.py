"""Words that a question can ask for: numbers, dates, names, and words that say much."""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.judge.evidence.dates import DatePart, DatePartKind
from pipeline.judge.evidence.names import find_names
from pipeline.judge.evidence.quantities import Measure, Quantity
from pipeline.judge.evidence.reading import ReadText
from pipeline.judge.evidence.values import Values

_SHORTEST_WORD = 3


class SpanKind(StrEnum):
    """What an answer is. Answers of other kinds do not compete."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """A possible answer.

    Attributes:
        kind: what it is.
        words: indices of its words in the word table of its text.
        value: the number or part of a date that it is; None for names and words.
    """

    kind: SpanKind
    words: range
    value: Quantity | DatePart | None = None

    def competes_with(self, other: "AnswerSpan") -> bool:
        """Tells whether both could answer one question."""
        return self.kind is other.kind and _finer_kind(self.value) is _finer_kind(other.value)


def find_spans(text: ReadText, words: range, values: Values, known_names: frozenset[str]) -> list[AnswerSpan]:
    """Returns the possible answers in a stretch of text, by position; a word is in one of them at most.

    Args:
        text: read.
        words: of the stretch.
        values: of the whole text.
        known_names: casefolded words that stand capitalised inside a sentence somewhere.
    """
    if not words:
        return []
    table = text.table
    inside = values.between(table.starts[words[0]], table.ends[words[-1]])
    stated: list[Quantity | DatePart] = [*inside.date_parts, *inside.quantities]
    spans = [
        AnswerSpan(SpanKind.DATE if isinstance(value, DatePart) else SpanKind.NUMBER, found, value)
        for value in stated
        if (found := table.between(value.start, value.end))
    ]
    taken = {index for span in spans for index in span.words}
    for name in find_names(table, words, known_names):
        if taken.isdisjoint(range(name.first, name.last)):
            spans.append(AnswerSpan(SpanKind.NAME, range(name.first, name.last)))
            taken.update(range(name.first, name.last))
    spans += [
        AnswerSpan(SpanKind.WORD, range(index, index + 1))
        for index in words
        if index not in taken and table.content[index] and len(table.words[index]) >= _SHORTEST_WORD
    ]
    return sorted(spans, key=lambda span: span.words.start)


def _finer_kind(value: Quantity | DatePart | None) -> Measure | DatePartKind | None:
    if isinstance(value, Quantity):
        return value.measure
    return value.kind if isinstance(value, DatePart) else None
