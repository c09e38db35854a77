"""Hallucination: the claims counted by label, and the fraction of them that the source does not support.

In Judge-Lock the score is multiplied with the precision of the claim questions. Other metrics cite the same counts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from operator import attrgetter
from typing import NamedTuple, Self

from pipeline.judge.citation import cite, cite_first, count, sentences
from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.exact import HALF, guarded_mean, half_up
from pipeline.judge.locks.caps import LockRules, RawScore, cap_at
from pipeline.judge.locks.questions import QuestionScores
from pipeline.judge.result import Cap, Input, Json, MetricName, MetricStatus
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel

LISTED = 10
"""Claims that a lock lists. All are checked and counted."""

_WORST_FIRST = (ClaimLabel.UNSUPPORTED, ClaimLabel.PARTIAL, ClaimLabel.SUPPORTED)


def claim_inputs(table: EvidenceTable) -> dict[str, Input]:
    """Returns the counts of the formula."""
    counts = ClaimCounts.of(table.claims)
    return {
        "total_claims": counts.total + table.omitted_claim_count,
        "checked_claims": counts.total,
        "listed_claims": min(counts.total, LISTED),
        "supported": counts.supported,
        "partial": counts.partial,
        "unsupported": counts.unsupported,
        "raising_supported": counts.raising.supported,
        "raising_partial": counts.raising.partial,
        "raising_unsupported": counts.raising.unsupported,
        "unsupported_fraction": float(counts.unsupported_fraction),
    }


def listed_claims(claims: Sequence[Claim]) -> list[Claim]:
    """Returns the claims that are listed: the worst first, then by position."""
    return sorted(claims, key=lambda claim: _WORST_FIRST.index(claim.label))[:LISTED]


def claim_evidence(claims: Sequence[Claim]) -> tuple[TextSpan, ...]:
    """Returns each claim with the sentence of the source that it is compared with."""
    return tuple(place for claim in claims for place in (claim.passage, claim.support) if place is not None)


def claim_list(claims: Sequence[Claim]) -> list[Json]:
    """Returns the claims as JSON."""
    return [
        {
            "claim": claim.passage.text,
            "label": claim.label.value.capitalize(),
            "entailment": claim.entailment,
            "contradiction": claim.contradiction,
            "mismatches": [mismatch.kind.value for mismatch in claim.mismatches],
            "source": claim.premise.text if claim.premise else None,
        }
        for claim in claims
    ]


def claim_sentence(claims: Sequence[Claim]) -> str:
    """Says how many claims hold, and shows the worst with what the source has instead."""
    if not claims:
        return "The summary states nothing that could be checked."
    counts = ClaimCounts.of(claims)
    partial = f", {counts.partial} in part" if counts.partial else ""
    unsupported = f", {counts.unsupported} not at all" if counts.unsupported else ""
    supported = f"The source supports {counts.supported} of {count(counts.total, 'claim')}"
    labels = f"{supported}{partial}{unsupported}"
    return sentences((f"{labels} (u = {float(counts.unsupported_fraction):.2f}).", _worst(claims)))


def _worst(claims: Sequence[Claim]) -> str:
    """Cites the first of the worst claims; empty when all are supported."""
    claim = min(claims, key=lambda claim: _WORST_FIRST.index(claim.label))
    if claim.label is ClaimLabel.SUPPORTED:
        return ""
    place = claim.support
    kinds = sorted({mismatch.kind.value for mismatch in claim.mismatches})
    differing = f"; it differs in {', '.join(kinds)}" if kinds else ""
    beside = f" The source has {cite(place)}{differing}." if place else ""
    return f"{claim.label.value.capitalize()}: {cite(claim.passage)}.{beside}"


class HallucinationSeverity(StrEnum):
    """Band of the unsupported fraction u: below 0.25, below 0.5, the rest."""

    MINOR = "minor"
    MODERATE = "moderate"
    SEVERE = "severe"


MODERATE_FROM, SEVERE_FROM = Fraction(1, 4), Fraction(1, 2)


VALUES: Mapping[ClaimLabel, Fraction] = {
    ClaimLabel.SUPPORTED: Fraction(1),
    ClaimLabel.PARTIAL: HALF,
    ClaimLabel.UNSUPPORTED: Fraction(0),
}


class LabelCounts(NamedTuple):
    """Numbers of claims by label."""

    supported: int
    partial: int
    unsupported: int

    @classmethod
    def of(cls, claims: Iterable[Claim]) -> Self:
        """Counts claims."""
        labels = Counter(claim.label for claim in claims)
        return cls(*(labels[label] for label in ClaimLabel))


@dataclass(frozen=True, slots=True)
class ClaimCounts:
    """What the labels of the claims come to.

    Attributes:
        all: counts of every claim.
        raising: counts of those that may raise a score.
        unsupported_fraction: u = 1 - the guarded mean of the labels (1, 1/2, 0), in [0, 1]; 0 without claims.
    """

    all: LabelCounts
    raising: LabelCounts
    unsupported_fraction: Fraction

    @classmethod
    def of(cls, claims: Sequence[Claim]) -> Self:
        """Counts the claims of a table."""
        values, may_raise = [VALUES[claim.label] for claim in claims], [claim.may_raise for claim in claims]
        supported = guarded_mean(values, [Fraction(1)] * len(claims), may_raise) if claims else Fraction(1)
        return cls(LabelCounts.of(claims), LabelCounts.of(filter(attrgetter("may_raise"), claims)), 1 - supported)

    @property
    def supported(self) -> int:
        """Supported claims."""
        return self.all.supported

    @property
    def partial(self) -> int:
        """Claims that are supported in part."""
        return self.all.partial

    @property
    def unsupported(self) -> int:
        """Claims without support."""
        return self.all.unsupported

    @property
    def total(self) -> int:
        """All claims."""
        return sum(self.all)

    @property
    def severity(self) -> HallucinationSeverity:
        """A band holds its lower edge: u = 0.25 is moderate, u = 0.5 severe."""
        if self.unsupported_fraction >= SEVERE_FROM:
            return HallucinationSeverity.SEVERE
        if self.unsupported_fraction >= MODERATE_FROM:
            return HallucinationSeverity.MODERATE
        return HallucinationSeverity.MINOR


def unsupported_passages(claims: Sequence[Claim]) -> tuple[TextSpan, ...]:
    """Returns where the unsupported claims stand in the summary."""
    return tuple(claim.passage for claim in claims if claim.label is ClaimLabel.UNSUPPORTED)


def extraneous_caps(claims: Sequence[Claim], limit: int | None) -> tuple[Cap, ...]:
    """Returns the cap of a summary that makes an unsupported claim; empty for one that makes none."""
    passages = unsupported_passages(claims)
    if not passages:
        return ()
    reason = f"{count(len(passages), 'claim')} not backed by the source: {cite_first(passages)}."
    return cap_at(limit, "extraneous_claim", reason)


HIGHEST, FALL = 10, 14


def score_of_counts(counts: ClaimCounts, rules: LockRules) -> Fraction:
    """Returns max(0, 10 - half_up(14 u)); with an unsupported claim Judge-Lock has max(0, 4 - half_up(4 u))."""
    highest, fall = HIGHEST, FALL
    if counts.unsupported and rules.unsupported_hallucination is not None:
        highest = fall = rules.unsupported_hallucination
    return max(Fraction(0), highest - half_up(fall * counts.unsupported_fraction))


def score_hallucination(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores the labels of the claims, times the mean of the questions about them where there are any.

    Without claims the score is the best, with a status of its own.
    """
    counts = ClaimCounts.of(table.claims)
    questions = QuestionScores.of(table.claim_questions, table.question_author, rules)
    raw, accuracy = score_of_counts(counts, rules), questions.accuracy
    listed = listed_claims(table.claims)
    inputs: dict[str, Input] = claim_inputs(table)
    if rules.reads_questions:
        inputs |= {"severity": counts.severity.value, "raw": float(raw), **questions.inputs("question_precision")}
    return RawScore(
        MetricName.HALLUCINATION,
        raw if accuracy is None else raw * accuracy,
        reason=sentences((claim_sentence(table.claims), questions.sentence("source") if counts.total else "")),
        evidence=(*claim_evidence(listed), *questions.evidence),
        inputs=inputs,
        lists={"claims": claim_list(listed), **questions.lists},
        status=MetricStatus.SCORED if counts.total else MetricStatus.NO_CLAIMS,
        is_whole=not rules.reads_questions,  # which it is multiplied with
    )
