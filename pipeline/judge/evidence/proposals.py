"""Proposals of a language model for the evidence table: sentences by id, questions, and quotes. Never a score.

A quote that does not stand in its text is noted and left out. Whether an id exists is checked where the model's reply
is read (`pipeline/judge/language_model/proposals.py`).
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from pipeline.judge.evidence.plan import EvidencePlan
from pipeline.judge.evidence.table import EvidenceTable, Question
from pipeline.model_answers import small_letters
from pipeline.reading.characters import nfkc
from pipeline.reading.document import ReadText
from pipeline.reading.passage import TextSpan
from pipeline.reading.values import Value, Values, agree, competes


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question about one text, with the answers that the two texts give."""

    fact_id: int  # index of the statement asked about, in the list that was offered
    question: str  # as a reader would ask it
    answer: str  # a quote of that statement: the expected answer
    given: str | None  # a quote of the other text that answers the question; None when that text does not say


@dataclass(frozen=True, slots=True)
class ProposalTask:
    """What the model gets to see."""

    # statements of the source worth asking about, by position; ids are their indices here
    source_sentences: tuple[TextSpan, ...]
    claims: tuple[TextSpan, ...]  # of the summary, by position; ids are their indices here
    premises: tuple[TextSpan | None, ...]  # for each claim, the passage of the source that it is checked against
    summary: TextSpan


@dataclass(frozen=True, slots=True)
class ProposalSet:
    """What the model proposes; any part may be empty: our own key points, and no questions."""

    key_point_ids: Sequence[int]  # of `ProposalTask.source_sentences`
    coverage_questions: Sequence[ProposedQuestion]  # fact ids of `source_sentences`; `given` quotes the summary
    claim_questions: Sequence[ProposedQuestion]  # fact ids of `claims`; `given` quotes the source
    author: str  # identity of the chat model
    notes: tuple[str, ...] = ()  # what went wrong on the way, in a few words each, without text of the caller


Propose = Callable[[ProposalTask], Awaitable[ProposalSet]]
"""Writes proposals. Failures of the endpoint end in empty parts with a note, never in an exception."""

_OFFERED_SENTENCES = 24
QUOTE_EDGES = " \t\r\n\"'“”‘’«»`.,;:"


def make_task(plan: EvidencePlan) -> ProposalTask:
    """Returns what the LLM gets to see: the most central sentences, the claims, and where the source speaks of them."""
    source, summary = plan.draft.source.read, plan.draft.summary.read
    return ProposalTask(
        source_sentences=tuple(source.passages[index] for index in _offered(plan)),
        claims=tuple(summary.passages[claim.sentence] for claim in plan.claims),
        premises=tuple(claim.passages[0].span if claim.passages else None for claim in plan.claims),
        summary=summary.text.whole(),
    )


def preferred_facts(plan: EvidencePlan, proposed: ProposalSet) -> list[int]:
    """Returns the sentences of the source that were proposed as key points."""
    offered = _offered(plan)
    return [offered[point] for point in proposed.key_point_ids]


def apply_proposals(table: EvidenceTable, plan: EvidencePlan, proposed: ProposalSet) -> EvidenceTable:
    """Adds the proposed questions whose quotes stand in the texts, as many as there are."""
    source, summary = plan.draft.source.read, plan.draft.summary.read
    facts = [source.ranges[index] for index in _offered(plan)]
    claims = [summary.ranges[claim.sentence] for claim in plan.claims]
    refused, count = Counter[str](), plan.draft.config.question_count
    coverage = [_check(one, source, facts, summary, refused) for one in proposed.coverage_questions]
    about_claims = [_check(one, summary, claims, source, refused) for one in proposed.claim_questions]
    usable, usable_of_claims = (tuple(filter(None, questions)) for questions in (coverage, about_claims))
    wanted = (
        ("key points", proposed.key_point_ids, min(1, len(facts))),
        ("coverage questions", usable, count if facts else 0),
        ("claim questions", usable_of_claims, count if claims else 0),
    )
    short = [f"{what}: {len(found)} of {least} usable" for what, found, least in wanted if len(found) < least]
    notes = (f"questions refused, {reason}: {times}" for reason, times in sorted(refused.items()))
    return replace(
        table,
        coverage_questions=usable,
        claim_questions=usable_of_claims,
        question_author=proposed.author if any(found for _, found, _ in wanted) else table.question_author,
        proposals_failed=bool(short),
        notes=(*table.notes, *proposed.notes, *notes, *short),
    )


def find_quote(small: str, quote: str, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
    """Returns where a quote of a language model stands in a text in small letters; None if it does not.

    Case, white space and punctuation at the edges do not count. Takes 1 ms for a million characters.
    """
    words = small_letters(nfkc(quote)[0]).strip(QUOTE_EDGES).split()
    # Begins with a literal, which `re` looks for 20 times as fast as for anything else.
    pattern = re.compile(r"\s+".join(map(re.escape, words)) + r"(?!\w)")
    for match in pattern.finditer(small, start, len(small) if end is None else end) if words else ():
        before = small[max(0, match.start() - 1) : match.start()]
        if not (before.isalnum() or before == "_"):
            return match.span()
    return None


def _check(
    proposed: ProposedQuestion, asking: ReadText, facts: Sequence[range], answering: ReadText, refused: Counter[str]
) -> Question | None:
    """Returns a question with its answers verified and scored; counts what was refused, and why."""
    question = " ".join(proposed.question.split())
    fact = facts[proposed.fact_id]
    expected = _quoted(asking, proposed.answer, fact) if fact else fact
    given = _quoted(answering, proposed.given or "")
    if not question:
        refused["no question"] += 1
    elif not expected:
        refused["the answer is no quote of the statement"] += 1
    elif proposed.given and not given:
        refused["the given answer is no quote; counted as none"] += 1
    if not expected or not question:
        return None
    answer, found = asking.words_passage(expected), answering.words_passage(given) if given else None
    return Question(
        question=question,
        answer=answer.quote,
        answer_span=answer,
        fact=asking.words_passage(fact),
        given=found.quote if found else None,
        given_span=found,
        score=_score(asking, expected, answering, given) if given else 0.0,
    )


def _score(asking: ReadText, expected: range, answering: ReadText, given: range) -> float:
    """Returns 1 for the same answer, 0.5 for a part of it, else 0: by its values, else by its words."""
    if values := _values(asking, expected):
        rivals = _values(answering, given)
        agreed = [any(competes(value, rival) and agree(value, rival) for rival in rivals) for value in values]
        return 1.0 if all(agreed) else 0.5 if any(agreed) else 0.0
    left = {asking.table.stems[index] for index in expected}
    right = {answering.table.stems[index] for index in given}
    if left <= right or right <= left:  # "Obama" and "Barack Obama"
        return 1.0
    return 0.5 if left & right else 0.0


def _values(text: ReadText, words: range) -> Sequence[Value]:
    place = text.words_passage(words)
    return Values(text.text.text).between(place.start, place.end)


def _quoted(text: ReadText, quote: str, words: range | None = None) -> range:
    """Returns the words of a quote that stands in a text, or among some of its words; empty if it does not."""
    table = text.table
    start, end = (table.starts[words[0]], table.ends[words[-1]] + 1) if words else (0, None)
    place = find_quote(small_letters(table.text), quote, start, end)
    return table.between(*place) if place else range(0)


def _offered(plan: EvidencePlan) -> list[int]:
    """Returns the sentences that an LLM may choose from, by position: the most central."""
    return sorted((-plan.centrality).argsort(kind="stable").tolist()[:_OFFERED_SENTENCES])
