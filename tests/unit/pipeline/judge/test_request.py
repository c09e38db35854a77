"""What a request may not ask for, and which requests are the same."""

import math
from dataclasses import replace

import pytest

from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeConfig, JudgeLimits, JudgementCacheConfig
from pipeline.judge.fusion import LogisticMapping, Tool
from pipeline.judge.request import (
    JudgeRequest,
    MetricToolScore,
    check_request,
    hash_request,
    tool_score_notes,
    usable_tool_scores,
)
from pipeline.judge.result import Framework, MetricName
from tests.unit.pipeline.judge.tables import table

COVERAGE, BIAS = MetricName.COVERAGE, MetricName.BIAS_TOXICITY
REQUEST = JudgeRequest("The agency raised fees.", "Fees rose.")
LIMITS = JudgeLimits(max_source_chars=30, max_summary_chars=20, max_tool_scores=3)
PERCENT = LogisticMapping(b1=4, b2=0.1, b3=50, b4=0, b5=3)


def score(value: float, tool: str = "mine", mapping: LogisticMapping | None = None) -> MetricToolScore:
    return MetricToolScore(COVERAGE, tool, value, mapping)


@pytest.mark.parametrize(
    ("request_", "field", "got"),
    [
        (replace(REQUEST, source=""), "source", "only white space"),
        (replace(REQUEST, summary=" \n\t"), "summary", "only white space"),
        *(
            (replace(REQUEST, summary=text), "summary", "none")
            for text in ("...", "\u200b", "😀", "-", "\x00", "\u0301")
        ),
        (replace(REQUEST, source="🙂🙂"), "source", "none"),
        (replace(REQUEST, source="x" * 31), "source", "31 characters"),
        (replace(REQUEST, summary="x" * 21), "summary", "21 characters"),
        (replace(REQUEST, summary="half \ud83d"), "summary", "a lone surrogate at character 5"),
        (replace(REQUEST, tool_scores=(score(3), score(5.01, "b"))), "tool_scores[1].score", "5.01"),
        (replace(REQUEST, tool_scores=(score(0.99),)), "tool_scores[0].score", "0.99"),
        (replace(REQUEST, tool_scores=(score(-math.inf),)), "tool_scores[0].score", "-inf"),
        (replace(REQUEST, tool_scores=(score(math.inf, mapping=PERCENT),)), "tool_scores[0].score", "inf"),
        (replace(REQUEST, tool_scores=(score(3), score(4))), "tool_scores[1].tool", "one again"),
        (replace(REQUEST, tool_scores=(score(3, " "),)), "tool_scores[0].tool", "only white space"),
        (replace(REQUEST, tool_scores=(score(3, "x" * 101),)), "tool_scores[0].tool", "101 characters"),
        (replace(REQUEST, tool_scores=tuple(score(3, str(i)) for i in range(4))), "tool_scores", "4 scores"),
    ],
)
def test_bad_input_is_refused_with_its_field(request_: JudgeRequest, field: str, got: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_request(request_, LIMITS)
    assert (caught.value.field, caught.value.got) == (field, got)


@pytest.mark.parametrize(
    "request_",
    [
        REQUEST,
        replace(REQUEST, source="x", summary="longer than it"),
        replace(REQUEST, source="🙂 1", summary="概要。"),
        replace(REQUEST, source="... ٣", summary="\u200bก็"),
        replace(REQUEST, source="x" * 30, summary="x" * 20, frameworks=tuple(Framework)),
        replace(REQUEST, tool_scores=(score(1), score(5, "b"), replace(score(1), metric=BIAS))),
        replace(REQUEST, tool_scores=(score(99, mapping=PERCENT), score(math.nan, "b"))),
    ],
)
def test_the_rest_is_judged(request_: JudgeRequest) -> None:
    check_request(request_, LIMITS)


def test_tool_scores_are_mapped_and_grouped_and_nan_is_left_out_with_a_note() -> None:
    scores = (score(50, "a", PERCENT), score(math.nan, "b"), score(2, "c"), replace(score(4), metric=BIAS))
    assert usable_tool_scores(scores) == {COVERAGE: [Tool("a", 3.0), Tool("c", 2)], BIAS: [Tool("mine", 4)]}
    assert tool_score_notes(scores) == ("tool_scores[1].score is NaN and was left out",)


def test_frameworks_come_in_their_order_each_once_and_ultra_by_default() -> None:
    assert REQUEST.wanted == (Framework.ULTRA,)
    asked = replace(REQUEST, frameworks=(Framework.ULTRA, Framework.TWIN_LOCK, Framework.ULTRA))
    assert asked.wanted == (Framework.TWIN_LOCK, Framework.ULTRA)


ASKED = JudgeRequest("source", "summary", tuple(Framework))
MODELS = table().models
CONFIG = JudgeConfig()
HASH = hash_request(ASKED, CONFIG, MODELS, None)
TOOL = MetricToolScore(MetricName.COVERAGE, "mine", 3)


@pytest.mark.parametrize(
    "changed",
    [
        replace(ASKED, source="sources", summary="ummary"),
        replace(ASKED, summary="Summary"),
        replace(ASKED, frameworks=(Framework.ULTRA,)),
        replace(ASKED, tool_scores=(TOOL,)),
    ],
)
def test_another_request_has_another_hash(changed: JudgeRequest) -> None:
    assert hash_request(changed, CONFIG, MODELS, None) != HASH


def test_scores_settings_and_models_count() -> None:
    scored = [replace(TOOL, score=score) for score in (3, 3.5, math.nan)]
    assert len({hash_request(replace(ASKED, tool_scores=(one,)), CONFIG, MODELS, None) for one in scored}) == 3
    assert hash_request(ASKED, CONFIG.with_overrides({"ultra": {"eta": 2.0}}), MODELS, None) != HASH
    assert hash_request(ASKED, CONFIG, MODELS, "a model") != HASH
    other = replace(MODELS, entailment=replace(MODELS.entailment, sha256="1" * 64))
    assert hash_request(ASKED, CONFIG, other, None) != HASH


def test_what_changes_no_answer_does_not_count() -> None:
    assert hash_request(replace(ASKED, frameworks=tuple(reversed(Framework))), CONFIG, MODELS, None) == HASH
    config = JudgeConfig(limits=JudgeLimits(max_source_chars=9), cache=JudgementCacheConfig(max_chars=9))
    assert hash_request(ASKED, config, MODELS, None) == HASH
    assert len(HASH) == 64
