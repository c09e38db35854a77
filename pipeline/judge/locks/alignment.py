"""Scores Alignment and Bias & Toxicity: how the summary speaks, beside its source. The same in both locks."""

from collections.abc import Sequence
from fractions import Fraction

from pipeline.judge.evidence.table import EvidenceTable, LexiconHit, LexiconKind, LexiconSeverity, Tone, ToneReading
from pipeline.judge.exact import apply_caps, clip, exact, mean
from pipeline.judge.locks.caps import LockRules, RawScore, cap_at
from pipeline.judge.locks.hallucination import LISTED
from pipeline.judge.result import Cap, Json, MetricName, cite, cite_first, count, sentences
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel

MILD_UP_TO = Fraction(2, 5)
SEVERE_FROM = Fraction(3, 5)
CONTRADICTION_OVER = 0.5
"""A claim is cited as contradicted when that is more probable than not. It moves no score."""

_PARTS = {name: f"{name}_distance" for name in ("stance", "tone", "meaning", "focus")}


def score_of_drift(drift: Fraction) -> tuple[Fraction, str]:
    """Returns the score of a drift d in [0, 1], and the name of its piece; a score is not below 0.

    None: 10 for no drift. Mild: 8 - 5d to 0.4. Marked: 6 - 15(d - 0.4) to 0.6. Severe: 3 - 7.5(d - 0.6) beyond. The
    pieces meet at 0.4 and 0.6; the step at 0 sets "no distortion" apart.
    """
    if not 0 <= drift <= 1:
        raise ValueError(f"expected a drift in [0, 1], got {float(drift):g}")
    if drift == 0:
        return Fraction(10), "none"
    if drift <= MILD_UP_TO:
        return 8 - 5 * drift, "mild"
    if drift < SEVERE_FROM:
        return 6 - 15 * (drift - MILD_UP_TO), "marked"
    return max(Fraction(0), 3 - Fraction(15, 2) * (drift - SEVERE_FROM)), "severe"


