"""Assembles the evidence table from the texts and everything that the models said. Third step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import numpy as np

from pipeline.judge.config import EvidenceConfig
from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.claims import SegmentSpan, join_segments
from pipeline.judge.evidence.draft import EvidencePart
from pipeline.judge.evidence.plan import EvidencePlan, FactPlan, key_point_counts, plan_facts
from pipeline.judge.evidence.raising import RaisingSentences, mark_raising
from pipeline.judge.evidence.signals.drift import read_drift
from pipeline.judge.evidence.signals.key_points import KeyPointReader
from pipeline.judge.evidence.signals.labels import read_claim
from pipeline.judge.evidence.signals.lexicons import find_lexicon_hits
from pipeline.judge.evidence.signals.questions import claim_questions, coverage_questions
from pipeline.judge.evidence.signals.tone import ToneScore, describe_intent, score_tone
from pipeline.judge.evidence.table import (
    EvidenceTable,
    EvidenceTimings,
    KeyPoint,
    SummarySegment,
)
from pipeline.model_answers import CheckedScores, Pair, PairScores
from pipeline.protocols import Models, Tokenizer
from pipeline.reading.document import ReadText
from pipeline.reading.salience import find_theme, salient_share

_MOST_SENTENCES = 200  # whose tone and sentiment are read, of either text


@dataclass(frozen=True, slots=True, eq=False)
class CheckedClaims:
    """What is known when the claims have been checked, and the facts have not.

    Attributes:
        plan: what was compared.
        claims: with their labels.
        sentences: of the summary, by whether they may raise a score.
        facts: where the raising ones may tell each fact, by its sentence in the source.
    """

    plan: EvidencePlan
    claims: tuple[Claim, ...]
    sentences: RaisingSentences
    facts: Mapping[int, FactPlan]

    @classmethod
    def of(cls, plan: EvidencePlan, scores: CheckedScores, tokenizer: Tokenizer) -> Self:
        """Labels the claims."""
        claims = tuple(read_claim(plan.draft, claim, scores, tokenizer, plan.config) for claim in plan.claims)
        marked, sentences = mark_raising(plan.draft, claims, [claim.passage for claim in plan.claims])
        return cls(plan, marked, sentences, plan_facts(plan, sentences.raising))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Those of the facts, without repeats."""
        return tuple(dict.fromkeys(fact.pair for fact in self.facts.values() if fact.pair))


def assemble(checked: CheckedClaims, scores: PairScores, models: Models) -> EvidenceTable:
    """Returns the table, with timings of zero and no proposals. Parts that nobody reads are empty.

    Args:
        scores: of the pairs of facts.
    """
    plan, claims, sentences = checked.plan, checked.claims, checked.sentences
    draft, tokenizer, parts, config = plan.draft, models.tokenizer, plan.draft.parts, plan.config
    source, summary = draft.source.read, draft.summary.read
    told = _told(plan, sentences)
    reader = KeyPointReader.of(plan, checked.facts, told, tokenizer)
    points = {at: reader.read(at, fact, scores) for at, fact in checked.facts.items()}
    twin_count, judge_count = key_point_counts(source)
    tones = _tones(checked)
    theme, theme_sentence = find_theme(source, plan.facts, tokenizer, config.theme_tokens)
    is_asked = EvidencePart.QUESTIONS in parts
    entailments = {at: point.entailment for at, point in points.items()}
    is_judge = EvidencePart.JUDGE_KEY_POINTS in parts
    return EvidenceTable(
        source=source.text.original,
        summary=summary.text.original,
        claims=claims,
        omitted_claim_count=len(draft.all_claims) - len(claims),
        twin_key_points=_first(plan.facts, twin_count, points) if EvidencePart.TWIN_KEY_POINTS in parts else (),
        judge_key_points=_first(plan.judge_facts, judge_count, points) if is_judge else (),
        segments=_segments(checked, theme_sentence),
        theme=theme,
        intent=_intent(source, tones[0], tokenizer, config) if EvidencePart.INTENT in parts else "",
        coverage_questions=coverage_questions(plan, checked.facts, entailments, sentences.raising) if is_asked else (),
        claim_questions=claim_questions(plan, claims, config) if is_asked else (),
        tone=read_drift(plan, claims, sentences, tones),
        lexicon_hits=find_lexicon_hits(summary, source),
        salient_share=_salient_share(plan, told),
        summary_token_count=sum(claim.content_count for claim in draft.all_claims),
        extraneous_token_count=sum(claim.extraneous_token_count for claim in claims),
        pair_count=len(plan.pairs) + len(checked.pairs),
        models=models.identities,
        timings=EvidenceTimings(0, 0, 0, 0, 0, 0),
        question_author="deterministic",
        proposals_failed=False,
        notes=_notes(summary),
    )


