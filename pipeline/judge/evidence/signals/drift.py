"""Drift: how far a summary departs from what its source means, d of the Alignment metric.

Four distances, each 0 within its tolerance, are joined as independent reasons for doubt: d = 1 - product of (1 - weight
x distance). So d is exactly 0 when nothing drifts, and one grave distance is enough for a large d.

A grounded sentence of the summary says something of the source, rightly or wrongly. Ungrounded sentences earn no
credit: they cover no key point, count no shared words, and do not soften the tone. Each distance is the larger of two:
of the grounded sentences alone, and of these with the worst ungrounded one. Filler would else thin out what is wrong.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.judge.evidence.claim import Claim, MismatchKind
from pipeline.judge.evidence.draft import Side
from pipeline.judge.evidence.plan import EvidencePlan
from pipeline.judge.evidence.signals.tone import ToneScore, mean_sentiment, sentiment
from pipeline.judge.evidence.table import ToneReading
from pipeline.judge.evidence.text.closeness import Float64

_STANCE_TOLERANCE = 0.25  # half the difference of two mean sentiments, of faithful summaries too
_FOCUS_TOLERANCE = 0.6  # 1 - cosine of a summary's and a source's mean vectors, of faithful summaries too
_STANCE_WEIGHT, _TONE_WEIGHT, _MEANING_WEIGHT, _FOCUS_WEIGHT = 0.7, 0.7, 0.9, 0.8


@dataclass(frozen=True, slots=True)
class Compared:
    """The sentences that are compared.

    Attributes:
        source: tone_score of the source.
        summary: tone_score of the summary.
        covered: sentences of the source that the summary is about.
        focus_cosine: of the two texts' mean vectors, in [-1, 1].
    """

    source: ToneScore
    summary: ToneScore
    covered: Sequence[str]
    grounded: Sequence[str]
    others: Sequence[str]
    focus_cosine: float


def read_drift(
    claims: Sequence[Claim], grounded: Collection[int], compared: Compared, contradicted: float
) -> ToneReading:
    """Returns tone, sentiment and drift.

    Args:
        grounded: indices of the grounded sentences of the summary.
        contradicted: contradiction that refutes, when above the entailment.
    """
    source, summary, focus_cosine = compared.source, compared.summary, compared.focus_cosine
    sentiments = _sentiments(compared)
    stance = abs(sentiments[0] - sentiments[1]) / 2
    tone = max(0.0, summary.intensity - source.intensity)
    meaning = _contradicted_share(claims, grounded, contradicted)
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


def _sentiments(compared: Compared) -> tuple[float, float]:
    """Returns the mean sentiment of the covered source sentences, and that of the summary where it is farthest away."""
    covered = mean_sentiment(compared.covered)
    total, count = sum(map(sentiment, compared.grounded)), len(compared.grounded)
    means = [mean_sentiment(compared.grounded)]
    means += [(total + sentiment(other)) / (count + 1) for other in compared.others]
    return covered, max(means, key=lambda mean: abs(mean - covered))


def _contradicted_share(claims: Sequence[Claim], grounded: Collection[int], contradicted: float) -> float:
    """Returns the share of the claims, by tokens, that the source contradicts; of the others grounded ones count."""
    wrong = others = 0
    for claim in claims:
        if _is_opposed(claim, contradicted):
            wrong += claim.token_count
        elif claim.sentence_index in grounded:
            others += claim.token_count
    return wrong / (wrong + others) if wrong else 0.0


def _is_opposed(claim: Claim, contradicted: float) -> bool:
    by_nli = claim.contradiction >= contradicted and claim.contradiction > claim.entailment
    return by_nli or any(mismatch.kind is MismatchKind.NEGATION for mismatch in claim.mismatches)


def _beyond(distance: float, tolerance: float) -> float:
    """Returns how much of the way from the tolerance to 1 a distance has gone; 0 within it."""
    return min(1.0, max(0.0, distance - tolerance) / (1 - tolerance))


_ENTAILED = 0.5
_LEAST_SHARE = 0.5  # of a sentence's content words, weighted by rarity, in one place of the source
_LEAST_WORDS = 3  # fewer are there by chance
_MOST_SENTENCES = 200  # that are looked for; later ones are taken to be grounded


@dataclass(frozen=True, slots=True)
class Grounding:
    """The sentences of a summary by whether they are grounded; indices, rising.

    Attributes:
        grounded: say something of the source, rightly or wrongly.
        others: do not.
    """

    grounded: tuple[int, ...]
    others: tuple[int, ...]

    def or_all(self) -> "Grounding":
        """Returns the same, or all as grounded when none is: a text without evidence is compared as a whole."""
        return self if self.grounded else Grounding(self.others, ())


def find_grounding(plan: EvidencePlan, claims: Sequence[Claim]) -> Grounding:
    """Finds the grounded sentences of the summary."""
    summary = plan.draft.summary.read
    entailed = {claim.sentence_index for claim in claims if claim.entailment >= _ENTAILED}
    grounded = [
        index in entailed
        or index >= _MOST_SENTENCES
        or _has_words(plan.draft.source, summary.table.content_stems(summary.ranges[index]))
        for index in range(len(summary.sentences))
    ]
    return Grounding(
        tuple(index for index, is_grounded in enumerate(grounded) if is_grounded),
        tuple(index for index, is_grounded in enumerate(grounded) if not is_grounded),
    )


def _has_words(source: Side, stems: Iterable[str]) -> bool:
    """Tells whether two neighbouring sentences of the source have enough of some stems."""
    weights = {stem: source.index.rarity(stem) for stem in stems}
    if len(weights) < _LEAST_WORDS:
        return False
    places = np.flatnonzero(source.index.shares(weights) >= _LEAST_SHARE / 2).tolist()
    return any(_have(source, weights, (at, other)) for at in places for other in (at - 1, at + 1))


def _have(source: Side, weights: Mapping[str, float], places: tuple[int, int]) -> bool:
    found = [weight for stem, weight in weights.items() if any(source.index.has(at, stem) for at in places)]
    return len(found) >= _LEAST_WORDS and sum(found) >= _LEAST_SHARE * sum(weights.values())


def focus_cosine(plan: EvidencePlan, grounding: Grounding) -> float:
    """Returns the cosine of the mean vectors of source and summary, in [-1, 1]; 1 when a side has no sentence.

    The summary has its grounded sentences, alone or with the one ungrounded sentence that lowers the cosine most.
    """
    middle = _unit(plan.closeness.vectors.sum(axis=0))
    vectors = plan.told_closeness.vectors
    grounded = vectors[list(grounding.grounded)].sum(axis=0)
    sums = [grounded, *(grounded + vectors[index] for index in grounding.others)]
    if not (middle.any() and grounded.any()):
        return 1.0
    return min(float(np.clip(middle @ _unit(total), -1, 1)) for total in sums)


def _unit(vector: Float64) -> Float64:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), float(np.finfo(np.float64).tiny)))
