"""--fail-under and --max-unsupported: what is read, and what they stop."""

import pytest
from precis.v1 import judge_pb2 as pb

from server.cli.commands.judge import Floor, FrameworkChoice, JudgeOptions, parse_floor
from server.cli.errors import InputError
from server.cli.judge.names import breaches_of, flat_scores
from tests.judgements import judgement


@pytest.mark.parametrize(
    ("text", "floor"),
    [
        ("hallucination=7", Floor("hallucination", 7.0)),
        ("coverage=0", Floor("coverage", 0.0)),
        ("bias_toxicity=9.5", Floor("bias-toxicity", 9.5)),
        ("ultra:Bias-Toxicity=10", Floor("bias-toxicity", 10.0, FrameworkChoice.ULTRA)),
        ("worst_claim=3", Floor("worst-claim", 3.0)),
        ("ultra_hallucination=7", Floor("hallucination", 7.0, FrameworkChoice.ULTRA)),
        ("judge_lock_bias_toxicity=7", Floor("bias-toxicity", 7.0, FrameworkChoice.JUDGE_LOCK)),
        ("TWIN_LOCK:relevance=4", Floor("relevance", 4.0, FrameworkChoice.TWIN_LOCK)),
    ],
)
def test_a_floor_is_read(text: str, floor: Floor) -> None:
    assert parse_floor(text) == floor


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hallucination", "expected METRIC=SCORE"),
        ("hallucinations=7", "no such score: hallucinations; there are coverage, alignment.*behind twin-lock:, judge"),
        ("=7", "no such score: none"),
        (":coverage=7", "no such score: :coverage"),
        ("mega:coverage=7", "no such score: mega:coverage"),
        ("ultra:worst-claim=3", "no such score: ultra:worst-claim"),
        ("coverage=", "got nothing"),
        ("coverage=11", "from 0 to 10, got 11"),
        ("coverage=-1", "from 0 to 10"),
        ("coverage=nan", "from 0 to 10, got nan"),
        ("coverage=good", "from 0 to 10, got good"),
    ],
)
def test_what_is_no_floor_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_floor(text)


def test_a_framework_that_does_not_judge_has_no_floor() -> None:
    assert len(JudgeOptions([FrameworkChoice.ULTRA], ["ultra:coverage=5"]).floors) == 1
    with pytest.raises(InputError, match="names ultra"):
        _ = JudgeOptions([FrameworkChoice.TWIN_LOCK], ["ultra:coverage=5"]).floors


def test_ultra_judges_unless_others_are_named_and_those_that_a_floor_names() -> None:
    twin, ultra = FrameworkChoice.TWIN_LOCK, FrameworkChoice.ULTRA
    floors = ["coverage=5", "twin-lock:coverage=5"]
    assert JudgeOptions().frameworks == (ultra,)
    assert JudgeOptions(None, floors).frameworks == (twin, ultra)
    assert JudgeOptions([twin, twin], floors).frameworks == (twin,)


def said(text: str, result: pb.JudgeResult) -> list[str]:
    return breaches_of(result, [parse_floor(text)])


def test_a_floor_without_a_framework_is_for_all() -> None:
    assert said("hallucination=3", judgement()) == ["judge-lock hallucination 1.67 < 3"]
    assert said("twin-lock:hallucination=3.01", judgement()) == ["twin-lock hallucination 3.00 < 3.01"]


def test_a_score_that_does_not_count_does_not_pass() -> None:
    assert said("relevance=0", judgement()) == ["judge-lock relevance has no score that counts (error)"]
    assert said("ultra:alignment=1", judgement()) == ["ultra alignment has no score that counts (abstained)"]


def test_a_summary_without_claims_hallucinates_nothing() -> None:
    result = judgement()
    metric = result.frameworks[0].metrics[2]
    metric.status, metric.score = pb.JUDGE_METRIC_STATUS_NO_CLAIMS, 10.0
    assert said("twin-lock:hallucination=10", result) == []


def unsupported(most: int, result: pb.JudgeResult) -> list[str]:
    return breaches_of(result, JudgeOptions(max_unsupported=most).floors)


def test_the_worst_claim_has_a_floor_of_its_own() -> None:
    assert said("worst-claim=0.2", judgement()) == []
    assert said("worst-claim=3", judgement()) == ["the worst claim has 0.20 of 10, expected 3"]


def test_claims_that_are_not_supported_or_not_checked_are_counted() -> None:
    result = judgement()
    assert unsupported(1, result) == []
    assert unsupported(0, result) == ["claims not supported or not checked: 1, expected at most 0"]
    result.claim_count += 4
    assert unsupported(1, result) == ["claims not supported or not checked: 5, expected at most 1"]


def test_where_no_claim_was_checked_no_limit_is_kept() -> None:
    for breaches in (said("worst-claim=0", pb.JudgeResult()), unsupported(0, pb.JudgeResult())):
        assert len(breaches) == 1
        assert "no claim was checked" in breaches[0]


def test_each_score_has_one_flat_name() -> None:
    scores = flat_scores(judgement())
    assert (scores["worst_claim"], scores["unsupported_claims"]) == (0.2, 1)
    assert (scores["twin_lock_hallucination"], scores["ultra_alignment"]) == (3.0, None)
    assert not any(isinstance(score, dict) for score in scores.values())
