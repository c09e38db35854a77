"""The caps that look at more than one metric: global, severe, perfect guard (SCORING, section 2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pipeline.judge.arithmetic.spans import distinct_spans
from pipeline.judge.lock.citation import count
from pipeline.judge.lock.claim_counts import ClaimCounts, HallucinationSeverity
from pipeline.judge.lock.draft import Limit
from pipeline.judge.metric import MetricName
from pipeline.text.passage import Passage

SEVERE_ALIGNMENT_LIMIT = 3
PERFECT_FROM = Fraction(19, 2)
PERFECT_LIMIT = 9
MIN_DISTINCT_SPANS = 5


@dataclass(frozen=True, slots=True)
class Safeguards:
    """Which caps a framework has.

    Attributes:
        unsupported_limit: highest Coverage and Relevance while there is an unsupported claim.
        caps_severe: whether severe hallucination limits Alignment.
        guards_perfection: whether near-perfect scores need distinct evidence.
    """

    unsupported_limit: int
    caps_severe: bool
    guards_perfection: bool

    def limits(self, name: MetricName, counts: ClaimCounts) -> tuple[Limit, ...]:
        """Returns the global caps of one metric, then the severe one."""
        if name in (MetricName.COVERAGE, MetricName.RELEVANCE) and counts.unsupported:
            reason = f"The summary makes {count(counts.unsupported, 'claim')} that the source does not support."
            return (Limit("hallucination", self.unsupported_limit, reason),)
        is_severe = counts.severity is HallucinationSeverity.SEVERE
        if name is MetricName.ALIGNMENT and self.caps_severe and is_severe:
            reason = f"Hallucination is severe: u = {float(counts.unsupported_fraction):.2f} is at least 0.5."
            return (Limit("severe_hallucination", SEVERE_ALIGNMENT_LIMIT, reason),)
        return ()

    def perfect_guard(self, scores: Sequence[Fraction], evidence: Iterable[Passage]) -> tuple[Limit, ...]:
        """Returns the limit of all metrics when all scores are near-perfect on too little evidence.

        Args:
            scores: after all other caps, before rounding.
            evidence: of all metrics; only distinct places of the source count.
        """
        if not self.guards_perfection or not scores or min(scores) < PERFECT_FROM:
            return ()
        found = len(distinct_spans(passage for passage in evidence if passage.text_id == "source"))
        if found >= MIN_DISTINCT_SPANS:
            return ()
        reason = f"All scores are at least 9.5, on {count(found, 'distinct place')} of the source: fewer than 5."
        return (Limit("perfect_guard", PERFECT_LIMIT, reason),)
