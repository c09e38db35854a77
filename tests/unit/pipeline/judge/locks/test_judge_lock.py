"""Judge-Lock by hand: every formula, every edge, every cap."""

from dataclasses import replace
from typing import Unpack

import pytest

from pipeline.judge.config import LockConfig
from pipeline.judge.evidence.table import Claim, KeyPointCoverage, Question
from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import Framework, FrameworkResult, MetricName
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
    place,
    questions,
    segments,
    table,
)

COVERAGE, ALIGNMENT, HALLUCINATION, RELEVANCE, BIAS = MetricName
ALL_RIGHT = questions(1, 1, 1, 1, 1, 1)


def judge(config: LockConfig | None = None, **changes: Unpack[Parts]) -> FrameworkResult:
    return score_lock(table(**changes), (config or LockConfig()).rules_of(Framework.JUDGE_LOCK))


def test_a_perfect_summary_with_enough_evidence_scores_ten() -> None:
    result = judge()
    assert result.framework is Framework.JUDGE_LOCK
    assert [(metric.name, metric.score) for metric in result.metrics] == [(name, 10.0) for name in MetricName]
    assert all(metric.confidence is None for metric in result.metrics)


@pytest.mark.parametrize(
    ("scores", "accuracy", "uncapped", "score"),
    [
        ((1, 1, 1, 1, 1, 1), 1.0, 10.0, 10.0),
        ((1, 1, 1, 1, 1, 0.5), 11 / 12, 220 / 23, 9.57),
        ((1, 1, 1, 1, 0, 0), 2 / 3, 8.0, 8.0),  # four right are enough
        ((1, 1, 1, 0.5, 0.5, 0.5), 3 / 4, 60 / 7, 7.0),  # three are not
        ((1, 0, 0, 0, 0, 0), 1 / 6, 20 / 7, 2.86),
        ((0, 0, 0, 0, 0, 0), 0.0, 0.0, 0.0),
    ],
)
def test_coverage_is_the_harmonic_mean_of_f1_and_question_accuracy(
    scores: tuple[float, ...], accuracy: float, uncapped: float, score: float
) -> None:
    metric = judge(coverage=questions(*scores))[COVERAGE]
    assert metric.inputs["f1"] == 1
    assert metric.inputs["question_accuracy"] == pytest.approx(accuracy)
    assert metric.inputs["uncapped_score"] == pytest.approx(uncapped)
    assert metric.score == score
    assert cap_names(metric) == ["few_correct_questions"] * (scores.count(1) < 4)


@pytest.mark.parametrize(
    ("count", "enough"),
    [(1, 1), (2, 2), (3, 2), (4, 3), (5, 4), (6, 4), (12, 8)],  # 2/3 of them, rounded up
)
def test_four_of_six_is_scaled_to_the_questions_there_are(count: int, enough: int) -> None:
    for right in range(count + 1):
        metric = judge(coverage=questions(*[1.0] * right, *[0.0] * (count - right)))[COVERAGE]
        assert cap_names(metric) == ["few_correct_questions"] * (right < enough)


@pytest.mark.parametrize("count", range(1, 7))
def test_six_or_fewer_read_literally_caps_everything(count: int) -> None:
    metric = judge(LockConfig(correct_questions_needed=7), coverage=questions(*[1.0] * count))[COVERAGE]
    assert (metric.score, cap_names(metric)) == (7, ["few_correct_questions"])


def test_without_questions_f1_stands_alone_and_the_reason_says_that_nothing_was_measured() -> None:
    metric = judge(coverage=())[COVERAGE]
    assert (metric.inputs["uncapped_score"], metric.score) == (10, 10)
    assert "is not measured" in metric.reason
    assert "question_accuracy" not in metric.inputs
    assert judge(coverage=())[RELEVANCE].score == 10


def with_duplicate(asked: tuple[Question, ...], shared: int) -> tuple[Question, ...]:
    """Gives the second question an answer of 4 characters, `shared` of them in the first one's."""
    first, second, *rest = asked
    start = first.answer_span.start
    spans = [replace(first.answer_span, start=at, end=at + 4) for at in (start, start + 4 - shared)]
    return (replace(first, answer_span=spans[0]), replace(second, answer_span=spans[1]), *rest)


