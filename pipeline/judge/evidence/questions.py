"""Chooses what to ask: masked spans of claims and of facts.

About claims, questions go where the wording departs from the source: a literal copy needs no question, and a made-up
word stands between words that never stood beside it. About facts, they go to what is rare in the source and so makes
the fact a fact of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.judge.evidence.answers import Question
from pipeline.judge.evidence.copying import SourceSequences
from pipeline.judge.evidence.reading import ReadText
from pipeline.judge.evidence.relevance import WordIndex
from pipeline.judge.evidence.spans import AnswerSpan, SpanKind, find_spans
from pipeline.judge.evidence.values import Values

_MASK = "____"
_KIND_WEIGHTS = {SpanKind.NUMBER: 1.0, SpanKind.DATE: 1.0, SpanKind.NAME: 1.5, SpanKind.WORD: 0.0}


@dataclass(frozen=True, slots=True)
class AskedStatement:
    """A statement that questions are made of.

    Attributes:
        position: in the list of claims or facts.
        words: of the statement.
    """

    position: int
    words: range


def ask_where_wording_departs(
    text: ReadText, statements: Sequence[AskedStatement], reader: "SpanReader", sequences: SourceSequences, *, most: int
) -> list[tuple[int, Question]]:
    """Returns questions about claims with the position of the claim, in order of the text.

    Args:
        text: the summary.
        statements: its claims.
        reader: finds spans in the summary and weighs them by the source.
        sequences: of the source.
        most: questions.
    """
    found = [
        (statement, span, (-_departures(text, statement.words, span, sequences), -reader.weight(span), span.words[0]))
        for statement in statements
        for span in reader.spans(statement.words)
    ]
    found.sort(key=lambda item: item[2])
    chosen = sorted(found[:most], key=lambda item: item[1].words[0])
    return [(statement.position, Question(text, statement.words, span)) for statement, span, _ in chosen]


def ask_about_facts(
    text: ReadText, statements: Sequence[AskedStatement], reader: "SpanReader", *, most: int
) -> list[tuple[int, Question]]:
    """Returns questions about facts with the position of the fact: one for each, then a second one, until enough.

    Args:
        text: the source.
        statements: its facts, the most important first.
        reader: finds spans in the source and weighs them by it.
        most: questions.
    """
    found = []
    for rank, statement in enumerate(statements):
        spans = sorted(reader.spans(statement.words), key=lambda span: (-reader.weight(span), span.words[0]))
        found += [(nth, rank, statement, span) for nth, span in enumerate(spans)]
    found.sort(key=lambda item: item[:2])
    return [(statement.position, Question(text, statement.words, span)) for _, _, statement, span in found[:most]]


class SpanReader:
    """Finds the spans of one text, weighed by how rare their words are in the source."""

    def __init__(self, text: ReadText, index: WordIndex, names: frozenset[str]) -> None:
        """Reads the values of a text once.

        Args:
            text: where spans are looked for.
            index: of the source.
            names: casefolded words that stand capitalised inside a sentence somewhere.
        """
        self._text, self._index, self._names = text, index, names
        self._values = Values.of(text.text.text)

    def spans(self, words: range) -> list[AnswerSpan]:
        """Returns the possible answers in a stretch, by position."""
        return find_spans(self._text, words, self._values, self._names)

    def rarity(self, span: AnswerSpan) -> float:
        """Returns the weight of the rarest word."""
        return max(self._index.rarity(self._text.table.stems[word]) for word in span.words)

    def weight(self, span: AnswerSpan) -> float:
        """Returns how well a span identifies a fact: names, numbers and dates before words."""
        return self.rarity(span) + _KIND_WEIGHTS[span.kind]


def masked(question: Question) -> str:
    """Returns the text of a question: the statement with a line in place of the answer."""
    table = question.text.table
    start, end = table.starts[question.words[0]], table.ends[question.words[-1]]
    first, last = table.starts[question.span.words[0]], table.ends[question.span.words[-1]]
    return " ".join((table.text[start:first] + _MASK + table.text[last:end]).split())


def _departures(text: ReadText, words: range, span: AnswerSpan, sequences: SourceSequences) -> int:
    """Returns on how many sides of a span the source never has the neighbouring word, 0 to 2."""
    stems = text.table.stems
    first, last = span.words[0], span.words[-1]
    before = first - 1 in words and not sequences.has_pair(stems[first - 1], stems[first])
    after = last + 1 in words and not sequences.has_pair(stems[last], stems[last + 1])
    return int(before) + int(after)
