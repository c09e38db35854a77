"""How far a summary drifts from what its source means: d of the Alignment metric.

Four distances, each 0 within its tolerance, joined as independent reasons for doubt: d = 1 - product of (1 - weight x
distance). So d is exactly 0 when nothing drifts, and one grave distance is enough for a large d.
"""

from collections.abc import Sequence

from pipeline.judge.evidence.sentiment import mean_sentiment
from pipeline.judge.evidence.table import Claim, MismatchKind, ToneReading
from pipeline.judge.evidence.tone import Voice

_STANCE_TOLERANCE = 0.25  # half the difference of two mean sentiments, of faithful summaries too
_FOCUS_TOLERANCE = 0.6  # 1 - cosine of a summary's and a source's mean vectors, of faithful summaries too
_STANCE_WEIGHT, _TONE_WEIGHT, _MEANING_WEIGHT, _FOCUS_WEIGHT = 0.7, 0.7, 0.9, 0.8


def read_drift(
    claims: Sequence[Claim],
    voices: tuple[Voice, Voice],
    sentences: tuple[Sequence[str], Sequence[str]],
    focus_cosine: float,
    contradicted: float,
) -> ToneReading:
    """Returns tone, sentiment and drift.

    Args:
        claims: of the summary, labelled.
        voices: of source and summary.
        sentences: of the source those that the summary tells, and of the summary all.
        focus_cosine: of the two texts' mean vectors, in [-1, 1].
        contradicted: contradiction that refutes, when above the entailment.
    """
    source, summary = voices
    feelings = mean_sentiment(sentences[0]), mean_sentiment(sentences[1])
    stance = abs(feelings[0] - feelings[1]) / 2
    tone = max(0.0, summary.heat - source.heat)
    meaning = _contradicted_share(claims, contradicted)
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
        source=source.tone,
        summary=summary.tone,
        summary_reason=summary.reason,
        subjectivity_source=source.subjectivity,
        subjectivity_summary=summary.subjectivity,
        sentiment_source=feelings[0],
        sentiment_summary=feelings[1],
        stance_distance=stance,
        tone_distance=tone,
        meaning_distance=meaning,
        focus_distance=focus,
        drift=1 - kept,
    )


def _contradicted_share(claims: Sequence[Claim], contradicted: float) -> float:
    """Returns which share of the claims' tokens says the opposite of the source."""
    total = sum(claim.token_count for claim in claims)
    opposed = sum(
        claim.token_count
        for claim in claims
        if (claim.contradiction >= contradicted and claim.contradiction > claim.entailment)
        or any(mismatch.kind is MismatchKind.NEGATION for mismatch in claim.mismatches)
    )
    return opposed / total if total else 0.0


def _beyond(distance: float, tolerance: float) -> float:
    """Returns how much of the way from the tolerance to 1 a distance has gone; 0 within it."""
    return min(1.0, max(0.0, distance - tolerance) / (1 - tolerance))