@pytest.mark.parametrize("side", ["source", "summary"])
def test_any_question_with_duplicate_spans_caps_coverage_hallucination_and_relevance_at_seven(side: str) -> None:
    asked = with_duplicate(questions(*[1] * 6, side=side), 3)  # intersection over union .6
    parts: Parts = {"coverage": asked} if side == "source" else {"about_claims": asked}
    result = judge(**parts)
    assert [metric.score for metric in result.metrics] == [7, 10, 7, 7, 10]
    capped = ["duplicate_question_spans"]
    assert [cap_names(metric) for metric in result.metrics] == [capped, [], capped, capped, []]
    own = result[COVERAGE] if side == "source" else result[HALLUCINATION]
    assert own.inputs["duplicate_question_spans"] == 1


def test_spans_are_duplicates_from_one_half_on_and_two_questions_about_one_fact_are_none() -> None:
    half = replace(ALL_RIGHT[1], answer_span=replace(ALL_RIGHT[0].answer_span, end=ALL_RIGHT[0].answer_span.start + 1))
    assert judge(coverage=(ALL_RIGHT[0], half, *ALL_RIGHT[2:]))[COVERAGE].score == 7  # 1 of 2 characters
    assert judge(coverage=with_duplicate(ALL_RIGHT, 2))[COVERAGE].score == 10  # 2 of 6
    same_fact = tuple(replace(question, fact=ALL_RIGHT[0].fact) for question in ALL_RIGHT)
    assert judge(coverage=same_fact)[COVERAGE].score == 10


def test_key_points_shorter_than_six_tokens_are_said_to_be() -> None:
    said = "No sentence of the source has 6 words, so its key points are shorter."
    points = key_points(*[FULLY] * 5)
    assert said not in judge(points=points)[COVERAGE].reason
    short = [replace(point, token_count=5) for point in points]
    assert said in judge(points=short)[COVERAGE].reason
    assert said not in score_lock(table(points=short), TWIN_LOCK)[COVERAGE].reason


@pytest.mark.parametrize(
    ("covered", "recall", "score", "capped"),
    [
        ((FULLY,) * 5, 1.0, 10.0, False),
        ((FULLY, FULLY, FULLY, FULLY, PARTLY), 0.9, 9.73, False),  # "recall < .90" spares exactly .90; F1 18/19
        ((FULLY, FULLY, FULLY, PARTLY), 0.875, 7.0, True),
        ((FULLY, FULLY, NOT, NOT, NOT, NOT), 1 / 3, 6.67, True),  # F1 1/2, below the cap by itself
    ],
)
def test_low_recall_caps_coverage_at_seven(
    covered: tuple[KeyPointCoverage, ...], recall: float, score: float, *, capped: bool
) -> None:
    metric = judge(points=key_points(*covered))[COVERAGE]
    assert metric.inputs["recall"] == pytest.approx(recall)
    assert cap_names(metric) == ["low_recall"] * capped
    assert metric.score == score


def test_an_extraneous_claim_caps_coverage_and_relevance_at_three() -> None:
    result = judge(made_claims=claims(*[S] * 9, U))
    coverage, relevance = result[COVERAGE], result[RELEVANCE]
    assert (coverage.score, relevance.score) == (3, 3)
    assert cap_names(coverage) == ["extraneous_claim", "low_precision", "hallucination"]
    assert [cap.limit for cap in coverage.caps] == [3, 7, 3]
    assert cap_names(relevance) == ["extraneous_claim", "hallucination"]


@pytest.mark.parametrize(
    ("labels", "u", "severity", "raw"),
    [
        ((S, S, S, S), 0.0, "minor", 10),
        ((S, S, S, P), 0.125, "minor", 8),
        ((S, P), 0.25, "moderate", 6),  # "Moderate 0.25-0.49": the edge is moderate; 3.5 -> 4
        ((S, S, S, U), 0.25, "moderate", 3),  # 4 - 1
        ((P, P, P, S), 0.375, "moderate", 5),  # 5.25 -> 5
        ((S, U, U, P, S), 0.5, "severe", 2),  # "Severe >= 0.5"
        ((P, P), 0.5, "severe", 3),
        ((S, S, S, S, S, S, S, U), 0.125, "minor", 3),  # 4 x .125 = .5 -> 1
        ((U, U, U, P), 0.875, "severe", 0),  # 3.5 -> 4
        ((U,), 1.0, "severe", 0),
    ],
)
def test_hallucination_has_two_scales_and_three_severities(
    labels: tuple[ClaimLabel, ...], u: float, severity: str, raw: int
) -> None:
    metric = judge(made_claims=claims(*labels))[HALLUCINATION]
    assert metric.inputs["unsupported_fraction"] == u
    assert (metric.inputs["severity"], metric.inputs["raw"], metric.score) == (severity, raw, raw)


