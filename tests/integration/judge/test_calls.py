"""What a judgement tells of itself, and what becomes of it when it comes again, or without a client or a model."""

import asyncio

import grpc
import pytest
from grpc import StatusCode
from precis.v1 import fusion_pb2, synthesis_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.inference_pb2 import EmbedRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from pipeline.reading.passage import LEFT_OUT
from server.app import App
from tests.integration.assess.pictures import png
from tests.integration.conftest import Start
from tests.integration.evaluate.load import no_pending_items
from tests.integration.judge.judge_requests import SOURCE, SUMMARY, TWIN_LOCK, judge_request, lasting, stream_request
from tests.integration.support.gate import Gate
from tests.integration.support.held_threads import held_threads
from tests.integration.support.log_lines import log_lines
from tests.integration.support.metrics_page import scrape
from tests.integration.support.spans import spans_of


@pytest.fixture
def stub(channel: grpc.aio.Channel) -> JudgeServiceStub:
    return JudgeServiceStub(channel)


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


async def test_an_equal_request_is_answered_without_a_model(app: App, stub: JudgeServiceStub, gate: Gate) -> None:
    first = (await stub.Judge(judge_request())).result
    gate.close()  # an answer that comes now comes without a forward pass
    second = (await stub.Judge(judge_request())).result
    events = [event async for event in stub.JudgeStream(stream_request(judge_request()))]
    assert (first.is_cached, second.is_cached) == (False, True)
    assert lasting(first) == lasting(second) == lasting(events[-1].result)
    assert [event.WhichOneof("event") for event in events] == ["evidence", *["metric"] * 15, "result"]
    assert first.request_hash == second.request_hash
    assert (await scrape(app))["precis_judgements_total,true"] == 2


async def test_the_one_that_computes_may_leave_without_the_others(stub: JudgeServiceStub, gate: Gate) -> None:
    gate.close()
    leaver = stub.Judge(judge_request(1))
    left = asyncio.ensure_future(leaver.code())
    await gate.visited()
    stayer = asyncio.ensure_future(stub.Judge(judge_request(1)))
    with log_lines() as lines:
        leaver.cancel()
        await lines.wait_for("JudgeService/Judge", "code=CANCELLED")
    assert await left is StatusCode.CANCELLED
    gate.open()
    assert len((await stayer).result.frameworks) == 3


async def test_a_client_that_leaves_a_stream_takes_its_work_along(app: App, stub: JudgeServiceStub, gate: Gate) -> None:
    gate.close()
    call = stub.JudgeStream(stream_request(judge_request()))
    asked = asyncio.ensure_future(call.code())
    await gate.visited()
    with log_lines() as lines:
        call.cancel()
        assert await asked is StatusCode.CANCELLED
        await lines.wait_for("JudgeService/JudgeStream", "code=CANCELLED")
    gate.open()
    await no_pending_items(app)
    assert (await scrape(app))["precis_calls_in_flight"] == 0


async def test_a_long_source_is_read_where_it_holds_up_no_other_call(
    stub: JudgeServiceStub, channel: grpc.aio.Channel
) -> None:
    pages = " ".join(f"On day {day} the crew of district {day % 9} replaced {day * 7} lines." for day in range(1_200))
    with held_threads("precis-judge") as held:
        long = asyncio.ensure_future(stub.Judge(judge_request(source=pages, frameworks=[TWIN_LOCK])))
        assert await held.reached_by(long)
        await InferenceServiceStub(channel).Embed(EmbedRequest(texts=["w1"]))
        assert not long.done()
    assert (await long).result.evidence.claims


async def test_without_the_nli_model_texts_are_refused_and_images_are_not(start: Start) -> None:
    inference = {"runtime": {"warmup_s": 0.05, "workers": 1}, "roles": ["embedding"]}
    async with start(inference=inference) as app, grpc.aio.insecure_channel(app.address) as channel:
        stub = JudgeServiceStub(channel)
        question = "How good is it?"
        text = synthesis_pb2.AssessRequest(question=question, source=SOURCE, summary=SUMMARY)
        image = synthesis_pb2.AssessRequest(question=question, images=[png()])
        assert await stub.Judge(judge_request()).code() is StatusCode.FAILED_PRECONDITION
        assert await stub.Assess(text).code() is StatusCode.FAILED_PRECONDITION
        assert [event async for event in stub.Assess(image)][-1].HasField("assessment")


async def test_judgements_of_an_assessment_are_counted(app: App, stub: JudgeServiceStub) -> None:
    request = synthesis_pb2.AssessRequest(question="Is it all supported?", source=SOURCE, summary=SUMMARY)
    events = [event async for event in stub.Assess(request)]
    assert events[-1].HasField("assessment")
    samples = await scrape(app)
    assert samples["precis_judgements_total,false"] > 0
    assert sum(value for name, value in samples.items() if name.startswith("precis_judged_metrics_total,halluc")) > 0
