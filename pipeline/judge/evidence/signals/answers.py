"""Answers a masked question from another text: extractive question answering without a model.

Candidates are numbers, dates, names and content words of the mask's kind. One is scored by the words around it that are
also around the mask, and by how much of the question its sentence says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from pipeline.reading.document import ReadText
from pipeline.reading.names import find_names
from pipeline.reading.values import DatePart, DatePartKind, Measure, Quantity, Values, agree
from pipeline.reading.word_table import WordTable

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


_REACH = 4  # words on either side of the mask
_FUNCTION_WORD_WEIGHT = 0.4  # "of ____" says less than "mayor ____"
_SENTENCE_WEIGHT = 2.0
_LEAST_SCORE = 0.5  # below, next to nothing around a candidate speaks for it: the text does not say


@dataclass(frozen=True, slots=True)
class MaskedStatement:
    """A statement, given by its words, with one span masked."""

    text: ReadText
    words: range
    span: AnswerSpan

    def stems(self) -> frozenset[str]:
        """Returns the stems of the content words that are not masked."""
        table = self.text.table
        return frozenset(table.content_stems(index for index in self.words if index not in self.span.words))


def answer(
    question: MaskedStatement, table: WordTable, sentence: range, spans: Sequence[AnswerSpan]
) -> AnswerSpan | None:
    """Returns the best candidate in a sentence of the other text, the first on a tie; None when it does not say."""
    asked = question.stems()
    said = set(table.content_stems(sentence))
    share = len(asked & said) / len(asked) if asked else 0.0
    best, best_score = None, -inf
    for span in spans:
        # A word that is in the question already is hardly its answer.
        is_repeated = span.kind is SpanKind.WORD and table.stems[span.words[0]] in asked
        if is_repeated or not span.competes_with(question.span):
            continue
        score = _SENTENCE_WEIGHT * share + _context_score(question, table, sentence, span)
        if score > best_score:
            best, best_score = span, score
    return best if best_score >= _LEAST_SCORE else None


def score_answer(expected: AnswerSpan, expected_in: WordTable, given: AnswerSpan, given_in: WordTable) -> float:
    """Returns 1 for the same answer, 0.5 for a part of it, else 0."""
    if isinstance(expected.value, Quantity) and isinstance(given.value, Quantity):
        return float(agree(expected.value, given.value))
    if isinstance(expected.value, DatePart) and isinstance(given.value, DatePart):
        return float(expected.value.value == given.value.value)
    left = {expected_in.stems[index] for index in expected.words}
    right = {given_in.stems[index] for index in given.words}
    if left <= right or right <= left:  # "Obama" and "Barack Obama"
        return 1.0
    return 0.5 if left & right else 0.0


def _context_score(question: MaskedStatement, table: WordTable, place: range, span: AnswerSpan) -> float:
    """Returns how alike the words around mask and candidate are: at most about 2 on either side."""
    own = question.text.table
    score = 0.0
    for step in (-1, 1):
        edge, other_edge = (
            (question.span.words[0], span.words[0]) if step < 0 else (question.span.words[-1], span.words[-1])
        )
        for distance in range(1, _REACH + 1):
            index = edge + step * distance
            if index not in question.words:
                break
            weight = (1.0 if own.content[index] else _FUNCTION_WORD_WEIGHT) / distance
            for shift in (0, 1, -1):
                other = other_edge + step * (distance + shift)
                if other in place and other not in span.words and table.stems[other] == own.stems[index]:
                    score += weight if shift == 0 else weight / 2
                    break
    return score
