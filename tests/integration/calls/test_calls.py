"""What surrounds every call: deadlines, cancellation, admission, keys, log line, metrics."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc import StatusCode
from grpc.aio import AioRpcError
from precis.v1.inference_pb2 import EmbedRequest, EmbedResponse
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from server.app import App
from tests.integration.conftest import Start
from tests.integration.support.gate import Gate
from tests.integration.support.log_lines import LogLines, log_lines
from tests.integration.support.metrics_page import scrape
from tests.integration.support.rich_errors import details_of

ONE = EmbedRequest(texts=["w1 w2"])
OTHER = EmbedRequest(texts=["w3 w4"])
MALFORMED = b"\xff"


@pytest.fixture
async def lines() -> AsyncIterator[LogLines]:
    with log_lines() as lines:
        yield lines


def stub_of(channel: grpc.aio.Channel) -> InferenceServiceStub:
    return InferenceServiceStub(channel)


async def test_a_call_leaves_one_log_line_with_its_facts(channel: grpc.aio.Channel, lines: LogLines) -> None:
    await stub_of(channel).Embed(EmbedRequest(texts=["w1", "w2", "w3"]))
    line = await lines.wait_for("rpc=precis.v1.InferenceService/Embed")
    facts = dict(pair.split("=", 1) for pair in line.split())
    assert list(facts) == ["id", "rpc", "code", "ms", "queue_ms", "items", "peer", "caller"]
    assert (facts["code"], facts["items"]) == ("OK", "3")
    assert float(facts["ms"]) >= float(facts["queue_ms"]) >= 0
    assert "w1" not in line.split()


async def test_ids_of_calls_differ(channel: grpc.aio.Channel, lines: LogLines) -> None:
    await asyncio.gather(*[stub_of(channel).Embed(ONE) for _ in range(5)])
    ids = {message.split()[0] for message in lines.messages if "rpc=" in message}
    assert len(ids) == 5


async def test_the_log_can_be_thinned_but_failures_stay(start: Start, lines: LogLines) -> None:
    async with start(log={"ok_call_sample": 4}) as app, grpc.aio.insecure_channel(app.address) as channel:
        for _ in range(8):
            await stub_of(channel).Embed(ONE)
        with pytest.raises(AioRpcError):
            await stub_of(channel).Embed(EmbedRequest())
    codes = [message.split()[2] for message in lines.messages if "rpc=" in message]
    assert codes == ["code=OK", "code=OK", "code=INVALID_ARGUMENT"]


async def test_a_deadline_that_passes_in_the_queue_is_counted_and_costs_no_forward_pass(
    app: App, channel: grpc.aio.Channel, gate: Gate, lines: LogLines
) -> None:
    gate.close()
    blocker = stub_of(channel).Embed(ONE)
    blocked = asyncio.ensure_future(blocker.code())
    await gate.visited()
    with pytest.raises(AioRpcError) as caught:
        await stub_of(channel).Embed(OTHER, timeout=0.05)
    assert caught.value.code() is StatusCode.DEADLINE_EXCEEDED
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
    blocked = asyncio.ensure_future(stub_of(channel).Embed(ONE).code())
    await gate.visited()
    async with grpc.aio.insecure_channel(app.address) as leaver:
        call = stub_of(leaver).Embed(EmbedRequest(texts=[f"w{number}" for number in range(10, 30)]))
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


async def test_a_full_queue_refuses_at_once_and_says_when_to_come_back(start: Start, gate: Gate) -> None:
    queue = {"runtime": {"warmup_s": 0.05, "workers": 1}, "queue": {"max_queue_items": 4}}
    async with start(inference=queue) as app, grpc.aio.insecure_channel(app.address) as channel:
        gate.close()
        waiting = asyncio.ensure_future(stub_of(channel).Embed(EmbedRequest(texts=["w1", "w2", "w3"])).code())
        await pending(app, 3)
        with pytest.raises(AioRpcError) as caught:
            await stub_of(channel).Embed(EmbedRequest(texts=["w4", "w5"]))
        assert caught.value.code() is StatusCode.RESOURCE_EXHAUSTED
        assert details_of(caught.value, error_details_pb2.RetryInfo()).retry_delay.ToTimedelta().total_seconds() > 0
        assert details_of(caught.value, error_details_pb2.ErrorInfo()).reason == "QUEUE_FULL"
        gate.open()
        assert await waiting is StatusCode.OK
        await stub_of(channel).Embed(EmbedRequest(texts=["w4", "w5"]))


async def test_a_list_that_never_fits_is_the_callers_error(start: Start) -> None:
    queue = {"runtime": {"warmup_s": 0.05, "workers": 1}, "queue": {"max_queue_items": 4}}
    async with start(inference=queue) as app, grpc.aio.insecure_channel(app.address) as channel:
        with pytest.raises(AioRpcError) as caught:
            await stub_of(channel).Embed(EmbedRequest(texts=["w1", "w2", "w3", "w4", "w5"]))
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT
    [violation] = details_of(caught.value, error_details_pb2.BadRequest()).field_violations
    assert violation.field == "texts"


async def test_more_calls_than_allowed_are_refused_and_health_still_answers(start: Start, gate: Gate) -> None:
    async with (
        start(listen={"max_concurrent_calls": 2}) as app,
        grpc.aio.insecure_channel(app.address) as channel,
    ):
        gate.close()
        waiting = [
            asyncio.ensure_future(stub_of(channel).Embed(EmbedRequest(texts=[text])).code()) for text in ("w1", "w2")
        ]
        await pending(app, 2)
        with pytest.raises(AioRpcError) as caught:
            await stub_of(channel).Embed(ONE)
        assert caught.value.code() is StatusCode.RESOURCE_EXHAUSTED
        assert details_of(caught.value, error_details_pb2.ErrorInfo()).reason == "TOO_MANY_CALLS"
        assert details_of(caught.value, error_details_pb2.RetryInfo()).HasField("retry_delay")
        gate.open()
        assert await asyncio.gather(*waiting) == [StatusCode.OK] * 2
        await stub_of(channel).Embed(ONE)


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    write_key(path, "old-key")
    return path


def write_key(path: Path, key: str) -> None:
    path.write_text(f"{key}\n", encoding="utf-8")


async def test_only_callers_with_a_key_are_served_and_keys_can_change(start: Start, keys_file: Path) -> None:
    async with start(auth={"keys_file": keys_file}) as app, grpc.aio.insecure_channel(app.address) as channel:
        embed = stub_of(channel).Embed

        async def code_with(key: str) -> StatusCode:
            return await embed(ONE, metadata=(("authorization", f"Bearer {key}"),)).code()

        assert await embed(ONE).code() is StatusCode.UNAUTHENTICATED
        assert await code_with("wrong") is StatusCode.UNAUTHENTICATED
        assert await code_with("old-key") is StatusCode.OK
        write_key(keys_file, "new-key")
        app.reload()
        assert await code_with("old-key") is StatusCode.UNAUTHENTICATED
        assert await code_with("new-key") is StatusCode.OK


async def test_an_unauthenticated_caller_learns_nothing_about_its_request(start: Start, keys_file: Path) -> None:
    async with start(auth={"keys_file": keys_file}) as app, grpc.aio.insecure_channel(app.address) as channel:
        embed: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/precis.v1.InferenceService/Embed")
        assert await embed(MALFORMED).code() is StatusCode.UNAUTHENTICATED


async def test_gzip_is_understood_both_ways(start: Start) -> None:
    async with (
        start(listen={"gzip_responses": True}) as app,
        grpc.aio.insecure_channel(app.address, compression=grpc.Compression.Gzip) as channel,
    ):
        response = await stub_of(channel).Embed(ONE)
        assert response.results[0].embedding.token_count == 4


async def test_metrics_tell_codes_latencies_batches_and_the_process(app: App, channel: grpc.aio.Channel) -> None:
    rpc = "precis.v1.InferenceService/Embed"
    response: EmbedResponse = await stub_of(channel).Embed(EmbedRequest(texts=["w1", "w2", "w1"]))
    assert len(response.results) == 3
    with pytest.raises(AioRpcError):
        await stub_of(channel).Embed(EmbedRequest())
    await stub_of(channel).Embed(EmbedRequest(texts=["w1"]))
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