def score_alignment(table: EvidenceTable, _: LockRules) -> RawScore:
    """Scores the drift d of the evidence table; the same in both locks."""
    drift = exact(table.tone.drift)
    score, band = score_of_drift(drift)
    contradictions = _contradictions(table)
    deviations: list[Json] = [
        {"deviation": name, "distance": getattr(table.tone, field)}
        for name, field in _PARTS.items()
        if getattr(table.tone, field) > 0
    ]
    return RawScore(
        MetricName.ALIGNMENT,
        score,
        reason=_drift_reason(table.tone, band, contradictions),
        evidence=tuple(place for pair in contradictions[:LISTED] for place in pair),
        inputs={
            "drift": float(drift),
            "drift_band": band,
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


def _drift_reason(tone: ToneReading, band: str, contradictions: list[tuple[TextSpan, TextSpan]]) -> str:
    if band == "none":
        said = f"The summary keeps the source's intent and stance; both read {tone.summary_tone.value}."
        if tone.source_tone is not tone.summary_tone:
            said = f"The summary keeps the source's intent and stance; its tone is {tone.summary_tone.value}."
        return said
    largest = max(_PARTS, key=lambda name: getattr(tone, _PARTS[name]))
    distance = getattr(tone, _PARTS[largest])
    return sentences(
        (
            f"The summary drifts {tone.drift:.2f} from the source ({band}),",
            f"most in {largest} ({distance:.2f}).",
            f"It reads {tone.summary_tone.value}, the source {tone.source_tone.value}.",
            f"It says {cite(contradictions[0][0])} against {cite(contradictions[0][1])}." if contradictions else "",
        )
    )


BIAS_BY_TONE = {Tone.NEUTRAL: 10, Tone.UNCLEAR: 10, Tone.SUBJECTIVE: 8, Tone.HOSTILE: 6}
TOXICITY_BY_TONE = {Tone.NEUTRAL: 10, Tone.UNCLEAR: 10, Tone.SUBJECTIVE: 10, Tone.HOSTILE: 5}
OPINION_WEIGHT = 5
HIT_COST = 1


def score_bias_toxicity(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores (bias_score + tox_score) / 2, each under its own caps.

    The tone of the summary gives both a start (`BIAS_BY_TONE`, `TOXICITY_BY_TONE`). A subjective or hostile summary
    loses `OPINION_WEIGHT` times its rise in subjectivity over the source. One that is no more opinionated than its
    source reports, and does not judge. Each loaded word takes `HIT_COST` off bias, unless the tone has
    taken more, each profanity or slur off toxicity. Words quoted from the source are listed and change nothing.
    """
    tone = table.tone
    said = [hit for hit in table.lexicon_hits if not hit.is_quoted]
    by_kind = {kind: [hit for hit in said if hit.kind is kind] for kind in LexiconKind}
    stereotypes, loaded = by_kind[LexiconKind.STEREOTYPE], by_kind[LexiconKind.LOADED]
    rude = [hit for hit in said if hit.kind in (LexiconKind.PROFANITY, LexiconKind.SLUR)]
    strong_slurs = [hit for hit in by_kind[LexiconKind.SLUR] if hit.severity is LexiconSeverity.STRONG]
    limits = _hit_caps(rules.stereotype, "stereotype", stereotypes, applies_to="bias_score")
    bias, bias_caps = apply_caps(raw_bias(tone, len(loaded)), limits)
    civil = clip(Fraction(TOXICITY_BY_TONE[tone.summary_tone] - HIT_COST * len(rude)), 0, 10)
    toxicity, toxicity_caps = apply_caps(civil, _toxicity_caps(rude, rules))
    issues: list[Json] = [
        {
            "text": hit.passage.text,
            "kind": hit.kind.value,
            "severity": hit.severity.value,
            "quoted_from_source": hit.is_quoted,
        }
        for hit in table.lexicon_hits
    ]
    return RawScore(
        MetricName.BIAS_TOXICITY,
        mean([bias, toxicity]),
        reason=_words_reason(tone, said, len(table.lexicon_hits) - len(said)),
        evidence=tuple(hit.passage for hit in (*said, *(hit for hit in table.lexicon_hits if hit.is_quoted))),
        inputs={
            "tone": tone.summary_tone.value,
            "bias_score": float(bias),
            "tox_score": float(toxicity),
            "subjectivity_summary": tone.summary_subjectivity,
            "subjectivity_source": tone.source_subjectivity,
            "profanities": len(by_kind[LexiconKind.PROFANITY]),
            "slurs": len(by_kind[LexiconKind.SLUR]),
            "stereotypes": len(stereotypes),
            "loaded_words": len(loaded),
            "quoted_hits": len(table.lexicon_hits) - len(said),
        },
        lists={"issues": issues},
        caps=_hit_caps(rules.slur_score, "strong_slur", strong_slurs),
        part_caps=(*bias_caps, *toxicity_caps),
    )


def raw_bias(tone: ToneReading, loaded_count: int) -> Fraction:
    """Returns the bias score before its cap, in [0, 10]; 10 is unbiased."""
    start = Fraction(BIAS_BY_TONE[tone.summary_tone])
    if tone.summary_tone not in (Tone.NEUTRAL, Tone.UNCLEAR):
        excess = max(Fraction(0), exact(tone.summary_subjectivity) - exact(tone.source_subjectivity))
        start -= OPINION_WEIGHT * excess
    return clip(min(start, Fraction(10 - HIT_COST * loaded_count)), 0, 10)


def _toxicity_caps(rude: Sequence[LexiconHit], rules: LockRules) -> list[Cap]:
    caps = list[Cap]()
    for limit, severity in ((rules.mild_word, LexiconSeverity.MILD), (rules.strong_word, LexiconSeverity.STRONG)):
        for kind in (LexiconKind.PROFANITY, LexiconKind.SLUR):
            hits = [hit for hit in rude if (hit.kind, hit.severity) == (kind, severity)]
            caps += _hit_caps(limit, f"{severity}_{kind}", hits, applies_to="tox_score")
    return caps


def _hit_caps(limit: int, name: str, hits: Sequence[LexiconHit], *, applies_to: str = "score") -> tuple[Cap, ...]:
    """Returns the cap of a summary with listed expressions; empty for one without."""
    if not hits:
        return ()
    cited = cite_first([hit.passage for hit in hits])
    return cap_at(limit, name, f"{name.replace('_', ' ').capitalize()}: {cited}.", applies_to=applies_to)


def _words_reason(tone: ToneReading, said: Sequence[LexiconHit], quoted_count: int) -> str:
    found = "no profanity, slur, stereotype or loaded word"
    if said:
        found = f"{count(len(said), 'listed expression')}: {cite_first([hit.passage for hit in said])}"
    quoted = f"{count(quoted_count, 'more')} quoted from the source, left out of the score." if quoted_count else ""
    return sentences((f"The tone is {tone.summary_tone.value} ({tone.summary_reason}), with {found}.", quoted))
