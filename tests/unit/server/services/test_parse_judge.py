"""Judge requests become domain types; what is wrong is named."""

import math
from typing import Any

import pytest
from precis.v1 import fusion_pb2
from precis.v1 import judge_pb2 as pb

from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeConfig
from pipeline.judge.fusion import FusionForm, LogisticMapping
from pipeline.judge.locks.caps import RelevanceMode
from pipeline.judge.request import MetricToolScore
from pipeline.judge.result import MetricName
from server.services.judge_request import parse_judge

MAPPING = fusion_pb2.LogisticMapping(b1=1, b2=2, b3=3, b4=4, b5=5)


UNKNOWN: Any = 9  # proto3 lets unknown numbers through


def score(**fields: Any) -> pb.MetricToolScore:  # noqa: ANN401
    plain: dict[str, Any] = {"metric": pb.JUDGE_METRIC_NAME_COVERAGE, "tool": "summac", "score": 3.5}
    return pb.MetricToolScore(**{**plain, **fields})


def test_what_is_not_set_is_the_servers_choice() -> None:
    defaults = JudgeConfig().with_overrides({"ultra": {"eta": 2.5}})
    parsed = parse_judge(pb.JudgeRequest(source="Source.", summary="Summary"), defaults)
    assert (parsed.request.source, parsed.request.summary) == ("Source.", "Summary")
    assert (parsed.request.frameworks, parsed.request.tool_scores) == ((), ())
    assert parsed.config == defaults
    assert parsed.uses_language_model
    assert parsed.char_count == 14


def test_every_option_reaches_its_setting() -> None:
    options = pb.JudgeOptions(
        use_language_model=False,
        relevance_mode=pb.RELEVANCE_MODE_JACCARD,
        fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW,
        eta=0.5,
        max_claims=5_000,
    )
    parsed = parse_judge(pb.JudgeStreamRequest(source="S", summary="s", options=options), JudgeConfig())
    assert not parsed.uses_language_model
    assert parsed.config.lock.relevance_mode is RelevanceMode.JACCARD
    assert (parsed.config.ultra.form, parsed.config.ultra.eta) == (FusionForm.PAPER_RAW, 0.5)
    assert parsed.config.evidence.max_claims == 5_000


def test_tool_scores_keep_their_order_and_mapping() -> None:
    request = pb.JudgeRequest(
        tool_scores=[score(tool="b"), score(metric=pb.JUDGE_METRIC_NAME_RELEVANCE, score=70.0, mapping=MAPPING)]
    )
    assert parse_judge(request, JudgeConfig()).request.tool_scores == (
        MetricToolScore(MetricName.COVERAGE, "b", 3.5),
        MetricToolScore(MetricName.RELEVANCE, "summac", 70.0, LogisticMapping(1, 2, 3, 4, 5)),
    )


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.JudgeRequest(frameworks=[pb.JUDGE_FRAMEWORK_ULTRA, UNKNOWN]), "frameworks[1]"),
        (pb.JudgeRequest(frameworks=[pb.JUDGE_FRAMEWORK_UNSPECIFIED]), "frameworks[0]"),
        (pb.JudgeRequest(frameworks=[pb.JUDGE_FRAMEWORK_ULTRA] * 2), "frameworks[1]"),
        (pb.JudgeRequest(options=pb.JudgeOptions(relevance_mode=UNKNOWN)), "options.relevance_mode"),
        (pb.JudgeRequest(options=pb.JudgeOptions(fusion_form=UNKNOWN)), "options.fusion_form"),
        (pb.JudgeRequest(options=pb.JudgeOptions(eta=0)), "options.eta"),
        (pb.JudgeRequest(options=pb.JudgeOptions(eta=math.nan)), "options.eta"),
        (pb.JudgeRequest(options=pb.JudgeOptions(max_claims=0)), "options.max_claims"),
        (pb.JudgeRequest(options=pb.JudgeOptions(max_claims=5_001)), "options.max_claims"),
        (pb.JudgeRequest(tool_scores=[score(), score(metric=0)]), "tool_scores[1].metric"),
        (pb.JudgeRequest(tool_scores=[score(metric=UNKNOWN)]), "tool_scores[0].metric"),
        (
            pb.JudgeRequest(tool_scores=[score(mapping=fusion_pb2.LogisticMapping(b3=math.inf))]),
            "tool_scores[0].mapping.b3",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_wrong_field_is_named(request_: pb.JudgeRequest, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_judge(request_, JudgeConfig())
    assert caught.value.field == field
    assert "expected" in str(caught.value)