@pytest.mark.parametrize(
    ("scores", "score"),
    [((1, 1, 1, 1, 1, 1), 8.0), ((1, 1, 1, 1, 1, 0.5), 7.33), ((1, 0.5, 0, 0, 0, 0), 2.0), ((0,) * 6, 0.0), ((), 6.2)],
)
def test_hallucination_is_multiplied_with_question_precision(scores: tuple[float, ...], score: float) -> None:
    metric = judge(made_claims=claims(S, S, S, P), about_claims=questions(*scores, side="summary"))[HALLUCINATION]
    assert (metric.inputs["raw"], metric.score) == (8, score)
    assert ("expected_precision" in metric.inputs) is not bool(scores)  # the mean probability of the claims, .775


@pytest.mark.parametrize(
    ("labels", "score", "capped"),
    [((S, S, S, U), 7.5, False), ((S, S, U, P, U), 3.0, True), ((P, P), 3.0, True), ((S, P), 7.5, False)],
)
def test_severe_hallucination_caps_alignment_at_three(
    labels: tuple[ClaimLabel, ...], score: float, *, capped: bool
) -> None:
    metric = judge(made_claims=claims(*labels), tone=drifting(0.1))[ALIGNMENT]
    assert metric.score == score
    assert cap_names(metric) == ["severe_hallucination"] * capped


@pytest.mark.parametrize(
    ("containments", "scores", "score", "caps"),
    [
        ((1.0, 1.0), (1,) * 6, 10.0, []),
        ((1.0, 0.5), (1,) * 6, 7.88, []),  # overlap .65: 1.3 / 1.65
        ((0.5, 0.5), (1,) * 6, 4.62, []),  # overlap .3: .6 / 1.3
        ((1.0, 1.0), (1, 1, 1, 0, 0, 0), 6.67, []),
        ((1.0, 1.0, 1.0, 0.1), (1,) * 6, 3.0, ["irrelevant_segment"]),
        ((1.0,), (0,) * 6, 0.0, []),
    ],
)
def test_relevance_is_the_harmonic_mean_of_overlap_and_question_accuracy(
    containments: tuple[float, ...], scores: tuple[float, ...], score: float, caps: list[str]
) -> None:
    metric = judge(made_segments=segments(*containments), coverage=questions(*scores))[RELEVANCE]
    assert (metric.score, cap_names(metric)) == (score, caps)


def certain(count: int) -> tuple[Claim, ...]:
    return tuple(replace(claim, probability=1.0) for claim in claims(*[S] * count))


def test_perfection_on_fewer_than_five_sentences_of_the_source_is_nine_at_most() -> None:
    four: Parts = {
        "points": key_points(FULLY, FULLY),
        "made_claims": certain(2),
        "coverage": tuple(
            replace(question, fact=place("source", index % 4), answer_span=place("source", index % 4))
            for index, question in enumerate(ALL_RIGHT)
        ),
    }
    result = judge(LockConfig(correct_questions_needed=0), **four)
    assert result[COVERAGE].score == 7  # duplicate spans: not all are near-perfect
    assert result[ALIGNMENT].score == 10
    thin: Parts = {**four, "coverage": (), "about_claims": ()}
    guarded = judge(LockConfig(correct_questions_needed=0), **thin)
    assert [metric.score for metric in guarded.metrics] == [9] * 5
    assert {cap_names(metric)[-1] for metric in guarded.metrics} == {"perfect_guard"}
    enough: Parts = {**thin, "made_claims": certain(5)}
    assert judge(LockConfig(correct_questions_needed=0), **enough)[COVERAGE].score == 10


def test_one_score_below_nine_and_a_half_lifts_the_guard() -> None:
    thin: Parts = {"points": key_points(FULLY), "made_claims": certain(1), "coverage": (), "about_claims": ()}
    drifted: Parts = {**thin, "tone": drifting(0.1)}
    result = judge(LockConfig(correct_questions_needed=0), **drifted)
    assert [metric.score for metric in result.metrics] == [10, 7.5, 10, 10, 10]


def test_the_author_of_the_questions_is_named() -> None:
    made = replace(table(), question_author="some-model")
    result = score_lock(made, JUDGE_LOCK)
    named = {name for name in MetricName if result[name].inputs.get("question_author") == "some-model"}
    assert named == {COVERAGE, HALLUCINATION, RELEVANCE}
    assert all("question_author" not in result[name].inputs for name in (ALIGNMENT, BIAS))
