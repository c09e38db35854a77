"""Assembles the evidence table from the texts and everything that the models said. Third step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.claims import SegmentSpan
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.draft import EvidencePart
from pipeline.judge.evidence.plan import EvidencePlan, FactPlan, key_point_counts, plan_facts
from pipeline.judge.evidence.signals.drift import Compared, Grounding, find_grounding, focus_cosine, read_drift
from pipeline.judge.evidence.signals.key_points import KeyPointReader
from pipeline.judge.evidence.signals.labels import read_claim
from pipeline.judge.evidence.signals.lexicons import find_lexicon_hits
from pipeline.judge.evidence.signals.questions import claim_questions, coverage_questions
from pipeline.judge.evidence.signals.tone import ToneScore, describe_intent, has_opinion, score_tone
from pipeline.judge.evidence.table import (
    EvidenceTable,
    EvidenceTimings,
    KeyPoint,
    SummarySegment,
    ToneReading,
)
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.subject import find_theme, salient_share
from pipeline.model_answers import CheckedScores, Pair, PairScores
from pipeline.protocols import Models, Tokenizer

_MOST_SENTENCES = 200  # whose tone and sentiment are read, of either text


@dataclass(frozen=True, slots=True, eq=False)
class CheckedClaims:
    """What is known when the claims have been checked, and the facts have not.

    Attributes:
        plan: what was compared.
        claims: with their labels.
        grounding: of the summary's sentences.
        facts: where the grounded ones may tell each fact, by its sentence in the source.
    """

    plan: EvidencePlan
    claims: tuple[Claim, ...]
    grounding: Grounding
    facts: Mapping[int, FactPlan]

    @classmethod
    def of(cls, plan: EvidencePlan, scores: CheckedScores, tokenizer: Tokenizer) -> Self:
        """Labels the claims."""
        claims = tuple(read_claim(plan.draft, claim, scores, tokenizer, plan.config) for claim in plan.claims)
        grounding = find_grounding(plan, claims)
        return cls(plan, claims, grounding, plan_facts(plan, grounding.grounded))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Those of the facts, without repeats."""
        return tuple(dict.fromkeys(fact.pair for fact in self.facts.values() if fact.pair))


def assemble(checked: CheckedClaims, scores: PairScores, models: Models) -> EvidenceTable:
    """Returns the table, with timings of zero and no proposals. Parts that nobody reads are empty.

    Args:
        scores: of the pairs of facts.
    """
    plan, claims, grounding = checked.plan, checked.claims, checked.grounding
    draft, tokenizer, parts, config = plan.draft, models.tokenizer, plan.draft.parts, plan.config
    source, summary = draft.source.read, draft.summary.read
    told = _told(plan, grounding)
    reader = KeyPointReader(plan, told, tokenizer)
    points = {at: reader.read(at, fact, scores) for at, fact in checked.facts.items()}
    twin_count, judge_count = key_point_counts(source)
    tones = _tones(plan, grounding.or_all())
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
        segments=_segments(plan, grounding, theme_sentence),
        theme=theme,
        intent=_intent(source, tones[0], tokenizer, config) if EvidencePart.INTENT in parts else "",
        coverage_questions=coverage_questions(plan, checked.facts, entailments, grounding.grounded) if is_asked else (),
        claim_questions=claim_questions(plan, claims, config) if is_asked else (),
        tone=_tone(plan, claims, grounding.or_all(), tones, config),
        lexicon_hits=find_lexicon_hits(summary, source),
        salient_share=salient_share(draft.source.index, told) if EvidencePart.SUBJECT in parts else 0.0,
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


def _told(plan: EvidencePlan, grounding: Grounding) -> frozenset[str]:
    """Returns the stems of the content words of the grounded sentences."""
    summary = plan.draft.summary.read
    return frozenset(
        stem for index in grounding.grounded for stem in summary.table.content_stems(summary.ranges[index])
    )


def _notes(summary: ReadText) -> tuple[str, ...]:
    left_out = {
        "instruction_to_judge": summary.instruction_count,
        "lead_in": summary.lead_in_count,
        "repeated_sentence": summary.repeat_count,
    }
    return tuple(f"{name}: {count} sentence{'s' * (count > 1)} left out" for name, count in left_out.items() if count)


def _tones(plan: EvidencePlan, grounding: Grounding) -> tuple[ToneScore, ToneScore]:
    """Scores the tone of both texts; of the summary, that of sentences that are grounded or have an opinion."""
    source, summary = plan.draft.source.read, plan.draft.summary.read
    grounded = frozenset(grounding.grounded)
    texts = [passage.text for passage in summary.passages[:_MOST_SENTENCES]]
    return (
        score_tone([passage.text for passage in source.passages[:_MOST_SENTENCES]]),
        score_tone([text for index, text in enumerate(texts) if index in grounded or has_opinion(text)]),
    )


def _tone(
    plan: EvidencePlan,
    claims: Sequence[Claim],
    grounding: Grounding,
    tones: tuple[ToneScore, ToneScore],
    config: EvidenceConfig,
) -> ToneReading:
    """Measures the drift from the source sentences that the summary is about."""
    source, summary = plan.draft.source.read, plan.draft.summary.read
    grounded = frozenset(grounding.grounded)
    about = dict.fromkeys(
        index
        for claim in plan.claims
        if claim.passage and claim.claim.sentence_index in grounded
        for index in claim.passage.best[:1]
    )
    compared = Compared(
        *tones,
        covered=[source.passages[index].text for index in about],
        grounded=[summary.passages[index].text for index in grounding.grounded[:_MOST_SENTENCES]],
        others=[summary.passages[index].text for index in grounding.others[:_MOST_SENTENCES]],
        focus_cosine=focus_cosine(plan, grounding),
    )
    return read_drift(claims, grounded, compared, config.contradicted)


def _segments(plan: EvidencePlan, grounding: Grounding, theme_sentence: int | None) -> tuple[SummarySegment, ...]:
    """Returns the segments; cosines of those that were not embedded are 0."""
    table, grounded = plan.draft.source.read.table, frozenset(grounding.grounded)
    article = frozenset(table.content_stems(range(len(table))))
    return tuple(
        replace(_segment(plan, span, article, theme_sentence), is_grounded=not grounded.isdisjoint(span.sentences))
        for span in plan.draft.segments
    )


def _segment(
    plan: EvidencePlan, span: SegmentSpan, article: frozenset[str], theme_sentence: int | None
) -> SummarySegment:
    """Returns a segment; its cosines are those of the first sentence that it is a part of."""
    to_theme = source_cosine = 0.0
    if EvidencePart.SUBJECT in plan.draft.parts and theme_sentence is not None and span.sentences:
        vector = plan.told_closeness.vectors[span.sentences[0]]
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
