"""Scores Alignment, the same in both locks: how far the summary drifts from the source's intent, stance and tone."""

from fractions import Fraction

from pipeline.judge.citation import cite, sentences
from pipeline.judge.evidence.table import EvidenceTable, ToneReading
from pipeline.judge.exact import exact
from pipeline.judge.locks.caps import LockRules, RawScore
from pipeline.judge.locks.hallucination import LISTED
from pipeline.judge.result import Json, MetricName
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel

MILD_UP_TO = Fraction(2, 5)
SEVERE_FROM = Fraction(3, 5)
CONTRADICTION_OVER = 0.5
"""A claim is cited as contradicted when that is more probable than not. It moves no score."""

_PARTS = {name: f"{name}_distance" for name in ("stance", "tone", "meaning", "focus")}


def score_of_drift(drift: Fraction) -> Fraction:
    """Returns 10 for no drift; else 8 - 5d to 0.4, 6 - 15(d - 0.4) to 0.6, 3 - 7.5(d - 0.6) beyond, not below 0.

    Args:
        drift: d, in [0, 1]. Beyond 0 the pieces meet at 0.4 and 0.6; the step at 0 sets "no distortion" apart.
    """
    if not 0 <= drift <= 1:
        raise ValueError(f"expected a drift in [0, 1], got {float(drift):g}")
    if drift == 0:
        return Fraction(10)
    if drift <= MILD_UP_TO:
        return 8 - 5 * drift
    if drift < SEVERE_FROM:
        return 6 - 15 * (drift - MILD_UP_TO)
    return max(Fraction(0), 3 - Fraction(15, 2) * (drift - SEVERE_FROM))


def band_of_drift(drift: Fraction) -> str:
    """Names the piece: none, mild, marked or severe."""
    if drift == 0:
        return "none"
    if drift <= MILD_UP_TO:
        return "mild"
    return "marked" if drift < SEVERE_FROM else "severe"


def score_alignment(table: EvidenceTable, _: LockRules) -> RawScore:
    """Scores the drift d of the evidence table; the same in both locks."""
    drift = exact(table.tone.drift)
    contradictions = _contradictions(table)
    deviations: list[Json] = [
        {"deviation": name, "distance": getattr(table.tone, field)}
        for name, field in _PARTS.items()
        if getattr(table.tone, field) > 0
    ]
    return RawScore(
        MetricName.ALIGNMENT,
        score_of_drift(drift),
        reason=_reason(table.tone, drift, contradictions),
        evidence=tuple(place for pair in contradictions[:LISTED] for place in pair),
        inputs={
            "drift": float(drift),
            "drift_band": band_of_drift(drift),
            **{field: getattr(table.tone, field) for field in _PARTS.values()},
            "sentiment_source": table.tone.source_sentiment,
            "sentiment_summary": table.tone.summary_sentiment,
            "source_tone": table.tone.source_tone.value,
            "summary_tone": table.tone.summary_tone.value,
            "contradicted_claims": len(contradictions),
        },
        lists={"intent": table.intent, "deviations": deviations},
    )


def _contradictions(table: EvidenceTable) -> list[tuple[TextSpan, TextSpan]]:
    """Returns the claims that the source rather refutes than ignores, each with the passage that does."""
    return [
        (claim.passage, claim.support)
        for claim in table.claims
        if claim.support is not None
        and claim.label is ClaimLabel.UNSUPPORTED
        and claim.contradiction > max(claim.entailment, CONTRADICTION_OVER)
    ]


def _reason(tone: ToneReading, drift: Fraction, contradictions: list[tuple[TextSpan, TextSpan]]) -> str:
    if drift == 0:
        said = f"The summary keeps the source's intent and stance; both read {tone.summary_tone.value}."
        if tone.source_tone is not tone.summary_tone:
            said = f"The summary keeps the source's intent and stance; its tone is {tone.summary_tone.value}."
        return said
    largest = max(_PARTS, key=lambda name: getattr(tone, _PARTS[name]))
    distance = getattr(tone, _PARTS[largest])
    return sentences(
        (
            f"The summary drifts {float(drift):.2f} from the source ({band_of_drift(drift)}),",
            f"most in {largest} ({distance:.2f}).",
            f"It reads {tone.summary_tone.value}, the source {tone.source_tone.value}.",
            f"It says {cite(contradictions[0][0])} against {cite(contradictions[0][1])}." if contradictions else "",
        )
    )
