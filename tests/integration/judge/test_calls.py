"""What becomes of judgements when there is no time, no room, no client, no model, or no server left."""

import asyncio
import signal
from pathlib import Path

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc import StatusCode
from grpc.aio import AioRpcError
from precis.v1 import judge_pb2 as pb
from precis.v1 import synthesis_pb2
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.app import App
from tests.integration.assess.pictures import png
from tests.integration.conftest import Start
from tests.integration.evaluate.load import full_queue, no_pending_items, small_queue
from tests.integration.judge.judge_requests import SOURCE, SUMMARY, TWIN_LOCK, judge_request, lasting, stream_request
from tests.integration.support.gate import Gate
from tests.integration.support.log_lines import log_lines
from tests.integration.support.metrics_page import scrape
from tests.integration.support.rich_errors import details_of
from tests.integration.support.server_process import server_process


@pytest.fixture
def stub(channel: grpc.aio.Channel) -> JudgeServiceStub:
    return JudgeServiceStub(channel)


async def result_of(stub: JudgeServiceStub, *, is_stream: bool) -> pb.JudgeResult:
    """Judges by either RPC."""
    if not is_stream:
        return (await stub.Judge(judge_request())).result
    return [event async for event in stub.JudgeStream(stream_request(judge_request()))][-1].result


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


async def test_a_deadline_in_the_queue_ends_the_call_and_its_work(app: App, stub: JudgeServiceStub, gate: Gate) -> None:
    gate.close()
    with log_lines() as lines:
        assert await stub.Judge(judge_request(), timeout=0.2).code() is StatusCode.DEADLINE_EXCEEDED
        await lines.wait_for("JudgeService/Judge", "code=DEADLINE_EXCEEDED")
    gate.open()
    await no_pending_items(app)


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


@pytest.mark.parametrize("is_stream", [False, True], ids=["unary", "stream"])
async def test_a_full_queue_refuses_at_once(start: Start, gate: Gate, *, is_stream: bool) -> None:
    async with start(inference=small_queue(100)) as app, grpc.aio.insecure_channel(app.address) as channel:
        stub = JudgeServiceStub(channel)
        gate.close()
        async with full_queue(app, channel, 100):
            with pytest.raises(AioRpcError) as caught:
                await result_of(stub, is_stream=is_stream)
            gate.open()
        assert caught.value.code() is StatusCode.RESOURCE_EXHAUSTED
        assert details_of(caught.value, error_details_pb2.RetryInfo()).HasField("retry_delay")


async def test_a_source_of_200_pages_does_not_hold_up_other_calls(app: App, stub: JudgeServiceStub) -> None:
    pages = " ".join(f"On day {day} the crew of district {day % 9} replaced {day * 7} lines." for day in range(12_000))
    long = asyncio.ensure_future(stub.Judge(judge_request(source=pages, frameworks=[TWIN_LOCK])))
    while (await scrape(app))["precis_calls_in_flight"] == 0 and not long.done():
        pass
    short = await stub.Synthesize(
        synthesis_pb2.SynthesizeRequest(question="How good?", mode=synthesis_pb2.SYNTHESIS_MODE_SCORING)
    )
    assert short.synthesis.error
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


async def test_a_worker_that_fails_is_told_without_its_text(app: App, stub: JudgeServiceStub, gate: Gate) -> None:
    gate.is_broken = True
    with pytest.raises(AioRpcError) as caught:
        await stub.Judge(judge_request())
    assert caught.value.code() in (StatusCode.UNAVAILABLE, StatusCode.INTERNAL)
    assert "device" not in repr(caught.value)
    gate.is_broken = False


async def test_sigterm_finishes_a_stream_that_is_open(tiny_models: Path, tmp_path: Path) -> None:
    settings: dict[str, str | Path] = {
        "MODELS_DIR": tiny_models,
        "LISTEN__PORT": "0",
        "LISTEN__GRACE_S": "3600",
        "METRICS__ENABLED": "false",
        "INFERENCE__RUNTIME__WARMUP_S": "0.05",
        "SUMMARY_STORAGE__DIRECTORY": tmp_path,
    }
    async with server_process("tests.integration.support.gated_server", **settings) as server:
        address = await server.line()
        async with grpc.aio.insecure_channel(address) as channel, grpc.aio.insecure_channel(address) as newcomer:
            await server.command("close")
            events = aiter(JudgeServiceStub(channel).JudgeStream(stream_request(judge_request())))
            first = asyncio.ensure_future(anext(events))
            await server.command("visited")
            server.process.send_signal(signal.SIGTERM)
            await server.logged("event=stopping")
            assert await JudgeServiceStub(newcomer).Judge(judge_request()).code() is StatusCode.UNAVAILABLE
            await server.command("open")
            assert (await first).HasField("evidence")
            assert [event async for event in events][-1].HasField("result")
        assert await server.ended() == 0
