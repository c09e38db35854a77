"""The verdict on a summary in a sentence: what was read, what the source does not support, and the worst claim."""

from collections.abc import Iterable
from dataclasses import dataclass

from precis.v1 import evidence_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.judge.floors import BEST_SCORE
from server.cli.judge.names import is_supported, label_counts, metrics_of


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """What all claims of a summary amount to.

    Attributes:
        claim_count: of the summary.
        unchecked_count: of those, the ones that a bound left unread.
        unsupported_count: of the checked ones.
        partial_count: of the checked ones.
        worst: number of the least probable claim, from 1; None without claims.
        worst_score: 10 x its probability.
        reads_nothing: the summary states nothing that could be checked.
    """

    claim_count: int
    unchecked_count: int
    unsupported_count: int
    partial_count: int
    worst: int | None
    worst_score: float | None
    reads_nothing: bool

    @property
    def checked_count(self) -> int:
        """Claims that were checked."""
        return self.claim_count - self.unchecked_count

    @property
    def left_out(self) -> str:
        """Says how many claims were not checked; empty when all were. Stands beside every score that is partial."""
        return left_out(self.unchecked_count, self.claim_count)

    @property
    def said(self) -> str:
        """Says what was read and how much of it is not supported, without a full stop."""
        if not self.checked_count:
            return "The summary claims nothing that could be checked" if self.reads_nothing else "No claim was checked"
        kinds = ((self.unsupported_count, "not supported"), (self.partial_count, "supported only in part"))
        found = " and ".join(f"{count:,} {'is' if count == 1 else 'are'} {kind}" for count, kind in kinds if count)
        return f"{self._read} checked against the source: {found or self._all_supported}"

    @property
    def _read(self) -> str:
        if self.unchecked_count:
            return f"Only {self.checked_count:,} of the summary's {self.claim_count:,} claims were"
        return "The summary's one claim was" if self.claim_count == 1 else f"All {self.claim_count:,} claims were"

    @property
    def _all_supported(self) -> str:
        return "it is supported" if self.checked_count == 1 else "all of these are supported"

    @property
    def worst_word(self) -> str:
        """Names the worst claim for what it is."""
        return "the worst" if self.unsupported_count or self.partial_count else "the least certain"


def left_out(unchecked_count: int, claim_count: int) -> str:
    """Says how many claims were not checked; empty when all were."""
    return f"{unchecked_count:,} of {claim_count:,} claims not checked" if unchecked_count else ""


def verdict_of(result: pb.JudgeResult) -> ClaimVerdict:
    """Sums up a judgement whose evidence is there."""
    claims, omitted = result.evidence.claims, result.evidence.omitted_claim_count
    counts = label_counts(claims)
    worst = min(range(len(claims)), key=lambda at: claims[at].probability, default=None)
    return ClaimVerdict(
        claim_count=len(claims) + omitted,
        unchecked_count=omitted,
        unsupported_count=counts["unsupported"],
        partial_count=counts["partial"],
        worst=None if worst is None else worst + 1,
        worst_score=None if worst is None else BEST_SCORE * claims[worst].probability,
        reads_nothing=any(one.status == pb.JUDGE_METRIC_STATUS_NO_CLAIMS for _, one in metrics_of(result)),
    )


def sentence(verdict: ClaimVerdict) -> str:
    """Writes the verdict as one sentence of plain text."""
    if verdict.worst_score is None:
        return f"{verdict.said}."
    return f"{verdict.said}; {verdict.worst_word} is claim {verdict.worst} with {verdict.worst_score:.2f} of 10."


def doubtful(claims: Iterable[evidence_pb2.Claim]) -> list[tuple[int, evidence_pb2.Claim]]:
    """Lists the claims that are not supported with their numbers, the worst first."""
    found = [(number, claim) for number, claim in enumerate(claims, start=1) if not is_supported(claim)]
    return sorted(found, key=lambda numbered: numbered[1].probability)


def differing(claims: Iterable[evidence_pb2.Claim]) -> list[tuple[int, evidence_pb2.Claim]]:
    """Lists the claims that are supported as a whole though the source has another number, date or name in a place."""
    return [
        (number, claim)
        for number, claim in enumerate(claims, start=1)
        if is_supported(claim) and any(mismatch.HasField("source") for mismatch in claim.mismatches)
    ]


def mean_of(result: pb.JudgeResult) -> float | None:
    """Returns the mean score of all frameworks; None when no score counts."""
    means = [framework.mean_score for framework in result.frameworks if framework.HasField("mean_score")]
    return sum(means) / len(means) if means else None


def badness_of(result: pb.JudgeResult, *, is_breached: bool) -> float:
    """Ranks items: those under a limit before all others, then by mean score; without any score is as bad as 0."""
    return BEST_SCORE - (mean_of(result) or 0.0) + (BEST_SCORE if is_breached else 0.0)
