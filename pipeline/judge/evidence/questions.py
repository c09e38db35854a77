"""Questions about facts and claims: a span is masked, and the other text answers, without a model.

About claims, questions go where the wording departs from the source: a literal copy needs no question, and a made-up
word stands between words that never stood beside it. About facts, they go to what the source comes back to: what it
says once is detail, which no summary has room for. First every statement is asked about, then each a second time; no
answer is asked for twice.

Candidates for an answer are numbers, dates, names and content words of the mask's kind. One is scored by the words
around it that are also around the mask, and by how much of the question its sentence says. An answer scores 1, 0.5
or 0.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import inf, log1p
from typing import Self

from pipeline.judge.evidence.plan import EvidencePlan
from pipeline.judge.evidence.table import Claim, Question
from pipeline.reading.document import ReadText
from pipeline.reading.names import find_names
from pipeline.reading.passages import Passage
from pipeline.reading.values import Date, Value, Values, agree, competes
from pipeline.reading.word_table import WordTable
from pipeline.support.claim_support import ClaimLabel, PremiseFinder

_MASK = "____"
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
        value: the number or date that it is; None for names and words.
    """

    kind: SpanKind
    words: range
    value: Value | None = None

    def competes_with(self, other: "AnswerSpan") -> bool:
        """Tells whether both could answer one question."""
        if self.value and other.value:
            return competes(self.value, other.value)
        return self.kind is other.kind


