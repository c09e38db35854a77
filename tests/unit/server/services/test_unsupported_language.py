"""What the server and its callers say of a text that is not English."""

import json

import pytest
from precis.judgement import to_judgement
from precis.v1 import judge_pb2 as pb
from prometheus_client import CollectorRegistry

from pipeline.judge.judge import Judge
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import MetricName
from server.cli.commands.judge import parse_floor
from server.cli.judge.names import breaches_of, remarks_of
from server.observe.service_metrics import JudgeMetrics
from server.rpc.fields import ResultView
from server.services.judge import JUDGE_REPLIES
from tests.fakes_pipeline import fake_models

REQUEST = JudgeRequest("The bridge was closed.", "El puente está cerrado para las obras, que no son baratas.")


@pytest.mark.parametrize("view", ResultView)
async def test_every_view_has_the_status_and_neither_score_nor_evidence(view: ResultView) -> None:
    judgement = await Judge().judge(REQUEST, fake_models())
    JudgeMetrics(CollectorRegistry()).observe(judgement)
    result = JUDGE_REPLIES[view].to_result(judgement)
    metrics = result.frameworks[0].metrics
    assert {metric.status for metric in metrics} == {pb.JUDGE_METRIC_STATUS_UNSUPPORTED_LANGUAGE}
    assert {metric.error for metric in metrics} == {"unsupported_language: summary not English"}
    assert not any(metric.HasField("score") for metric in metrics)
    assert not result.HasField("evidence")
    assert not result.models
    if view is ResultView.FULL:
        assert list(json.loads(result.frameworks[0].objects_json)) == [str(name) for name in MetricName]


async def test_callers_see_the_status_and_no_number() -> None:
    result = JUDGE_REPLIES[ResultView.CLAIMS].to_result(await Judge().judge(REQUEST, fake_models()))
    found = to_judgement(pb.JudgeResponse(result=result))
    assert (found.metric("coverage").status, found.metric("coverage").score) == ("unsupported-language", None)
    assert found.mean_score is None
    assert remarks_of(result.frameworks[0].metrics[0]) == ["unsupported language"]
    [breach] = breaches_of(result, [parse_floor("coverage=0")])
    assert breach == "ultra coverage has no score that counts (unsupported language)"
