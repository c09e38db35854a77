from dataclasses import replace
from fractions import Fraction

import pytest

from pipeline.judge.evidence.table import Claim, ClaimMismatch, MismatchKind
from pipeline.judge.result import Cap, MetricName, apply_caps
from pipeline.judge.ultra.score import caps_of, support_limit
from pipeline.judge.ultra.tools import contradicted, unsupported_share
from tests.unit.pipeline.judge.tables import S, U, claims, place

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


def test_sentences_count_alike_however_many_claims_they_have() -> None:
    places = ((0, 0.4), (0, 0.8), (1, 1.0))
    made = [replace(claims(S)[0], sentence_index=sentence, probability=support) for sentence, support in places]
    assert unsupported_share(made) == pytest.approx(1 - (0.6 + 1.0) / 2)


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
