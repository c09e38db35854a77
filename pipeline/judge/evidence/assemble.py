"""Third step: everything that the models said, put together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.claims import SegmentSpan
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.plan import EvidencePlan, exact_pair_count, key_point_counts
from pipeline.judge.evidence.signals.drift import Compared, Grounding, find_told, focus_cosine, read_drift
from pipeline.judge.evidence.signals.labels import read_claim, read_key_point
from pipeline.judge.evidence.signals.lexicons import find_lexicon_hits
from pipeline.judge.evidence.signals.questions import claim_questions, coverage_questions
from pipeline.judge.evidence.signals.tone import ToneScore, describe_intent, has_opinion, score_tone
from pipeline.judge.evidence.table import (
    EvidenceModels,
    EvidenceTable,
    EvidenceTimings,
    KeyPoint,
    PairUsage,
    SummarySegment,
    ToneReading,
)
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.subject import find_theme, salient_share
from pipeline.model_answers import PairScores
from pipeline.protocols import Tokenizer

_MOST_SENTENCES = 200  # whose tone and sentiment are read, of either text


@dataclass(frozen=True, slots=True)
class Instruments:
    """What measures: the same for the whole table.

    Attributes:
        tokenizer: counts tokens.
        config: the settings.
        models: identities, for the table.
    """

    tokenizer: Tokenizer
    config: EvidenceConfig
    models: EvidenceModels


def assemble(plan: EvidencePlan, scores: PairScores, instruments: Instruments) -> EvidenceTable:
    """Returns the table, with timings of zero and no proposals."""
    draft, config, tokenizer = plan.draft, instruments.config, instruments.tokenizer
    claims = tuple(read_claim(draft, claim, scores, tokenizer, config) for claim in plan.claims)
    told = find_told(plan, claims)
    read_point = partial(
        read_key_point, plan, scores=scores, grounded=frozenset(told.grounded), tokenizer=tokenizer, config=config
    )
    points, judge_points = tuple(map(read_point, plan.facts)), tuple(map(read_point, plan.judge_facts))
    twin_count, judge_count = key_point_counts(plan)
    tones = _tones(plan, told.or_all())
    ranked = [fact.sentence for fact in plan.facts]
    theme, theme_sentence = find_theme(draft.source.read, ranked, tokenizer, config.theme_tokens)
    source_texts = [passage.text for passage in draft.source.read.passages[:_MOST_SENTENCES]]
    return EvidenceTable(
        source=draft.source.read.text.original,
        summary=draft.summary.read.text.original,
        claims=claims,
        omitted_claim_count=len(draft.all_claims) - len(claims),
        window_count=sum(len(windows) for windows in draft.source.windows.values()),
        twin_key_points=_by_position(points[:twin_count]),
        judge_key_points=_by_position(judge_points[:judge_count]),
        segments=_segments(plan, told, theme_sentence),
        theme=theme,
        intent=describe_intent(draft.source.read, source_texts, tones[0], tokenizer, config.intent_tokens),
        coverage_questions=coverage_questions(plan, [point.entailment for point in points], told.grounded, config),
        claim_questions=claim_questions(plan, claims, config),
        tone=_tone(plan, claims, told.or_all(), tones, config),
        lexicon_hits=find_lexicon_hits(draft.summary.read, draft.source.read),
        salient_share=salient_share(draft.source.index, _stems(draft.summary.read, told.grounded)),
        summary_token_count=sum(claim.content_count for claim in draft.all_claims),
        extraneous_token_count=sum(claim.extraneous_token_count for claim in claims),
        pairs=PairUsage(len(plan.pairs), exact_pair_count(plan)),
        models=instruments.models,
        timings=EvidenceTimings(0, 0, 0, 0, 0, 0),
        question_author="deterministic",
        proposals_failed=False,
        notes=_notes(draft.summary.read),
    )


def _notes(summary: ReadText) -> tuple[str, ...]:
    left_out = {"instruction_to_judge": summary.instruction_count, "repeated_sentence": summary.repeat_count}
    return tuple(f"{name}: {count} sentence{'s' * (count > 1)} left out" for name, count in left_out.items() if count)


def _stems(text: ReadText, sentences: Sequence[int]) -> frozenset[str]:
    return frozenset(stem for index in sentences for stem in text.table.content_stems(text.ranges[index]))


def _by_position(points: Sequence[KeyPoint]) -> tuple[KeyPoint, ...]:
    return tuple(sorted(points, key=lambda point: point.passage.start))


def _tones(plan: EvidencePlan, told: Grounding) -> tuple[ToneScore, ToneScore]:
    """Reads both texts; of the summary, sentences that neither tell anything nor judge are passed over."""
    source, summary = plan.draft.source.read, plan.draft.summary.read
    grounded = frozenset(told.grounded)
    texts = [passage.text for passage in summary.passages[:_MOST_SENTENCES]]
    return (
        score_tone([passage.text for passage in source.passages[:_MOST_SENTENCES]]),
        score_tone([text for index, text in enumerate(texts) if index in grounded or has_opinion(text)]),
    )


def _tone(
    plan: EvidencePlan,
    claims: Sequence[Claim],
    told: Grounding,
    tones: tuple[ToneScore, ToneScore],
    config: EvidenceConfig,
) -> ToneReading:
    """Compares the summary's tone with that of the sentences it is about."""
    source, summary = plan.draft.source.read, plan.draft.summary.read
    grounded = frozenset(told.grounded)
    about = dict.fromkeys(
        index
        for claim in plan.claims
        if claim.place and claim.claim.sentence_index in grounded
        for index in claim.place.sentences
    )
    compared = Compared(
        *tones,
        told=[source.passages[index].text for index in about],
        grounded=[summary.passages[index].text for index in told.grounded[:_MOST_SENTENCES]],
        others=[summary.passages[index].text for index in told.others[:_MOST_SENTENCES]],
        focus_cosine=focus_cosine(plan, told),
    )
    return read_drift(claims, grounded, compared, config.contradicted)


def _segments(plan: EvidencePlan, told: Grounding, theme_sentence: int | None) -> tuple[SummarySegment, ...]:
    """Returns the segments; cosines of those that were not embedded are 0."""
    table, grounded = plan.draft.source.read.table, frozenset(told.grounded)
    article = frozenset(table.content_stems(range(len(table))))
    return tuple(
        replace(_segment(plan, span, article, theme_sentence), is_grounded=not grounded.isdisjoint(span.sentences))
        for span in plan.draft.segments
    )


def _segment(
    plan: EvidencePlan, span: SegmentSpan, article: frozenset[str], theme_sentence: int | None
) -> SummarySegment:
    to_theme = source_cosine = 0.0
    if span.passage.text in plan.embeddings and theme_sentence is not None:
        vector = plan.embeddings.of([span.passage.text])[0]
        to_theme = float(np.clip(plan.closeness.vectors[theme_sentence] @ vector, -1, 1))
        source_cosine = float(plan.closeness.cosines(vector, 1).max())
    return SummarySegment(
        passage=span.passage,
        token_count=span.token_count,
        content_token_count=len(span.stems),
        containment=span.containment(article),
        jaccard=span.jaccard(article),
        theme_cosine=to_theme,
        source_cosine=source_cosine,
    )
