"""Judge and JudgeStream: a real server with tiny models, through the real stub."""

import json
import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from grpc import StatusCode
from grpc.aio import AioRpcError
from precis.v1 import common_pb2, evidence_pb2, fusion_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from pipeline.reading.passage import LEFT_OUT
from server.app import App
from tests.integration.judge.judge_requests import (
    FRAMEWORKS,
    METRICS,
    SOURCE,
    SUMMARY,
    TWIN_LOCK,
    judge_request,
    lasting,
    stream_request,
)
from tests.integration.support.metrics_page import scrape
from tests.integration.support.rich_errors import fields_of
from tests.integration.support.shared_server import shared_server
from tests.integration.support.spans import spans_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOO_LONG = "w1 " * 1_000_000
SCORED = {pb.JUDGE_METRIC_STATUS_SCORED, pb.JUDGE_METRIC_STATUS_NO_CLAIMS}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tiny_models: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    """A server without a cache of judgements and of model results, so that every answer is computed."""
    directory = tmp_path_factory.mktemp("summaries")
    async with shared_server(tiny_models, directory, judge={"cache": {"max_judgements": 0}}) as app:
        yield app


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stub(app: App) -> AsyncIterator[JudgeServiceStub]:
    async with grpc.aio.insecure_channel(app.address) as channel:
        yield JudgeServiceStub(channel)


def tool_score(**fields: Any) -> pb.MetricToolScore:  # noqa: ANN401
    plain: dict[str, Any] = {"metric": METRICS[0], "tool": "summac", "score": 3.0}
    return pb.MetricToolScore(**{**plain, **fields})


async def test_every_framework_has_five_metrics_in_the_strict_order(stub: JudgeServiceStub) -> None:
    result = (await stub.Judge(judge_request())).result
    assert [framework.framework for framework in result.frameworks] == FRAMEWORKS
    for framework in result.frameworks:
        assert [metric.name for metric in framework.metrics] == METRICS
        for metric in framework.metrics:
            assert metric.status != pb.JUDGE_METRIC_STATUS_UNSPECIFIED
            assert metric.HasField("score") != (metric.status == pb.JUDGE_METRIC_STATUS_ERROR)
            assert 0 <= metric.score <= 10
            assert metric.reason
            assert metric.HasField("confidence") == (framework.framework == pb.JUDGE_FRAMEWORK_ULTRA)
    scores = [metric.score for metric in result.frameworks[0].metrics if metric.status in SCORED]
    assert result.frameworks[0].mean_score == pytest.approx(sum(scores) / len(scores))


async def test_the_frameworks_own_objects_are_there_as_json(stub: JudgeServiceStub) -> None:
    result = (await stub.Judge(judge_request())).result
    for framework in result.frameworks:
        objects = json.loads(framework.objects_json)
        assert list(objects) == ["coverage", "alignment", "hallucination", "relevance", "bias_toxicity"]
        for metric, one in zip(framework.metrics, objects.values(), strict=True):
            if metric.status == pb.JUDGE_METRIC_STATUS_ERROR:
                assert one == {"error": metric.error}
            else:
                assert one["overall_score"] == metric.score


async def test_evidence_points_into_the_texts_that_were_sent(stub: JudgeServiceStub) -> None:
    texts = {"source": f"  {SOURCE}\r\n\r\nﬁnal 🚰 “quote”. ", "summary": f"\t{SUMMARY}"}
    result = (await stub.Judge(judge_request(source=texts["source"], summary=texts["summary"]))).result
    spans = spans_of(result)
    assert {span.text_id for span in spans} == {"source", "summary"}
    assert len(spans) > 20
    apart = [claim.premise for claim in result.evidence.claims if LEFT_OUT in claim.premise.text]
    assert all(texts[span.text_id][span.start : span.end] == span.text for span in spans if span not in apart)
    for span in apart:
        first, *_, last = span.text.split(LEFT_OUT)
        stretch = texts[span.text_id][span.start : span.end]
        assert stretch.startswith(first)
        assert stretch.endswith(last)


