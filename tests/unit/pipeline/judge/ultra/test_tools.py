"""What the tools of Ultra measure, and the caps that follow."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.evidence.table import (
    Claim,
    ClaimMismatch,
    EvidenceTable,
    KeyPointCoverage,
    MismatchKind,
    SummarySegment,
)
from pipeline.judge.exact import apply_caps
from pipeline.judge.result import Cap, MetricName
from pipeline.judge.ultra.score import caps_of, support_limit
from pipeline.judge.ultra.tools import certainty, contradicted, measure, unsupported_share
from pipeline.support.claim_support import ClaimLabel
from tests.unit.pipeline.judge.tables import P, S, U, claims, key_points, place, segments, table

SHARES = st.floats(0, 1)
FILLERS = st.lists(st.tuples(SHARES, st.floats(-1, 1), st.integers(0, 9)), max_size=3)


def relevance(*made: SummarySegment) -> dict[str, float]:
    view = replace(table(), segments=made)
    return {tool.name: tool.score for tool in measure(view, MetricName.RELEVANCE)}


def filler(containment: float, cosine: float, words: int) -> SummarySegment:
    (made,) = segments(containment)
    return replace(made, theme_cosine=cosine, content_token_count=words, may_raise=False)


@given(SHARES, FILLERS, st.tuples(SHARES, st.floats(-1, 1), st.integers(0, 9)))
def test_filler_never_raises_relevance(
    containment: float, others: list[tuple[float, float, int]], more: tuple[float, float, int]
) -> None:
    made = [*segments(containment, 0.8), *(filler(*one) for one in others)]
    before, after = relevance(*made), relevance(*made, filler(*more))
    assert all(after[name] <= before[name] + 1e-12 for name in before)


def test_a_segment_of_nothing_counts_in_full_and_one_as_good_as_the_others_not_at_all() -> None:
    good = segments(0.6)
    worthless, as_good = filler(0.0, 0.0, 5), filler(0.6, 0.5, 5)
    assert relevance(*good, worthless)["containment"] == 1 + 4 * 0.3
    assert relevance(*good, worthless)["theme"] == 1 + 4 * 0.25
    assert relevance(*good, as_good) == relevance(*good)


def test_without_any_grounded_segment_the_worst_one_stands_for_all() -> None:
    assert relevance(filler(0.2, 0.1, 5), filler(0.4, 0.3, 5))["containment"] == 1 + 4 * 0.2


CLAIMS = st.lists(st.tuples(SHARES, st.booleans()), max_size=4)


@given(CLAIMS, SHARES)
def test_an_ungrounded_claim_never_lowers_the_unsupported_share_and_never_raises_the_certainty(
    first: list[tuple[float, bool]], more: float
) -> None:
    claims_of = [
        replace(claim, sentence_index=at, probability=probability, may_raise=may_raise)
        for at, (probability, may_raise) in enumerate([*first, (more, False)])
        for claim in claims(S)
    ]
    assert unsupported_share(claims_of) >= unsupported_share(claims_of[:-1]) - 1e-12
    assert certainty(claims_of) <= certainty(claims_of[:-1]) + 1e-12


@pytest.mark.parametrize("label", [S, P, U])
@given(SHARES, SHARES, st.integers(1, 40))
def test_what_is_said_in_many_ways_raises_nothing_more_than_said_once(
    label: ClaimLabel, other: float, said: float, times: int
) -> None:
    def said_in(times: int) -> EvidenceTable:
        first, *made = claims(S, *[label] * times)
        ways = [replace(claim, probability=said, may_raise=not at) for at, claim in enumerate(made)]
        parts = [replace(segment, may_raise=not at) for at, segment in enumerate(segments(*[said] * times))]
        whole = (replace(first, probability=other), *ways)
        return table(made_claims=whole, made_segments=(*segments(other), *parts))

    once, often = said_in(1), said_in(times)
    assert unsupported_share(often.claims) >= unsupported_share(once.claims) - 1e-12
    assert certainty(often.claims) <= certainty(once.claims) + 1e-12
    for new, old in zip(measure(often, MetricName.RELEVANCE), measure(once, MetricName.RELEVANCE), strict=True):
        assert new.score <= old.score + 1e-12


def test_a_detail_that_a_label_forgives_counts_in_coverage() -> None:
    def recall(covered: float) -> float:
        view = table(
            points=tuple(replace(point, covered_share=covered) for point in key_points(KeyPointCoverage.FULLY))
        )
        return {tool.name: tool.score for tool in measure(view, MetricName.COVERAGE)}["key_point_recall"]

    assert (recall(0.5), recall(0.8), recall(1.0)) == pytest.approx((3, 4.2, 5))


MISMATCH = ClaimMismatch(MismatchKind.NUMBER, place("summary", 0, "12"), place("source", 0, "21"))


def claims_at(*supports: float) -> list[Claim]:
    return [replace(claims(S)[0], probability=support, sentence_index=at) for at, support in enumerate(supports)]


def capped(score: int, metric: MetricName, made: list[Claim]) -> tuple[float, tuple[Cap, ...]]:
    value, caps = apply_caps(Fraction(score), caps_of(metric, made, contradiction_limit=4.0))
    return float(value), caps


@pytest.mark.parametrize(("unsupported", "limit"), [(0.0, 10.0), (0.5, 4.75), (1.0, 3.0), (0.1, 8.67)])
def test_the_limit_by_hand(unsupported: float, limit: float) -> None:
    assert support_limit(unsupported) == pytest.approx(limit)


def test_unsupported_statements_limit_coverage_and_relevance_alone() -> None:
    half = claims_at(1.0, 0.0)
    for metric in MetricName:
        score, caps = capped(9, metric, half)
        is_limited = metric in {MetricName.COVERAGE, MetricName.RELEVANCE}
        assert score == (4.75 if is_limited else 9.0)
        assert [cap.name for cap in caps] == (["unsupported_share"] if is_limited else [])


def test_a_verified_contradiction_limits_hallucination_too() -> None:
    refuted = replace(claims_at(0.1)[0], contradiction=0.9, entailment=0.0, mismatches=(MISMATCH,))
    score, caps = capped(9, MetricName.HALLUCINATION, [refuted, *claims_at(1.0)])
    assert (score, caps[0].name, caps[0].lowered) == (4.0, "verified_contradiction", True)
    assert '"support 0" (source' in caps[0].reason


def test_a_cap_that_changes_nothing_is_reported_as_such() -> None:
    score, caps = capped(2, MetricName.COVERAGE, claims_at(1.0, 0.0))
    assert (score, caps[0].lowered) == (2.0, False)


def test_without_claims_nothing_is_unsupported() -> None:
    assert unsupported_share(()) == 0


@pytest.mark.parametrize(
    ("contradiction", "mismatches", "probability", "expected"),
    [
        (0.9, (MISMATCH,), 0.1, True),
        (0.9, (), 0.1, False),  # NLI alone
        (0.1, (MISMATCH,), 0.1, False),  # words alone
        (0.9, (MISMATCH,), 0.6, False),  # other evidence speaks for the claim
        (0.9, (replace(MISMATCH, source=None),), 0.1, False),  # nothing stands in its place
    ],
)
def test_a_contradiction_needs_two_witnesses(
    contradiction: float, mismatches: tuple[ClaimMismatch, ...], probability: float, *, expected: bool
) -> None:
    claim = replace(claims(U)[0], contradiction=contradiction, mismatches=mismatches, probability=probability)
    assert bool(contradicted([claim])) is expected