def _first(facts: Sequence[int], count: int, points: Mapping[int, KeyPoint]) -> tuple[KeyPoint, ...]:
    """Returns the key points of the first facts, by position."""
    return tuple(points[sentence] for sentence in sorted(facts[:count]))


def _intent(source: ReadText, tone: ToneScore, tokenizer: Tokenizer, config: EvidenceConfig) -> str:
    texts = [passage.text for passage in source.passages[:_MOST_SENTENCES]]
    return describe_intent(source, texts, tone, tokenizer, config.intent_tokens)


def _told(plan: EvidencePlan, sentences: RaisingSentences) -> list[list[str]]:
    """Returns the stems of the content words of each sentence that may raise a score."""
    summary = plan.draft.summary.read
    return [summary.table.content_stems(summary.ranges[index]) for index in sentences.raising]


def _salient_share(plan: EvidencePlan, told: Sequence[Sequence[str]]) -> float:
    if EvidencePart.SUBJECT not in plan.draft.parts:
        return 0.0
    return salient_share(plan.draft.source.index, frozenset(chain.from_iterable(told)))


def _notes(summary: ReadText) -> tuple[str, ...]:
    left_out = {
        "framing": (summary.framing_count, "sentence"),
        "heading": (summary.heading_count, "line"),
    }
    return tuple(
        f"{name}: {count} {what}{'s' * (count > 1)} left out" for name, (count, what) in left_out.items() if count
    )


def _tones(checked: CheckedClaims) -> tuple[ToneScore, ToneScore]:
    """Scores the tone of both texts; of the summary the worst reading."""
    source, summary = checked.plan.draft.source.read, checked.plan.draft.summary.read
    texts = [passage.text for passage in summary.passages]
    readings = [
        score_tone(
            [texts[index] for index in raising[:_MOST_SENTENCES]],
            [texts[index] for index in others[:_MOST_SENTENCES]],
        )
        for raising, others in checked.sentences.readings()
    ]
    of_source = score_tone([passage.text for passage in source.passages[:_MOST_SENTENCES]])
    return of_source, max(readings, key=lambda one: one.badness, default=score_tone([]))


def _segments(checked: CheckedClaims, theme_sentence: int | None) -> tuple[SummarySegment, ...]:
    """Returns the segments; cosines of those that were not embedded are 0."""
    plan, raising = checked.plan, frozenset(checked.sentences.raising)
    table = plan.draft.source.read.table
    article = frozenset(table.content_stems(range(len(table))))
    return tuple(
        replace(_segment(plan, span, article, theme_sentence), may_raise=span.sentence_index in raising)
        for span in _long_segments(plan, raising)
    )


def _long_segments(plan: EvidencePlan, raising: frozenset[int]) -> list[SegmentSpan]:
    """Returns the segments that are long enough; with the short ones as one where else nothing raising is left."""
    spans, least = plan.draft.segments, plan.config.min_segment_tokens
    kept = [span for span in spans if span.token_count >= least]
    short = [span for span in spans if span.token_count < least and (span.sentence_index in raising or not raising)]
    if short and all(span.sentence_index not in raising for span in kept):
        return [join_segments(plan.draft.summary.read, short), *kept]
    return kept


def _segment(
    plan: EvidencePlan, span: SegmentSpan, article: frozenset[str], theme_sentence: int | None
) -> SummarySegment:
    """Returns a segment; its cosines are those of the first sentence that it is a part of."""
    to_theme = source_cosine = 0.0
    is_embedded = span.sentence_index < len(plan.told_closeness.vectors)
    if EvidencePart.SUBJECT in plan.draft.parts and theme_sentence is not None and is_embedded:
        vector = plan.told_closeness.vectors[span.sentence_index]
        to_theme = float(np.clip(plan.closeness.vectors[theme_sentence] @ vector, -1, 1))
        source_cosine = float(plan.closeness.cosines(vector).max())
    return SummarySegment(
        passage=span.passage,
        token_count=span.token_count,
        content_token_count=len(span.stems),
        containment=span.containment(article),
        jaccard=span.jaccard(article),
        theme_cosine=to_theme,
        source_cosine=source_cosine,
    )
