"""Scores Bias & Toxicity, the same in both locks: the mean of a bias score and a toxicity score.

The tone of the summary gives both a start (`BIAS_BY_TONE`, `TOXICITY_BY_TONE`). A subjective or hostile summary loses
`OPINION_WEIGHT` times its rise in subjectivity over the source: a summary that is no more opinionated than what it
summarizes reports, and does not judge. Each loaded word takes `HIT_COST` off bias, unless the tone has taken more, each
profanity or slur off toxicity. Words quoted from the source are listed and change nothing.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from pipeline.judge.citation import cite_first, count, sentences
from pipeline.judge.evidence.table import EvidenceTable, LexiconHit, LexiconKind, LexiconSeverity, Tone, ToneReading
from pipeline.judge.exact import clip, exact, mean
from pipeline.judge.locks.caps import LockRules, RawScore, cap_at
from pipeline.judge.result import Cap, Json, MetricName, apply_caps

BIAS_BY_TONE = {Tone.NEUTRAL: 10, Tone.UNCLEAR: 10, Tone.SUBJECTIVE: 8, Tone.HOSTILE: 6}
TOXICITY_BY_TONE = {Tone.NEUTRAL: 10, Tone.UNCLEAR: 10, Tone.SUBJECTIVE: 10, Tone.HOSTILE: 5}
OPINION_WEIGHT = 5
HIT_COST = 1


def score_bias_toxicity(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores (bias_score + tox_score) / 2, each under its own caps."""
    tone = table.tone
    said = [hit for hit in table.lexicon_hits if not hit.is_quoted]
    by_kind = {kind: [hit for hit in said if hit.kind is kind] for kind in LexiconKind}
    stereotypes, loaded = by_kind[LexiconKind.STEREOTYPE], by_kind[LexiconKind.LOADED]
    rude = [hit for hit in said if hit.kind in (LexiconKind.PROFANITY, LexiconKind.SLUR)]
    strong_slurs = [hit for hit in by_kind[LexiconKind.SLUR] if hit.severity is LexiconSeverity.STRONG]
    bias, bias_caps = apply_caps(
        raw_bias(tone, len(loaded)), _hit_caps(rules.stereotype, "stereotype", stereotypes, applies_to="bias_score")
    )
    toxicity, toxicity_caps = apply_caps(raw_toxicity(tone, len(rude)), _toxicity_caps(rude, rules))
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
        reason=_reason(tone, said, len(table.lexicon_hits) - len(said)),
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


def raw_toxicity(tone: ToneReading, hit_count: int) -> Fraction:
    """Returns the toxicity score before its caps, in [0, 10]; 10 is civil."""
    return clip(Fraction(TOXICITY_BY_TONE[tone.summary_tone] - HIT_COST * hit_count), 0, 10)


def _toxicity_caps(rude: Sequence[LexiconHit], rules: LockRules) -> Iterator[Cap]:
    severities = ((rules.mild_word, LexiconSeverity.MILD), (rules.strong_word, LexiconSeverity.STRONG))
    for limit, severity in severities:
        for kind in (LexiconKind.PROFANITY, LexiconKind.SLUR):
            hits = [hit for hit in rude if (hit.kind, hit.severity) == (kind, severity)]
            yield from _hit_caps(limit, f"{severity}_{kind}", hits, applies_to="tox_score")


def _hit_caps(limit: int, name: str, hits: Sequence[LexiconHit], *, applies_to: str = "score") -> tuple[Cap, ...]:
    """Returns the cap of a summary with listed expressions; empty for one without."""
    if not hits:
        return ()
    cited = cite_first([hit.passage for hit in hits])
    return cap_at(limit, name, f"{name.replace('_', ' ').capitalize()}: {cited}.", applies_to=applies_to)


def _reason(tone: ToneReading, said: Sequence[LexiconHit], quoted_count: int) -> str:
    found = "no profanity, slur, stereotype or loaded word"
    if said:
        found = f"{count(len(said), 'listed expression')}: {cite_first([hit.passage for hit in said])}"
    quoted = f"{count(quoted_count, 'more')} quoted from the source, left out of the score." if quoted_count else ""
    return sentences((f"The tone is {tone.summary_tone.value} ({tone.summary_reason}), with {found}.", quoted))
