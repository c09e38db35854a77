"""Third step, for questions: asked, answered from the other text, scored 1, 0.5 or 0."""

from collections.abc import Sequence

import numpy as np

from pipeline.judge.evidence.answers import Place, Question, answer, score_answer
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.draft import Draft, Side
from pipeline.judge.evidence.plan import Plan
from pipeline.judge.evidence.questions import (
    AskedStatement,
    SpanReader,
    ask_about_facts,
    ask_where_wording_departs,
    masked,
)
from pipeline.judge.evidence.spans import SpanKind
from pipeline.judge.evidence.table import Claim, Label, Qag

_OTHER_WORDING = 0.5  # the answer differs, but the whole statement is entailed


def coverage_qags(plan: Plan, entailments: Sequence[float], config: EvidenceConfig) -> tuple[Qag, ...]:
    """Returns questions about distinct facts of the source, answered from the summary alone.

    Args:
        plan: with the facts.
        entailments: of each fact by the summary, in order.
        config: how many.
    """
    draft = plan.draft
    read = draft.source.read
    statements = [
        AskedStatement(rank, read.ranges[fact.sentence]) for rank, fact in enumerate(plan.facts[: config.qag_count])
    ]
    reader = SpanReader(read, draft.source.index, draft.names)
    asked = ask_about_facts(read, statements, reader, most=config.qag_count)
    answering = SpanReader(draft.summary.read, draft.source.index, draft.names)
    return tuple(
        _ask(
            question,
            draft.source,
            draft.summary,
            answering,
            is_entailed=entailments[rank] >= config.supported_entailment,
        )
        for rank, question in asked
    )


def claim_qags(draft: Draft, claims: Sequence[Claim], config: EvidenceConfig) -> tuple[Qag, ...]:
    """Returns questions about claims, answered from the source alone."""
    statements = [AskedStatement(place, claim.words) for place, claim in enumerate(draft.claims)]
    reader = SpanReader(draft.summary.read, draft.source.index, draft.names)
    asked = ask_where_wording_departs(draft.summary.read, statements, reader, draft.sequences, most=config.qag_count)
    answering = SpanReader(draft.source.read, draft.source.index, draft.names)
    return tuple(
        _ask(
            question,
            draft.summary,
            draft.source,
            answering,
            is_entailed=claims[place].label is Label.SUPPORTED,
        )
        for place, question in asked
    )


def _ask(question: Question, asking: Side, answering: Side, reader: SpanReader, *, is_entailed: bool) -> Qag:
    """Answers a question from the sentence that says most of it."""
    text = answering.read
    shares = answering.index.shares(question.stems(), 1)
    given = None
    if len(shares):
        words = text.ranges[int(np.argmax(shares))]
        given = answer(question, text, [Place(words, reader.spans(words))])
    expected = asking.read.words_passage(question.span.words)
    score = score_answer(question.span, asking.read.table, given, text.table) if given else 0.0
    if not score and is_entailed and question.span.kind is SpanKind.WORD:
        score = _OTHER_WORDING
    given_span = text.words_passage(given.words) if given else None
    start, end = question.words[0], question.words[-1]
    return Qag(
        question=masked(question),
        answer=expected.quote,
        answer_span=expected,
        fact=asking.read.words_passage(range(start, end + 1)),
        given=given_span.quote if given_span else None,
        given_span=given_span,
        score=score,
    )
