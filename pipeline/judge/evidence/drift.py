"""Drift: how far a summary departs from what its source means, d of the Alignment metric.

Four distances, each 0 within its tolerance, are joined as independent reasons for doubt: d = 1 - product of (1 - weight
x distance). So d is exactly 0 when nothing drifts, and one grave distance is enough for a large d.

Each distance is the larger of two: of the sentences that may raise a score, and of these with the worst other one.
Filler would else thin out what is wrong.
"""

from collections.abc import Iterator, Sequence
from math import fsum

import numpy as np

from pipeline.judge.evidence.plan import EvidencePlan
from pipeline.judge.evidence.raising import RaisingSentences
from pipeline.judge.evidence.table import Claim, MismatchKind, ToneReading
from pipeline.judge.evidence.tone import ToneScore, mean_sentiment, sentiment
from pipeline.reading.index import Float64

_STANCE_TOLERANCE = 0.25  # half the difference of two mean sentiments, of faithful summaries too
_FOCUS_TOLERANCE = 0.6  # 1 - cosine of a summary's and a source's mean vectors, of faithful summaries too
_STANCE_WEIGHT, _TONE_WEIGHT, _MEANING_WEIGHT, _FOCUS_WEIGHT = 0.7, 0.7, 0.9, 0.8
_MOST_SENTENCES = 200  # grounded or not, whose sentiment is read


def read_drift(
    plan: EvidencePlan, claims: Sequence[Claim], sentences: RaisingSentences, tones: tuple[ToneScore, ToneScore]
) -> ToneReading:
    """Returns tone, sentiment and drift.

    Args:
        plan: what was compared.
        claims: with their labels.
        sentences: of the summary.
        tones: of source and summary.
    """
    source, summary = tones
    focus_cosine = _focus_cosine(plan, sentences)
    sentiments = max(_sentiments(plan, sentences), key=lambda pair: abs(pair[0] - pair[1]), default=(0.0, 0.0))
    stance = abs(sentiments[0] - sentiments[1]) / 2
    tone = max(0.0, summary.intensity - source.intensity)
    meaning = _contradicted_share(claims, plan.config.contradicted)
    focus = (1 - focus_cosine) / 2
    parts = (
        _STANCE_WEIGHT * _beyond(stance, _STANCE_TOLERANCE),
        _TONE_WEIGHT * tone,
        _MEANING_WEIGHT * meaning,
        _FOCUS_WEIGHT * _beyond(1 - focus_cosine, _FOCUS_TOLERANCE),
    )
    kept = 1.0
    for part in parts:
        kept *= 1 - part
    return ToneReading(
        source_tone=source.tone,
        summary_tone=summary.tone,
        summary_reason=summary.reason,
        source_subjectivity=source.subjectivity,
        summary_subjectivity=summary.subjectivity,
        source_sentiment=sentiments[0],
        summary_sentiment=sentiments[1],
        stance_distance=stance,
        tone_distance=tone,
        meaning_distance=meaning,
        focus_distance=focus,
        drift=1 - kept,
    )


def _sentiments(plan: EvidencePlan, sentences: RaisingSentences) -> Iterator[tuple[float, float]]:
    """Yields mean sentiments to be compared, of the source sentences that the summary is about and of the summary."""
    for raising, others in sentences.readings():
        covered = mean_sentiment(_about(plan, frozenset(raising)))
        read = raising[:_MOST_SENTENCES]
        found, total = fsum(_sentiment(plan, index) for index in read), len(read)
        yield covered, found / total
        if sentences.raising:
            yield from (
                (covered, (found + _sentiment(plan, index)) / (total + 1)) for index in others[:_MOST_SENTENCES]
            )


def _sentiment(plan: EvidencePlan, sentence: int) -> float:
    return sentiment(plan.draft.summary.read.passages[sentence].text)


def _about(plan: EvidencePlan, sentences: frozenset[int]) -> list[str]:
    """Returns the sentences of the source that the claims of some sentences are about."""
    found = dict.fromkeys(
        index
        for claim in plan.claims
        if claim.passage and claim.claim.sentence_index in sentences
        for index in claim.passage.best[:1]
    )
    return [plan.draft.source.read.passages[index].text for index in found]


def _contradicted_share(claims: Sequence[Claim], contradicted: float) -> float:
    """Returns the share of the claims, by tokens, that the source contradicts; others count if they may raise."""
    wrong = others = 0
    for claim in claims:
        if _is_opposed(claim, contradicted):
            wrong += claim.token_count
        elif claim.may_raise:
            others += claim.token_count
    return wrong / (wrong + others) if wrong else 0.0


def _is_opposed(claim: Claim, contradicted: float) -> bool:
    by_nli = claim.contradiction >= contradicted and claim.contradiction > claim.entailment
    return by_nli or any(mismatch.kind is MismatchKind.NEGATION for mismatch in claim.mismatches)


def _beyond(distance: float, tolerance: float) -> float:
    """Returns how much of the way from the tolerance to 1 a distance has gone; 0 within it."""
    return min(1.0, max(0.0, distance - tolerance) / (1 - tolerance))


def _focus_cosine(plan: EvidencePlan, sentences: RaisingSentences) -> float:
    """Returns the cosine of the mean vectors of source and summary, in [-1, 1]; 1 when a side has no sentence.

    The summary has the sentences that may raise a score, alone or with the other one that lowers the cosine most.
    """
    middle = _unit(plan.closeness.vectors.sum(axis=0))
    vectors = plan.told_closeness.vectors
    raising = vectors[list(sentences.raising)].sum(axis=0)
    sums = [raising] if sentences.raising else []
    sums += [raising + vectors[index] for index in sentences.others]
    cosines = [float(np.clip(middle @ _unit(total), -1, 1)) for total in sums if total.any()]
    return min(cosines, default=1.0) if middle.any() else 1.0


def _unit(vector: Float64) -> Float64:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), float(np.finfo(np.float64).tiny)))