def find_spans(text: ReadText, words: range, values: Values, known_names: frozenset[str]) -> list[AnswerSpan]:
    """Returns the possible answers in a stretch of text, by position; a word is in one of them at most.

    Args:
        values: of the whole text.
        known_names: casefolded words that stand capitalised inside a sentence somewhere.
    """
    if not words:
        return []
    table = text.table
    spans = [
        AnswerSpan(SpanKind.DATE if isinstance(value, Date) else SpanKind.NUMBER, found, value)
        for value in values.between(table.starts[words[0]], table.ends[words[-1]])
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


@dataclass(frozen=True, slots=True)
class MaskedStatement:
    """A statement, given by its words, with one span masked."""

    text: ReadText
    words: range
    span: AnswerSpan

    def stems(self) -> frozenset[str]:
        """Returns the stems of the content words that are not masked."""
        table = self.text.table
        return frozenset(table.content_stems([index for index in self.words if index not in self.span.words]))

    def __str__(self) -> str:
        """Returns the statement with a line in place of the answer."""
        table = self.text.table
        start, end = table.starts[self.words[0]], table.ends[self.words[-1]]
        first, last = table.starts[self.span.words[0]], table.ends[self.span.words[-1]]
        return " ".join((table.text[start:first] + _MASK + table.text[last:end]).split())


_KIND_WEIGHTS = {SpanKind.NUMBER: 1.0, SpanKind.DATE: 1.0, SpanKind.NAME: 1.5, SpanKind.WORD: 0.0}
_SUBJECT_SHARE = 0.5  # of the sentences: what more of them have is the subject, and no question
_NAME_WEIGHT = 0.7
_NEIGHBOURS = 4  # words on either side of a mask that show its place
_SHARED_WORDS = 2  # of the question, that the answer stands among
_PARTLY = 0.5  # the answer differs, but the whole statement is entailed; or the other way round


def coverage_questions(
    plan: EvidencePlan, facts: Mapping[int, Passage | None], entailments: Mapping[int, float], raising: Collection[int]
) -> tuple[Question, ...]:
    """Returns questions about distinct facts of the source, answered from the summary alone.

    Args:
        facts: where they are told, by sentence of the source.
        entailments: by the summary, likewise.
        raising: raising sentences of the summary.
    """
    draft, config = plan.draft, plan.config
    source, summary = (
        _Text.of(draft.source, draft.values.known_names),
        _Text.of(draft.summary, draft.values.known_names, raising),
    )
    asked_about = plan.facts[: config.question_count]
    answered = []
    for rank, question in _ask_about_facts(source, asked_about, config.question_count):
        fact = asked_about[rank]
        passage = facts[fact]
        given, score = summary.answer(question, passage.sentences if passage else ())
        if score < 1:
            literal = summary.find_told(question)
            is_told = literal is not None or entailments[fact] >= config.supported
            given, score = literal or given, 1.0 if is_told else min(score, _PARTLY)
        answered.append(summary.question(question, given, score))
    return tuple(answered)


def claim_questions(plan: EvidencePlan, claims: Sequence[Claim]) -> tuple[Question, ...]:
    """Returns questions about raising claims, answered from the source alone.

    When no claim is raising, those of the least supported sentence are asked about.

    The words around a mask find the answer when both texts are worded alike. When they are not, but the source supports
    the claim, it gives that answer: in the same word if it has it among words of the question (1), else in other words
    (0.5). On human judgements a looser rule for the same word cost 0.03 of rank correlation.
    """
    draft = plan.draft
    least = min(claims, key=lambda claim: claim.probability, default=None)
    about = [at for at, claim in enumerate(claims) if claim.may_raise] or [
        at for at, claim in enumerate(claims) if least and claim.sentence_index == least.sentence_index
    ]
    source = _Text.of(draft.source, draft.values.known_names, range(len(draft.source.read.sentences)))
    statements = [draft.claims[at].words for at in about]
    answered = []
    for rank, question in _ask_where_wording_departs(plan, statements):
        position = about[rank]
        passage = plan.claims[position].passage
        sentences = passage.sentences if passage else ()
        given, score = source.answer(question, sentences)
        is_worded = question.span.kind in (SpanKind.WORD, SpanKind.NAME)
        if score < 1 and is_worded and claims[position].label is ClaimLabel.SUPPORTED:
            literal = source.find(question, sentences)
            given, score = (literal, 1.0) if literal else (given, max(score, _PARTLY))
        answered.append(source.question(question, given, score))
    return tuple(answered)


def _ask_where_wording_departs(plan: EvidencePlan, statements: Sequence[range]) -> list[tuple[int, MaskedStatement]]:
    """Returns questions about claims, given by their words, each with the position of the claim; in order of the text.

    Names, numbers and dates identify a fact better than words, and rare words better than others.
    """
    read, index, names = plan.draft.summary.read, plan.draft.source.index, plan.draft.values.known_names
    stems, values = read.table.stems, Values.of(read.text.text)
    neighbours = frozenset(pairwise(plan.draft.source.read.table.stems))
    found = []
    for position, words in enumerate(statements):
        asked = [MaskedStatement(read, words, span) for span in find_spans(read, words, values, names)]
        weights = [
            max(index.rarity(stems[word]) for word in one.span.words) + _KIND_WEIGHTS[one.span.kind] for one in asked
        ]
        ranked = sorted((-_departures(one, neighbours), -weights[at], at) for at, one in enumerate(asked))
        found += [(nth, rank, position, asked[rank[-1]]) for nth, rank in enumerate(ranked)]
    found.sort(key=lambda item: item[:3])
    chosen = found[: plan.config.question_count]
    return sorted(((position, one) for *_, position, one in chosen), key=lambda asked: asked[1].span.words[0])


def _departures(question: MaskedStatement, neighbours: Collection[tuple[str, str]]) -> int:
    """Returns on how many sides of a span the source never has the neighbouring word, 0 to 2."""
    stems = question.text.table.stems
    first, last = question.span.words[0], question.span.words[-1]
    before = first - 1 in question.words and (stems[first - 1], stems[first]) not in neighbours
    after = last + 1 in question.words and (stems[last], stems[last + 1]) not in neighbours
    return int(before) + int(after)


def _ask_about_facts(source: "_Text", facts: Sequence[int], most: int) -> list[tuple[int, MaskedStatement]]:
    """Returns questions about facts with the position of the fact: one for each, then a second one, until enough.

    No two ask for the same word. Those come first that the source comes back to, names before words; its subject counts
    nothing.

    Args:
        facts: sentences of the source, the most important first.
    """
    read, index = source.side.read, source.side.index

    def centrality(span: AnswerSpan) -> float:
        counts = [index.sentence_count(read.table.stems[word]) for word in span.words]
        told = [log1p(count) for count in counts if count <= _SUBJECT_SHARE * len(read.sentences)]
        return max(told, default=0.0) + (_NAME_WEIGHT if span.kind is SpanKind.NAME else 0.0)

    queues = [sorted(source.spans(read.ranges[fact]), key=centrality, reverse=True) for fact in facts]
    found, answers = list[tuple[int, MaskedStatement]](), set[str]()
    while any(queues) and len(found) < most:
        for rank, queue in enumerate(queues):
            while queue:
                span = queue.pop(0)
                stems = {read.table.stems[word] for word in span.words}
                if stems.isdisjoint(answers):
                    answers |= stems
                    found.append((rank, MaskedStatement(read, read.ranges[facts[rank]], span)))
                    break
    return found[:most]


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """One text as it is asked about, or as it answers.

    Attributes:
        values: of the whole text.
        names: casefolded words that stand capitalised inside a sentence of either text.
        allowed: sentences that may answer.
    """

    side: PremiseFinder
    values: Values
    names: frozenset[str]
    allowed: Collection[int]

    @classmethod
    def of(cls, side: PremiseFinder, names: frozenset[str], allowed: Collection[int] = ()) -> Self:
        """Reads the values of a text once."""
        return cls(side, Values.of(side.read.text.text), names, allowed)

    def spans(self, words: range) -> list[AnswerSpan]:
        """Returns the possible answers in a stretch, by position."""
        return find_spans(self.side.read, words, self.values, self.names)

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
            found = answer(question, read.table, words, self.spans(words))
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
        told = {stem for place in self.allowed for stem in read.content_stems(read.ranges[place])}
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
            question=str(asked),
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
    return frozenset(table.content_stems([index for index in beside if index in statement]))


_REACH = 4  # words on either side of the mask
_FUNCTION_WORD_WEIGHT = 0.4  # "of ____" says less than "mayor ____"
_SENTENCE_WEIGHT = 2.0
_LEAST_SCORE = 0.5  # below, next to nothing around a candidate speaks for it: the text does not say


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
    if expected.value and given.value:
        return float(agree(expected.value, given.value))
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
