"""Twin-Lock by hand: every formula, every edge, every cap."""

from fractions import Fraction
from typing import Unpack

import pytest

from pipeline.judge.config import LockConfig
from pipeline.judge.evidence.table import KeyPointCoverage
from pipeline.judge.locks.caps import TWIN_LOCK, RelevanceMode
from pipeline.judge.locks.hallucination import ClaimCounts, score_of_counts
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import Framework, FrameworkResult, MetricName, MetricStatus
from pipeline.support.claim_support import ClaimLabel
from tests.unit.pipeline.judge.tables import (
    FULLY,
    NOT,
    PARTLY,
    P,
    Parts,
    S,
    U,
    cap_names,
    claims,
    drifting,
    key_points,
    segments,
    table,
)

COVERAGE, ALIGNMENT, HALLUCINATION, RELEVANCE, BIAS = MetricName


def twin(config: LockConfig | None = None, **changes: Unpack[Parts]) -> FrameworkResult:
    return score_lock(table(**changes), (config or LockConfig()).rules_of(Framework.TWIN_LOCK))


def test_a_perfect_summary_scores_ten_everywhere_in_the_strict_order() -> None:
    result = twin()
    assert result.framework is Framework.TWIN_LOCK
    assert [(metric.name, metric.score) for metric in result.metrics] == [(name, 10.0) for name in MetricName]
    assert list(result.objects) == list(MetricName)
    order = ["coverage", "alignment", "hallucination", "relevance", "bias_toxicity"]
    assert [metric.name.value for metric in result.metrics] == order
    assert result.mean_score == 10


@pytest.mark.parametrize(
    ("covered", "score", "recall"),
    [
        ((FULLY, FULLY, FULLY), 10.0, 1.0),
        ((FULLY, FULLY, NOT), 8.0, 2 / 3),  # F1 of precision 1 and recall 2/3
        ((FULLY, PARTLY, NOT), 6.67, 0.5),  # recall 1/2: F1 2/3
        ((PARTLY, PARTLY, PARTLY, PARTLY), 6.67, 0.5),
        ((FULLY, PARTLY, PARTLY, NOT, NOT, NOT, NOT), 4.44, 2 / 7),  # F1 4/9
        ((NOT, NOT, NOT), 0.0, 0.0),
    ],
)
def test_coverage_is_f1_of_precision_and_recall(
    covered: tuple[KeyPointCoverage, ...], score: float, recall: float
) -> None:
    metric = twin(points=key_points(*covered))[COVERAGE]
    assert metric.score == score
    assert metric.inputs["recall"] == pytest.approx(recall)
    assert metric.inputs["precision"] == 1
    assert metric.caps == ()


def test_extraneous_tokens_lower_precision_and_an_unsupported_claim_caps_coverage_at_four() -> None:
    metric = twin(made_claims=claims(S, S, S, U))[COVERAGE]
    assert (metric.inputs["extraneous_tokens"], metric.inputs["total_summary_tokens"]) == (10, 40)
    assert metric.inputs["precision"] == 0.75
    assert metric.inputs["f1"] == pytest.approx(6 / 7)
    assert metric.inputs["uncapped_score"] == pytest.approx(60 / 7)
    assert metric.score == 4
    assert [(cap.name, cap.limit, cap.lowered) for cap in metric.caps] == [
        ("extraneous_claim", 4, True),
        ("hallucination", 4, False),  # the global cap holds too, and finds nothing left to lower
    ]
    assert metric.evidence[0].text == "claim 3"


def test_a_cap_never_raises_a_score() -> None:
    metric = twin(points=key_points(PARTLY, NOT, NOT), made_claims=claims(S, U))[COVERAGE]
    assert metric.score == 2.5  # F1 of precision 1/2 and recall 1/6
    assert [cap.lowered for cap in metric.caps] == [False, False]


@pytest.mark.parametrize(
    ("u", "score"),
    [
        (Fraction(0), 10),
        (Fraction(1, 20), 9),  # .7 -> 1
        (Fraction(1, 28), 9),  # exactly .5 -> 1
        (Fraction(1, 10), 9),  # 1.4 -> 1
        (Fraction(1, 4), 6),  # 3.5 -> 4; half to even would agree
        (Fraction(5, 28), 7),  # 2.5 -> 3; half to even would give 2
        (Fraction(1, 2), 3),
        (Fraction(3, 4), 0),  # 10.5 -> 11, below 0
        (Fraction(1), 0),
    ],
)
def test_hallucination_rounds_fourteen_u_half_up(u: Fraction, score: int) -> None:
    counts = ClaimCounts.of(claims(*[S] * (u.denominator - u.numerator), *[U] * u.numerator))
    assert score_of_counts(counts, TWIN_LOCK) == score


