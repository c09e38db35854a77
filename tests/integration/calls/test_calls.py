"""What surrounds every call: deadlines, cancellation, admission, keys, log line, metrics."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest
from grpc import StatusCode
from precis.v1.inference_pb2 import EmbedRequest, EmbedResponse
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from server.app import App
from tests.integration.conftest import Connect
from tests.integration.evaluate.load import small_queue
from tests.integration.support.gate import Gate
from tests.integration.support.log_lines import LogLines, log_lines
from tests.integration.support.metrics_page import scrape
from tests.integration.support.rich_errors import assert_refused, error_of, reason_of, retry_delay_s

ONE = EmbedRequest(texts=["w1 w2"])
OTHER = EmbedRequest(texts=["w3 w4"])


@pytest.fixture
async def lines() -> AsyncIterator[LogLines]:
    with log_lines() as lines:
        yield lines


async def test_a_call_leaves_one_log_line_with_its_facts(channel: grpc.aio.Channel, lines: LogLines) -> None:
    await InferenceServiceStub(channel).Embed(EmbedRequest(texts=["w1", "w2", "w3"]))
    line = await lines.wait_for("rpc=precis.v1.InferenceService/Embed")
    facts = dict(pair.split("=", 1) for pair in line.split())
    assert list(facts) == ["id", "rpc", "code", "ms", "queue_ms", "items", "peer", "caller"]
    assert (facts["code"], facts["items"]) == ("OK", "3")
    assert float(facts["ms"]) >= float(facts["queue_ms"]) >= 0
    assert "w1" not in line.split()


async def test_the_log_can_be_thinned_but_failures_stay(connected: Connect, lines: LogLines) -> None:
    async with connected(log={"ok_call_sample": 4}) as (_, channel):
        for _ in range(8):
            await InferenceServiceStub(channel).Embed(ONE)
        await error_of(InferenceServiceStub(channel).Embed(EmbedRequest()))
    found = [message.split() for message in lines.messages if "rpc=" in message]
    codes = [words[2] for words in found]
    assert len({words[0] for words in found}) == 3  # ids
    assert codes == ["code=OK", "code=OK", "code=INVALID_ARGUMENT"]


async def test_a_deadline_that_passes_in_the_queue_is_counted_and_costs_no_forward_pass(
    app: App, channel: grpc.aio.Channel, gate: Gate, lines: LogLines
) -> None:
    gate.close()
    blocker = InferenceServiceStub(channel).Embed(ONE)
    blocked = asyncio.ensure_future(blocker.code())
    await gate.visited()
    timeout_s, is_queued = 0.25, False
    while not is_queued:  # a slow machine needs a later deadline to reach the queue
        timeout_s *= 2
        late = asyncio.ensure_future(InferenceServiceStub(channel).Embed(OTHER, timeout=timeout_s).code())
        while not (is_queued or late.done()):
            is_queued = (await scrape(app))["precis_pending_items,embedding"] > 1
        assert await late is StatusCode.DEADLINE_EXCEEDED
    await lines.wait_for("code=DEADLINE_EXCEEDED")
    gate.open()
    assert await blocked is StatusCode.OK
    metrics = await scrape(app)
    assert metrics["precis_computed_items_total,embedding"] == 1
    assert metrics["precis_pending_items,embedding"] == 0


async def test_items_of_a_client_that_left_are_dropped_from_the_queue(
    app: App, channel: grpc.aio.Channel, gate: Gate, lines: LogLines
) -> None:
    gate.close()
    blocked = asyncio.ensure_future(InferenceServiceStub(channel).Embed(ONE).code())
    await gate.visited()
    async with grpc.aio.insecure_channel(app.address) as leaver:
        call = InferenceServiceStub(leaver).Embed(EmbedRequest(texts=[f"w{number}" for number in range(10, 30)]))
        await pending(app, 21)
        call.cancel()
        await lines.wait_for("code=CANCELLED")
    gate.open()
    assert await blocked is StatusCode.OK
    metrics = await scrape(app)
    assert metrics["precis_cancelled_items_total,embedding"] == 20
    assert metrics["precis_computed_items_total,embedding"] == 1


async def pending(app: App, item_count: int) -> None:
    """Waits until that many items are admitted. Each look is a round trip, so nothing spins."""
    while (await scrape(app))["precis_pending_items,embedding"] < item_count:
        pass


async def test_a_full_queue_refuses_at_once_and_what_never_fits_for_good(connected: Connect, gate: Gate) -> None:
    async with connected(inference=small_queue(4)) as (app, channel):
        stub = InferenceServiceStub(channel)
        gate.close()
        waiting = asyncio.ensure_future(stub.Embed(EmbedRequest(texts=["w1", "w2", "w3"])).code())
        await pending(app, 3)
        error = await error_of(stub.Embed(EmbedRequest(texts=["w4", "w5"])))
        assert (error.code(), reason_of(error)) == (StatusCode.RESOURCE_EXHAUSTED, "QUEUE_FULL")
        assert retry_delay_s(error) > 0
        gate.open()
        assert await waiting is StatusCode.OK
        await stub.Embed(EmbedRequest(texts=["w4", "w5"]))
        await assert_refused(stub.Embed(EmbedRequest(texts=["w6", "w7", "w8", "w9", "w10"])), "texts")


async def test_a_compressed_request_is_understood(app: App) -> None:
    async with grpc.aio.insecure_channel(app.address, compression=grpc.Compression.Gzip) as channel:
        response = await InferenceServiceStub(channel).Embed(ONE)
        assert response.results[0].embedding.token_count == 4


async def test_metrics_tell_codes_latencies_batches_and_the_process(app: App, channel: grpc.aio.Channel) -> None:
    rpc = "precis.v1.InferenceService/Embed"
    response: EmbedResponse = await InferenceServiceStub(channel).Embed(EmbedRequest(texts=["w1", "w2", "w1"]))
    assert len(response.results) == 3
    await error_of(InferenceServiceStub(channel).Embed(EmbedRequest()))
    await InferenceServiceStub(channel).Embed(EmbedRequest(texts=["w1"]))
    metrics = await scrape(app)
    assert metrics[f"precis_calls_total,OK,{rpc}"] == 2
    assert metrics[f"precis_calls_total,INVALID_ARGUMENT,{rpc}"] == 1
    assert metrics[f"precis_call_seconds_count,{rpc}"] == 3
    assert metrics["precis_calls_in_flight"] == 0
    assert metrics["precis_joined_items_total,embedding"] == 1
    assert metrics["precis_cached_items_total,embedding"] == 1
    assert metrics["precis_batch_rows_sum,embedding"] == 2
    assert metrics["precis_batch_padding_share_count,embedding"] >= 1
    assert metrics["precis_ready"] == 1
    assert any(name.startswith("precis_build_info,") for name in metrics)
    assert sum(name.startswith("precis_model_info,") for name in metrics) == 2
    assert metrics["process_resident_memory_bytes"] > 1 << 20
    assert metrics["process_cpu_seconds_total"] > 0
