"""Question generation: masks spans of claims and facts, and scores the answers of the other text.

About claims, questions go where the wording departs from the source: a literal copy needs no question, and a made-up
word stands between words that never stood beside it. About facts, they go to what the source comes back to: what it
says once is detail, which no summary has room for. First every statement is asked about, then each a second time; no
answer is asked for twice. An answer scores 1, 0.5 or 0.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log1p

from pipeline.judge.config import EvidenceConfig
from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.draft import Side
from pipeline.judge.evidence.plan import EvidencePlan, FactPlan
from pipeline.judge.evidence.signals.answers import (
    AnswerSpan,
    MaskedStatement,
    SpanKind,
    answer,
    find_spans,
    score_answer,
)
from pipeline.judge.evidence.table import Question
from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.overlap import SourceSequences
from pipeline.reading.values import Values
from pipeline.reading.word_table import WordTable
from pipeline.support.claim_support import ClaimLabel

_MASK = "____"
_KIND_WEIGHTS = {SpanKind.NUMBER: 1.0, SpanKind.DATE: 1.0, SpanKind.NAME: 1.5, SpanKind.WORD: 0.0}
_SUBJECT_SHARE = 0.5  # of the sentences: what more of them have is the subject, and no question
_NAME_WEIGHT = 0.7


def ask_where_wording_departs(
    text: ReadText, statements: Sequence[range], reader: "SpanReader", sequences: SourceSequences, *, most: int
) -> list[tuple[int, MaskedStatement]]:
    """Returns questions about claims with the position of the claim, in order of the text.

    Args:
        text: the summary.
        statements: words of its claims.
        reader: finds spans in the summary and weighs them by the source.
    """
    found = []
    for position, words in enumerate(statements):
        asked = [MaskedStatement(text, words, span) for span in reader.spans(words)]
        ranked = sorted((-_departures(one, sequences), -reader.weight(one.span), at) for at, one in enumerate(asked))
        found += [(nth, rank, position, asked[rank[-1]]) for nth, rank in enumerate(ranked)]
    found.sort(key=lambda item: item[:3])
    return sorted(((position, one) for *_, position, one in found[:most]), key=lambda asked: asked[1].span.words[0])


def ask_about_facts(
    text: ReadText, statements: Sequence[range], reader: "SpanReader", *, most: int
) -> list[tuple[int, MaskedStatement]]:
    """Returns questions about facts with the position of the fact: one for each, then a second one, until enough.

    No two ask for the same word.

    Args:
        text: the source.
        statements: words of its facts, the most important first.
        reader: finds spans in the source and weighs them by it.
    """
    queues = [sorted(reader.spans(words), key=lambda span: -reader.centrality(span)) for words in statements]
    found, answers = list[tuple[int, MaskedStatement]](), set[str]()
    while any(queues) and len(found) < most:
        for rank, queue in enumerate(queues):
            while queue:
                span = queue.pop(0)
                stems = {text.table.stems[word] for word in span.words}
                if stems.isdisjoint(answers):
                    answers |= stems
                    found.append((rank, MaskedStatement(text, statements[rank], span)))
                    break
    return found[:most]


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

    def centrality(self, span: AnswerSpan) -> float:
        """Returns how often the source comes back to a span, names before words; its subject counts nothing."""
        counts = [self._index.sentence_count(self._text.table.stems[word]) for word in span.words]
        told = [log1p(count) for count in counts if count <= _SUBJECT_SHARE * len(self._text.sentences)]
        return max(told, default=0.0) + (_NAME_WEIGHT if span.kind is SpanKind.NAME else 0.0)


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
_SHARED_WORDS = 2  # of the question, that the answer stands among
_PARTLY = 0.5  # the answer differs, but the whole statement is entailed; or the other way round


def coverage_questions(
    plan: EvidencePlan, facts: Mapping[int, FactPlan], entailments: Mapping[int, float], raising: Collection[int]
) -> tuple[Question, ...]:
    """Returns questions about distinct facts of the source, answered from the summary alone.

    Args:
        facts: where they are told, by sentence of the source.
        entailments: by the summary, likewise.
        raising: raising sentences of the summary.
    """
    draft, config = plan.draft, plan.config
    read, summary = draft.source.read, draft.summary.read
    asked_about = plan.facts[: config.question_count]
    statements = [read.ranges[sentence] for sentence in asked_about]
    asked = ask_about_facts(
        read, statements, SpanReader(read, draft.source.index, draft.names), most=config.question_count
    )
    respondent = _Respondent(draft.summary, SpanReader(summary, draft.source.index, draft.names), raising)
    answered = []
    for rank, question in asked:
        fact = asked_about[rank]
        passage = facts[fact].passage
        given, score = respondent.answer(question, passage.sentences if passage else ())
        if score < 1:
            literal = respondent.find_told(question)
            is_told = literal is not None or entailments[fact] >= config.supported
            given, score = literal or given, 1.0 if is_told else min(score, _PARTLY)
        answered.append(respondent.question(question, given, score))
    return tuple(answered)


def claim_questions(plan: EvidencePlan, claims: Sequence[Claim], config: EvidenceConfig) -> tuple[Question, ...]:
    """Returns questions about raising claims, answered from the source alone.

    When no claim is raising, those of the least supported sentence are asked about.

    The words around a mask find the answer when both texts are worded alike. When they are not, but the source supports
    the claim, it gives that answer: in the same word if it has it among words of the question (1), else in other words
    (0.5). On human judgements a looser rule for the same word cost 0.03 of rank correlation.
    """
    draft = plan.draft
    read = draft.summary.read
    least = min(claims, key=lambda claim: claim.probability, default=None)
    about = [at for at, claim in enumerate(claims) if claim.may_raise] or [
        at for at, claim in enumerate(claims) if least and claim.sentence_index == least.sentence_index
    ]
    statements = [draft.claims[at].words for at in about]
    reader = SpanReader(read, draft.source.index, draft.names)
    asked = ask_where_wording_departs(read, statements, reader, draft.sequences, most=config.question_count)
    everything = range(len(draft.source.read.sentences))
    respondent = _Respondent(draft.source, SpanReader(draft.source.read, draft.source.index, draft.names), everything)
    answered = []
    for rank, question in asked:
        position = about[rank]
        passage = plan.claims[position].passage
        sentences = passage.sentences if passage else ()
        given, score = respondent.answer(question, sentences)
        is_worded = question.span.kind in (SpanKind.WORD, SpanKind.NAME)
        if score < 1 and is_worded and claims[position].label is ClaimLabel.SUPPORTED:
            literal = respondent.find(question, sentences)
            given, score = (literal, 1.0) if literal else (given, max(score, _PARTLY))
        answered.append(respondent.question(question, given, score))
    return tuple(answered)


@dataclass(frozen=True, slots=True, eq=False)
class _Respondent:
    """The text that answers, its reader of spans, and the sentences that may answer."""

    side: Side
    reader: SpanReader
    allowed: Collection[int]

    def answer(self, question: MaskedStatement, sentences: Collection[int]) -> tuple[AnswerSpan | None, float]:
        """Answers from the sentence that says most of the question; if it has nothing to say, from the next best.

        Args:
            question: what is asked.
            sentences: that speak about the statement.

        Returns:
            The answer, and its score.
        """
        read = self.side.read
        index = self.side.index
        shares = index.weighted({stem: index.rarity(stem) for stem in sorted(question.stems())})  # sums differ by order
        first = max(self.allowed, key=lambda place: (shares[place], -place), default=None)
        rest = sorted(set(sentences).intersection(self.allowed), key=lambda place: (-shares[place], place))
        for place in dict.fromkeys(rest if first is None else [first, *rest]):
            words = read.ranges[place]
            found = answer(question, read.table, words, self.reader.spans(words))
            if found:
                return found, score_answer(question.span, question.text.table, found, read.table)
        return None, 0.0

    def find(self, question: MaskedStatement, sentences: Collection[int]) -> AnswerSpan | None:
        """Returns the first place in some sentences where the masked words stand among words of the question."""
        around = _content_around(question.text.table, question.words, question.span.words)
        for found, words in self._places(question, sentences):
            if len(around & _content_around(self.side.read.table, words, found.words)) >= _SHARED_WORDS:
                return found
        return None

    def find_told(self, question: MaskedStatement) -> AnswerSpan | None:
        """Returns the first place of the masked words, if the text tells other words of the question too."""
        read, asked = self.side.read, question.stems()
        told = {stem for place in self.allowed for stem in read.table.content_stems(read.ranges[place])}
        if len(asked & told) < min(_SHARED_WORDS, len(asked)):
            return None
        return next((found for found, _ in self._places(question, self.allowed)), None)

    def _places(self, question: MaskedStatement, sentences: Collection[int]) -> Iterator[tuple[AnswerSpan, range]]:
        """Yields where the masked words stand, each with the words of its sentence."""
        asking, table = question.text.table, self.side.read.table
        masked_stems = [asking.stems[index] for index in question.span.words]
        for place in sorted(set(sentences).intersection(self.allowed)):
            words = self.side.read.ranges[place]
            for first in words[: max(0, len(words) - len(masked_stems) + 1)]:
                if table.stems[first : first + len(masked_stems)] == masked_stems:
                    yield AnswerSpan(question.span.kind, range(first, first + len(masked_stems))), words

    def question(self, asked: MaskedStatement, given: AnswerSpan | None, score: float) -> Question:
        """Returns a question as evidence."""
        expected = asked.text.words_passage(asked.span.words)
        given_span = self.side.read.words_passage(given.words) if given else None
        return Question(
            question=masked(asked),
            answer=expected.quote,
            answer_span=expected,
            fact=asked.text.words_passage(asked.words),
            given=given_span.quote if given_span else None,
            given_span=given_span,
            score=score,
        )


def _content_around(table: WordTable, statement: range, span: range) -> frozenset[str]:
    """Returns the stems of the content words beside a span, inside its statement."""
    beside = (*range(span.start - _NEIGHBOURS, span.start), *range(span.stop, span.stop + _NEIGHBOURS))
    return frozenset(table.content_stems(index for index in beside if index in statement))