async def test_the_result_names_models_and_settings(stub: JudgeServiceStub) -> None:
    options = pb.JudgeOptions(
        relevance_mode=pb.RELEVANCE_MODE_JACCARD,
        fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW,
        eta=2.5,
        max_claims=2,
    )
    result = (await stub.Judge(judge_request(options=options))).result
    options.use_language_model = False  # there is no endpoint
    assert result.applied_options == options
    assert [model.name for model in result.models] == ["tiny", "tiny"]
    assert (result.language_model, result.evidence.question_author) == ("", "deterministic")
    assert not result.degraded
    assert len(result.request_hash) == 64
    parts = (result.timings.evidence, result.timings.scoring)
    assert sum(part.ToMicroseconds() for part in parts) <= result.timings.total.ToMicroseconds() + len(parts)


async def test_claims_that_were_not_checked_are_counted_beside_the_scores(stub: JudgeServiceStub) -> None:
    request = judge_request(summary="Harlow Falls replaced 9,300 lines. The work cost $17 million. Water is tested.")
    everything = (await stub.Judge(request)).result
    request.options.max_claims, request.view = 1, common_pb2.RESULT_VIEW_SCORES
    some = (await stub.Judge(request)).result
    assert (everything.claim_count, everything.checked_claim_count) == (3, 3)
    assert (some.claim_count, some.checked_claim_count) == (3, 1)
    labels = [claim.label for claim in everything.evidence.claims]
    assert everything.unsupported_claim_count == labels.count(evidence_pb2.CLAIM_LABEL_UNSUPPORTED)
    worst = min(claim.probability for claim in everything.evidence.claims)
    assert everything.worst_claim_score == pytest.approx(10 * worst, abs=0.005)
    partial = {pb.JUDGE_METRIC_STATUS_PARTIAL, pb.JUDGE_METRIC_STATUS_ABSTAINED}
    for framework in some.frameworks:
        *of_claims, bias = framework.metrics
        assert {metric.status for metric in of_claims} <= partial
        assert bias.status not in partial - {pb.JUDGE_METRIC_STATUS_ABSTAINED}
    assert not any(
        metric.status == pb.JUDGE_METRIC_STATUS_PARTIAL for one in everything.frameworks for metric in one.metrics
    )


async def test_a_stream_tells_evidence_then_metrics_then_the_same_result(stub: JudgeServiceStub) -> None:
    request = judge_request(frameworks=[pb.JUDGE_FRAMEWORK_ULTRA, TWIN_LOCK])
    events = [event async for event in stub.JudgeStream(stream_request(request))]
    assert [event.WhichOneof("event") for event in events] == ["evidence", *["metric"] * 10, "result"]
    result = events[-1].result
    assert events[0].evidence.claims == result.evidence.claims
    told = [(event.metric.framework, event.metric.metric) for event in events[1:-1]]
    assert told == [(framework.framework, metric) for framework in result.frameworks for metric in framework.metrics]
    assert [framework.framework for framework in result.frameworks] == [TWIN_LOCK, pb.JUDGE_FRAMEWORK_ULTRA]
    assert lasting((await stub.Judge(request)).result) == lasting(result)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"source": " \n\t"}, "source"),
        ({"summary": "\u200b..."}, "summary"),
        ({"source": TOO_LONG}, "source"),
        ({"frameworks": [9]}, "frameworks[0]"),
        ({"tool_scores": [tool_score(score=math.inf)]}, "tool_scores[0].score"),
        ({"tool_scores": [tool_score(tool=" ")]}, "tool_scores[0].tool"),
        ({"options": pb.JudgeOptions(eta=math.nan)}, "options.eta"),
        ({"options": pb.JudgeOptions(max_claims=5_001)}, "options.max_claims"),
        ({"priority": 9}, "priority"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_wrong_field_is_named(stub: JudgeServiceStub, fields: dict[str, Any], field: str) -> None:
    request = judge_request(**fields)
    with pytest.raises(AioRpcError) as caught:
        await stub.Judge(request)
    with pytest.raises(AioRpcError) as streamed:
        [event async for event in stub.JudgeStream(stream_request(request))]
    for error in (caught.value, streamed.value):
        assert error.code() is StatusCode.INVALID_ARGUMENT
        assert fields_of(error) == [field]
        assert "expected" in str(error.details())
        assert len(str(error.details())) < 500  # no user text comes back


async def test_judgements_are_counted(app: App, stub: JudgeServiceStub) -> None:
    before = await scrape(app)
    await stub.Judge(judge_request(frameworks=[TWIN_LOCK]))
    after = await scrape(app)
    assert after["precis_judgements_total,false"] == before["precis_judgements_total,false"] + 1
    name = "precis_judged_metrics_total,alignment,scored,twin_lock"
    assert after[name] == before[name] + 1
