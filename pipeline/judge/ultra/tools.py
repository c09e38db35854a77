"""Ultra's tools: each measures one kind of evidence of one metric, as a share in [0, 1] and as a score in [1, 5].

A tool without evidence is left out. Without claims there is nothing to check: hallucination is then perfect by
definition, as in the locks.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.table import EvidenceTable, LexiconKind, LexiconSeverity, Question, SummarySegment, Tone
from pipeline.judge.exact import guarded_mean
from pipeline.judge.result import MetricName
from pipeline.judge.ultra.levels import Tool
from pipeline.reading.rules import Rule


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """The evidence table as Ultra reads it.

    Attributes:
        contradicted: claims that the source verifiably contradicts.
    """

    table: EvidenceTable
    contradicted: tuple[Claim, ...]

    @classmethod
    def of(cls, table: EvidenceTable) -> Self:
        """Reads a table."""
        return cls(table, tuple(claim for claim in table.claims if is_contradicted(claim)))

    @property
    def unsupported_share(self) -> float:
        """Returns u, the expected share of the summary's sentences that the source does not support, in [0, 1].

        Sentences count alike, as they do for people who judge them one by one; the claims of one share its weight.
        0 without claims.
        """
        return 1 - self._over_sentences(lambda claim: claim.probability) if self.table.claims else 0.0

    @property
    def certainty(self) -> float:
        """Returns how far the claims are from even odds, |2p - 1|, the mean over sentences, in [0, 1]; 1 without any.

        Of calibrated probabilities it is what tells the right ones from the wrong.
        """
        return self._over_sentences(lambda claim: abs(2 * claim.probability - 1)) if self.table.claims else 1.0

    def _over_sentences(self, value: Callable[[Claim], float]) -> float:
        claims = self.table.claims
        counts = Counter(claim.sentence_index for claim in claims)
        return guarded_mean(
            [value(claim) for claim in claims],
            [1 / counts[claim.sentence_index] for claim in claims],
            [claim.may_raise for claim in claims],
        )


HALF = 0.5
_UNBELIEVABLE = 0.25


CONTRADICTION = Rule(
    "contradiction",
    "judge",
    "A contradiction counts for Ultra when a number, name, date or negation shows it too.",
    "Source: it cost 4 million. Summary: it cost 40 million.",
    "the score is capped",
)


def is_contradicted(claim: Claim) -> bool:
    """Tells whether a contradiction is verified: NLI sees one, the words show one, and all evidence agrees.

    NLI alone calls too much a contradiction; a number, name, date or negation that stands otherwise in the source is
    the second witness.
    """
    by_nli = CONTRADICTION.is_on and claim.contradiction >= HALF and claim.contradiction > claim.entailment
    by_words = any(mismatch.source is not None for mismatch in claim.mismatches)
    return by_nli and by_words and claim.probability < _UNBELIEVABLE


Measure = Callable[[EvidenceView], float | None]

_TONE = {Tone.NEUTRAL: 1.0, Tone.UNCLEAR: 0.8, Tone.SUBJECTIVE: 0.6, Tone.HOSTILE: 0.1}
_SLUR, _STEREOTYPE, _PROFANITY = 0.1, 0.35, 0.5
_FULL_SALIENCE = 0.6
_MASKED = "deterministic"
"""Author of questions without a language model (`EvidenceTable.question_author`)."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """One of Ultra's own tools.

    Attributes:
        measure: gives a share in [0, 1]; None where there is nothing to measure.
        weight: in the mean of the metric's tools.
    """

    name: str
    measure: Measure
    weight: float = 1.0


def measure(view: EvidenceView, metric: MetricName) -> tuple[Tool, ...]:
    """Returns the opinions of a metric's tools that have any."""
    shares = [(tool, tool.measure(view)) for tool in TOOLS[metric]]
    return tuple(Tool(tool.name, to_score(share), tool.weight) for tool, share in shares if share is not None)


