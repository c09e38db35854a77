"""Question generation: masks spans of claims and facts, and scores the answers of the other text.

About claims, questions go where the wording departs from the source: a literal copy needs no question, and a made-up
word stands between words that never stood beside it. About facts, they go to what is rare in the source, and so tells
the fact from others. An answer scores 1, 0.5 or 0.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pipeline.judge.evidence.claim import Claim, ClaimLabel
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.draft import Side
from pipeline.judge.evidence.plan import EvidencePlan
from pipeline.judge.evidence.signals.answers import (
    AnswerSpan,
    MaskedStatement,
    SpanKind,
    answer,
    find_spans,
    score_answer,
)
from pipeline.judge.evidence.table import Question
from pipeline.judge.evidence.text.closeness import WordIndex
from pipeline.judge.evidence.text.overlap import SourceSequences
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.values import Values
from pipeline.judge.evidence.text.words import WordTable

_MASK = "____"
_KIND_WEIGHTS = {SpanKind.NUMBER: 1.0, SpanKind.DATE: 1.0, SpanKind.NAME: 1.5, SpanKind.WORD: 0.0}


def ask_where_wording_departs(
    text: ReadText, statements: Sequence[range], reader: "SpanReader", sequences: SourceSequences, *, most: int
) -> list[tuple[int, MaskedStatement]]:
    """Returns questions about claims with the position of the claim, in order of the text.

    Args:
        text: the summary.
        statements: words of its claims.
        reader: finds spans in the summary and weighs them by the source.
    """
    found = [
        (position, MaskedStatement(text, words, span))
        for position, words in enumerate(statements)
        for span in reader.spans(words)
    ]

    def rank(asked: tuple[int, MaskedStatement]) -> tuple[int, float, int]:
        span = asked[1].span
        return -_departures(asked[1], sequences), -reader.weight(span), span.words[0]

    return sorted(sorted(found, key=rank)[:most], key=lambda asked: asked[1].span.words[0])


def ask_about_facts(
    text: ReadText, statements: Sequence[range], reader: "SpanReader", *, most: int
) -> list[tuple[int, MaskedStatement]]:
    """Returns questions about facts with the position of the fact: one for each, then a second one, until enough.

    Args:
        text: the source.
        statements: words of its facts, the most important first.
        reader: finds spans in the source and weighs them by it.
    """
    found = []
    for rank, words in enumerate(statements):
        spans = sorted(reader.spans(words), key=lambda span: (-reader.weight(span), span.words[0]))
        found += [(nth, rank, MaskedStatement(text, words, span)) for nth, span in enumerate(spans)]
    found.sort(key=lambda item: item[:2])
    return [(rank, asked) for _, rank, asked in found[:most]]


class SpanReader:
    """Finds the spans of one text, weighed by how rare their words are in the source."""

    def __init__(self, text: ReadText, index: WordIndex, names: frozenset[str]) -> None:
        """Reads the values of a text once.

        Args:
            index: of the source.
            names: casefolded words that stand capitalised inside a sentence somewhere.
        """
        self._text, self._index, self._names = text, index, names
        self._values = Values.of(text.text.text)

    def spans(self, words: range) -> list[AnswerSpan]:
        """Returns the possible answers in a stretch, by position."""
        return find_spans(self._text, words, self._values, self._names)

    def weight(self, span: AnswerSpan) -> float:
        """Returns how well a span identifies a fact: by its rarest word; names, numbers and dates before words."""
        rarity = max(self._index.rarity(self._text.table.stems[word]) for word in span.words)
        return rarity + _KIND_WEIGHTS[span.kind]


def masked(question: MaskedStatement) -> str:
    """Returns the text of a question: the statement with a line in place of the answer."""
    table = question.text.table
    start, end = table.starts[question.words[0]], table.ends[question.words[-1]]
    first, last = table.starts[question.span.words[0]], table.ends[question.span.words[-1]]
    return " ".join((table.text[start:first] + _MASK + table.text[last:end]).split())


def _departures(question: MaskedStatement, sequences: SourceSequences) -> int:
    """Returns on how many sides of a span the source never has the neighbouring word, 0 to 2."""
    stems = question.text.table.stems
    first, last = question.span.words[0], question.span.words[-1]
    before = first - 1 in question.words and not sequences.has_pair(stems[first - 1], stems[first])
    after = last + 1 in question.words and not sequences.has_pair(stems[last], stems[last + 1])
    return int(before) + int(after)


_NEIGHBOURS = 4  # words on either side of a mask that show its place
_SHARED_NEIGHBOURS = 2
_OTHER_WORDING = 0.5  # the answer differs, but the whole statement is entailed


def coverage_questions(
    plan: EvidencePlan, entailments: Sequence[float], grounded: Collection[int], config: EvidenceConfig
) -> tuple[Question, ...]:
    """Returns questions about distinct facts of the source, answered from the summary alone.

    Args:
        entailments: of each fact by the summary, in order.
        grounded: grounded sentences of the summary.
    """
    draft = plan.draft
    read, summary = draft.source.read, draft.summary.read
    facts = plan.facts[: config.question_count]
    statements = [read.ranges[fact.sentence] for fact in facts]
    asked = ask_about_facts(
        read, statements, SpanReader(read, draft.source.index, draft.names), most=config.question_count
    )
    respondent = _Respondent(draft.summary, SpanReader(summary, draft.source.index, draft.names), grounded)
    return tuple(
        _ask(
            question,
            respondent,
            facts[rank].told_by(grounded),
            is_entailed=entailments[rank] >= config.supported,
        )
        for rank, question in asked
    )


def claim_questions(plan: EvidencePlan, claims: Sequence[Claim], config: EvidenceConfig) -> tuple[Question, ...]:
    """Returns questions about claims, answered from the source alone."""
    draft = plan.draft
    read = draft.summary.read
    statements = [claim.words for claim in draft.claims]
    reader = SpanReader(read, draft.source.index, draft.names)
    asked = ask_where_wording_departs(read, statements, reader, draft.sequences, most=config.question_count)
    everything = range(len(draft.source.read.sentences))
    respondent = _Respondent(draft.source, SpanReader(draft.source.read, draft.source.index, draft.names), everything)
    return tuple(
        _ask(
            question,
            respondent,
            passage.sentences if (passage := plan.claims[place].passage) else (),
            is_entailed=claims[place].label is ClaimLabel.SUPPORTED,
        )
        for place, question in asked
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Respondent:
    """The text that answers, its reader of spans, and the sentences that may answer."""

    side: Side
    reader: SpanReader
    sentences: Collection[int]

    def answer(self, question: MaskedStatement, sentences: Sequence[int]) -> AnswerSpan | None:
        """Answers from the sentence that says most of the question; if it has nothing to say, from the next best."""
        read = self.side.read
        index = self.side.index
        shares = index.weighted({stem: index.rarity(stem) for stem in question.stems()})
        if not self.sentences:
            return None
        first = max(self.sentences, key=lambda place: (shares[place], -place))
        allowed = set(sentences).intersection(self.sentences)
        for place in dict.fromkeys([first, *sorted(allowed, key=lambda place: (-shares[place], place))]):
            words = read.ranges[place]
            found = answer(question, read.table, words, self.reader.spans(words))
            if found:
                return found
        return None

    def find(self, question: MaskedStatement, sentences: Sequence[int]) -> AnswerSpan | None:
        """Returns the first place in some sentences where the masked words stand among words of the question."""
        asking, table = question.text.table, self.side.read.table
        masked_stems = [asking.stems[index] for index in question.span.words]
        around = _content_around(asking, question.words, question.span.words)
        for place in sorted(set(sentences).intersection(self.sentences)):
            words = self.side.read.ranges[place]
            for first in words[: max(0, len(words) - len(masked_stems) + 1)]:
                found = range(first, first + len(masked_stems))
                is_same = table.stems[found.start : found.stop] == masked_stems
                if is_same and len(around & _content_around(table, words, found)) >= _SHARED_NEIGHBOURS:
                    return AnswerSpan(question.span.kind, found)
        return None


def _content_around(table: WordTable, statement: range, span: range) -> frozenset[str]:
    """Returns the stems of the content words beside a span, inside its statement."""
    beside = (*range(span.start - _NEIGHBOURS, span.start), *range(span.stop, span.stop + _NEIGHBOURS))
    return frozenset(table.content_stems(index for index in beside if index in statement))


def _ask(
    question: MaskedStatement, respondent: _Respondent, sentences: Sequence[int], *, is_entailed: bool
) -> Question:
    """Answers and scores a question.

    The words around a mask find the answer when both texts are worded alike. When they are not, but the whole statement
    is entailed by a passage, the passage gives that answer: in the same word if it has it among words of the question
    (1), else in other words (0.5). On human judgements a looser rule for the same word cost 0.03 of rank correlation.

    Args:
        sentences: where the respondent's text speaks about the statement.
        is_entailed: whether it entails the statement.
    """
    asking, text = question.text, respondent.side.read
    given = respondent.answer(question, sentences)
    score = score_answer(question.span, asking.table, given, text.table) if given else 0.0
    if score < 1 and is_entailed and question.span.kind in (SpanKind.WORD, SpanKind.NAME):
        literal = respondent.find(question, sentences)
        given, score = (literal, 1.0) if literal else (given, max(score, _OTHER_WORDING))
    expected = asking.words_passage(question.span.words)
    given_span = text.words_passage(given.words) if given else None
    return Question(
        question=masked(question),
        answer=expected.quote,
        answer_span=expected,
        fact=asking.words_passage(question.words),
        given=given_span.quote if given_span else None,
        given_span=given_span,
        score=score,
    )