@pytest.mark.parametrize(
    ("labels", "u", "score"),
    [
        ((S, S, S, S), 0.0, 10),
        ((S, S, S, P), 0.125, 8),  # 1.75 -> 2
        ((S, P), 0.25, 6),
        ((S, U), 0.5, 3),
        ((U, U, U, S), 0.75, 0),
        ((P,) * 10, 0.5, 3),
    ],
)
def test_hallucination_counts_partial_claims_half(labels: tuple[ClaimLabel, ...], u: float, score: int) -> None:
    result = twin(made_claims=claims(*labels))
    metric = result[HALLUCINATION]
    assert (metric.inputs["unsupported_fraction"], metric.score) == (u, score)
    assert metric.inputs["total_claims"] == len(labels)
    assert result.objects[HALLUCINATION]["overall_score"] == score
    assert isinstance(result.objects[HALLUCINATION]["overall_score"], int)


def test_a_summary_without_claims_scores_ten_and_says_so() -> None:
    metric = twin(made_claims=())[HALLUCINATION]
    assert (metric.score, metric.status) == (10, MetricStatus.NO_CLAIMS)
    assert metric.inputs["total_claims"] == 0
    assert metric.reason == "The summary states nothing that could be checked."


@pytest.mark.parametrize(
    ("drift", "score", "band"),
    [
        (0.0, 10.0, "none"),
        (0.001, 8.0, "mild"),  # 7.995, half up
        (0.1, 7.5, "mild"),
        (0.4, 6.0, "mild"),  # both pieces give 6
        (0.41, 5.85, "marked"),
        (0.5, 4.5, "marked"),
        (0.6, 3.0, "severe"),  # both pieces give 3
        (0.61, 2.93, "severe"),  # 2.925
        (0.8, 1.5, "severe"),
        (1.0, 0.0, "severe"),
    ],
)
def test_alignment_falls_with_the_drift_in_three_pieces(drift: float, score: float, band: str) -> None:
    metric = twin(tone=drifting(drift))[ALIGNMENT]
    assert (metric.score, metric.inputs["drift_band"], metric.inputs["drift"]) == (score, band, drift)


@pytest.mark.parametrize(
    ("containments", "score", "capped"),
    [
        ((1.0, 0.8), 10.0, False),
        ((0.8,), 10.0, False),  # a band holds its lower edge
        ((0.79,), 5.0, False),
        ((1.0, 0.5), 7.5, False),
        ((0.3, 0.3), 5.0, False),  # a band holds its lower edge
        ((1.0, 1.0, 0.29), 4.0, True),  # 6.67 without the cap
        ((0.5, 0.29), 2.5, True),  # below the cap by itself
        ((0.0,), 0.0, True),
    ],
)
def test_relevance_is_the_mean_label(containments: tuple[float, ...], score: float, *, capped: bool) -> None:
    metric = twin(made_segments=segments(*containments))[RELEVANCE]
    assert metric.score == score
    assert cap_names(metric) == ["irrelevant_segment"] * capped


def test_relevance_can_read_the_literal_jaccard_and_reports_both() -> None:
    config = LockConfig(relevance_mode=RelevanceMode.JACCARD)
    made = segments(1.0, 1.0, jaccard=0.05)
    assert twin(made_segments=made)[RELEVANCE].score == 10
    result = twin(config, made_segments=made)
    assert (result[RELEVANCE].score, result[RELEVANCE].inputs["relevance_mode"]) == (0, "jaccard")
    shown = result.objects[RELEVANCE]["segments"]
    assert isinstance(shown, list)
    assert shown[0] == {"segment": "segment 0", "label": "None", "containment": 1.0, "jaccard": 0.05}


def test_the_safeguards_of_judge_lock_are_off_unless_asked_for() -> None:
    hallucinated: Parts = {"made_claims": claims(S, U)}
    assert twin(**hallucinated)[ALIGNMENT].score == 10
    strict = twin(LockConfig(twin_safeguards=True), **hallucinated)
    assert (strict[ALIGNMENT].score, cap_names(strict[ALIGNMENT])) == (3, ["severe_hallucination"])
    thin: Parts = {"made_claims": claims(S), "points": key_points(FULLY, FULLY, FULLY)}
    assert {metric.score for metric in twin(**thin).metrics} == {10}
    assert {metric.score for metric in twin(LockConfig(twin_safeguards=True), **thin).metrics} == {9}