def to_score(share: float) -> float:
    """Returns 1 + 4 t for a share t, kept in [0, 1]."""
    return 1 + 4 * _clipped(share)


def _clipped(share: float) -> float:
    return min(1.0, max(0.0, share))


def _told_key_points(view: EvidenceView) -> float | None:
    """Mean share of the key points that is told; here a detail that is left out counts."""
    return _mean([max(point.entailment, point.content_share) for point in view.table.judge_key_points])


def _salient_words(view: EvidenceView) -> float | None:
    """The salient share; .6 counts as all, since a summary has no room for more."""
    return min(1.0, view.table.salient_share / _FULL_SALIENCE)


def _containment(view: EvidenceView) -> float | None:
    """Mean containment of the segments, weighted by content words."""
    return _over_segments(view, lambda segment: segment.containment, lambda segment: segment.content_token_count)


def _theme(view: EvidenceView) -> float | None:
    """Mean cosine of the segments to the source's theme."""
    return _over_segments(view, lambda segment: _clipped(segment.theme_cosine), lambda _: 1)


def _over_segments(
    view: EvidenceView, value: Callable[[SummarySegment], float], weight: Callable[[SummarySegment], float]
) -> float | None:
    segments = view.table.segments
    if not segments:
        return None
    return guarded_mean(
        [value(segment) for segment in segments],
        [float(weight(segment)) for segment in segments],
        [segment.may_raise for segment in segments],
    )


def _stance(view: EvidenceView) -> float | None:
    """1 - the largest of the distances in stance, tone and focus."""
    tone = view.table.tone
    return 1 - max(tone.stance_distance, tone.tone_distance, tone.focus_distance)


def _lexicon(view: EvidenceView) -> float | None:
    """The worst listed word that the summary does not quote."""
    worst = [1.0]
    for hit in view.table.lexicon_hits:
        if hit.is_quoted or hit.kind is LexiconKind.LOADED:  # the tone has read those
            continue
        if hit.kind is LexiconKind.SLUR:
            worst.append(_SLUR if hit.severity is LexiconSeverity.STRONG else _STEREOTYPE)
        else:
            worst.append(_STEREOTYPE if hit.kind is LexiconKind.STEREOTYPE else _PROFANITY)
    return min(worst)


def _tone(view: EvidenceView) -> float | None:
    """Civility of the summary's tone; a tone inherited from the source counts half."""
    share = _TONE[view.table.tone.summary_tone]
    inherited = view.table.tone.tone_distance <= 0 and view.table.tone.summary_tone is not Tone.NEUTRAL
    return (1 + share) / 2 if inherited else share


TOOLS: Mapping[MetricName, tuple[Instrument, ...]] = {
    MetricName.COVERAGE: (
        Instrument("key_point_recall", _told_key_points),
        Instrument("answered_questions", lambda view: _answered(view, view.table.coverage_questions)),
        Instrument("salient_words", _salient_words),
    ),
    MetricName.ALIGNMENT: (
        Instrument("stance", _stance),
        Instrument("meaning", lambda view: 1 - view.table.tone.meaning_distance),
    ),
    MetricName.HALLUCINATION: (
        Instrument("claim_support", lambda view: 1 - view.unsupported_share),
        Instrument("answered_claims", lambda view: _answered(view, view.table.claim_questions), 0.35),
    ),
    MetricName.RELEVANCE: (
        Instrument("containment", _containment),
        Instrument("theme", _theme),
        Instrument("salient_words", _salient_words),
    ),
    MetricName.BIAS_TOXICITY: (Instrument("lexicon", _lexicon), Instrument("tone", _tone)),
}
"""The tools of each metric, in the order in which they are reported."""


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _answered(view: EvidenceView, questions: Sequence[Question]) -> float | None:
    """Mean score of the answers to a language model's questions; masked words, found or not, say less than the rest."""
    if view.table.question_author == _MASKED:
        return None
    return _mean([question.score for question in questions])
