"""Which requests are the same."""

import math
from dataclasses import replace

import pytest

from pipeline.judge.config import JudgeConfig, JudgeLimits, JudgementCacheConfig
from pipeline.judge.request import JudgeRequest, MetricToolScore, hash_request
from pipeline.judge.result import Framework, MetricName
from tests.unit.pipeline.judge.tables import table

REQUEST = JudgeRequest("source", "summary", tuple(Framework))
MODELS = table().models
CONFIG = JudgeConfig()
HASH = hash_request(REQUEST, CONFIG, MODELS, None)
TOOL = MetricToolScore(MetricName.COVERAGE, "mine", 3)


@pytest.mark.parametrize(
    "changed",
    [
        replace(REQUEST, source="sources", summary="ummary"),
        replace(REQUEST, summary="Summary"),
        replace(REQUEST, frameworks=(Framework.ULTRA,)),
        replace(REQUEST, tool_scores=(TOOL,)),
    ],
)
def test_another_request_has_another_hash(changed: JudgeRequest) -> None:
    assert hash_request(changed, CONFIG, MODELS, None) != HASH


def test_scores_settings_and_models_count() -> None:
    scored = [replace(TOOL, score=score) for score in (3, 3.5, math.nan)]
    assert len({hash_request(replace(REQUEST, tool_scores=(one,)), CONFIG, MODELS, None) for one in scored}) == 3
    assert hash_request(REQUEST, CONFIG.with_overrides({"ultra": {"eta": 2.0}}), MODELS, None) != HASH
    assert hash_request(REQUEST, CONFIG, MODELS, "a model") != HASH
    other = replace(MODELS, entailment=replace(MODELS.entailment, sha256="1" * 64))
    assert hash_request(REQUEST, CONFIG, other, None) != HASH


def test_what_changes_no_answer_does_not_count() -> None:
    assert hash_request(replace(REQUEST, frameworks=tuple(reversed(Framework))), CONFIG, MODELS, None) == HASH
    config = JudgeConfig(limits=JudgeLimits(max_source_chars=9), cache=JudgementCacheConfig(max_chars=9))
    assert hash_request(REQUEST, config, MODELS, None) == HASH
    assert len(HASH) == 64
