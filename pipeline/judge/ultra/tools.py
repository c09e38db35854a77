"""Ultra's tools: each measures one kind of evidence of one metric, as a share in [0, 1] and as a score in [1, 5].

A tool without evidence is left out. Without claims there is nothing to check: hallucination is then perfect by
definition, as in the locks.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from pipeline.judge.evidence.table import (
    Claim,
    EvidenceTable,
    LexiconKind,
    LexiconSeverity,
    Tone,
)
from pipeline.judge.exact import guarded_mean
from pipeline.judge.fusion import Tool
from pipeline.judge.result import MetricName
from pipeline.reading.rules import Rule


def unsupported_share(claims: Sequence[Claim]) -> float:
    """Returns u, the expected share of the summary's sentences that the source does not support, in [0, 1].

    Sentences count alike, as they do for people who judge them one by one. 0 without claims.
    """
    return 1 - guarded_mean([claim.probability for claim in claims], claims) if claims else 0.0


def certainty(claims: Sequence[Claim]) -> float:
    """Returns how far the claims are from even odds, |2p - 1|, the mean over them, in [0, 1]; 1 without any.

    Of calibrated probabilities it is what tells the right ones from the wrong.
    """
    return guarded_mean([abs(2 * claim.probability - 1) for claim in claims], claims) if claims else 1.0


_PROBABLE, _UNBELIEVABLE = 0.5, 0.25


CONTRADICTION = Rule(
    "contradiction",
    "judge",
    "A contradiction counts for Ultra when a number, name, date or negation shows it too.",
    "Source: it cost 4 million. Summary: it cost 40 million.",
    "the score is capped",
)


def contradicted(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Returns the claims whose contradiction is verified: NLI sees one, the words show one, and all evidence agrees.

    NLI alone calls too much a contradiction; a number, name, date or negation that stands otherwise in the source is
    the second witness.
    """
    if not CONTRADICTION.is_on:
        return ()
    return tuple(
        claim
        for claim in claims
        if claim.contradiction >= _PROBABLE
        and claim.contradiction > claim.entailment
        and any(mismatch.source is not None for mismatch in claim.mismatches)
        and claim.probability < _UNBELIEVABLE
    )


Measure = Callable[[EvidenceTable], float | None]

_TONE = {Tone.NEUTRAL: 1.0, Tone.UNCLEAR: 0.8, Tone.SUBJECTIVE: 0.6, Tone.HOSTILE: 0.1}
_SLUR, _STEREOTYPE, _PROFANITY = 0.1, 0.35, 0.5
_FULL_SALIENCE = 0.6


def measure(table: EvidenceTable, metric: MetricName) -> tuple[Tool, ...]:
    """Returns the opinions of a metric's tools that have any: 1 + 4 t for a share t."""
    shares = [(name, found(table), weight) for name, found, weight in TOOLS[metric]]
    return tuple(Tool(name, 1 + 4 * _clipped(share), weight) for name, share, weight in shares if share is not None)


def _clipped(share: float) -> float:
    return min(1.0, max(0.0, share))


def _salient_words(table: EvidenceTable) -> float | None:
    """The salient share; .6 counts as all, since a summary has no room for more."""
    return min(1.0, table.salient_share / _FULL_SALIENCE)


def _containment(table: EvidenceTable) -> float | None:
    """Mean containment of the segments, weighted by content words."""
    weights = [float(segment.content_token_count) for segment in table.segments]
    return _over_segments(table, [segment.containment for segment in table.segments], weights)


def _theme(table: EvidenceTable) -> float | None:
    """Mean cosine of the segments to the source's theme."""
    return _over_segments(table, [_clipped(segment.theme_cosine) for segment in table.segments])


def _over_segments(
    table: EvidenceTable, values: Sequence[float], weights: Sequence[float] | None = None
) -> float | None:
    return guarded_mean(values, table.segments, weights) if values else None


def _stance(table: EvidenceTable) -> float | None:
    """1 - the largest of the distances in stance, tone and focus."""
    tone = table.tone
    return 1 - max(tone.stance_distance, tone.tone_distance, tone.focus_distance)


def _lexicon(table: EvidenceTable) -> float | None:
    """The worst listed word that the summary does not quote."""
    worst = [1.0]
    for hit in table.lexicon_hits:
        if hit.is_quoted or hit.kind is LexiconKind.LOADED:  # the tone has read those
            continue
        if hit.kind is LexiconKind.SLUR:
            worst.append(_SLUR if hit.severity is LexiconSeverity.STRONG else _STEREOTYPE)
        else:
            worst.append(_STEREOTYPE if hit.kind is LexiconKind.STEREOTYPE else _PROFANITY)
    return min(worst)


def _tone(table: EvidenceTable) -> float | None:
    """Civility of the summary's tone; a tone inherited from the source counts half."""
    share = _TONE[table.tone.summary_tone]
    inherited = table.tone.tone_distance <= 0 and table.tone.summary_tone is not Tone.NEUTRAL
    return (1 + share) / 2 if inherited else share


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


TOOLS: Mapping[MetricName, tuple[tuple[str, Measure, float], ...]] = {
    MetricName.COVERAGE: (
        ("key_point_recall", lambda table: _mean([point.covered_share for point in table.judge_key_points]), 1.0),
        ("answered_questions", lambda table: _mean([one.score for one in table.coverage_questions]), 1.0),
        ("salient_words", _salient_words, 1.0),
    ),
    MetricName.ALIGNMENT: (
        ("stance", _stance, 1.0),
        ("meaning", lambda table: 1 - table.tone.meaning_distance, 1.0),
    ),
    MetricName.HALLUCINATION: (
        ("claim_support", lambda table: 1 - unsupported_share(table.claims), 1.0),
        ("answered_claims", lambda table: _mean([one.score for one in table.claim_questions]), 0.35),
    ),
    MetricName.RELEVANCE: (
        ("containment", _containment, 1.0),
        ("theme", _theme, 1.0),
        ("salient_words", _salient_words, 1.0),
    ),
    MetricName.BIAS_TOXICITY: (("lexicon", _lexicon, 1.0), ("tone", _tone, 1.0)),
}
"""The tools of each metric, in the order in which they are reported. Each has a name, a share in [0, 1] or None where
there is nothing to measure, and a weight in the metric's mean."""
