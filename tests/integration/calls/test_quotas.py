"""Quotas of tenants on a real server: refused with the time after which the call would be let in."""

from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc import StatusCode
from grpc.aio import AioRpcError
from precis.v1 import summarize_pb2
from precis.v1.inference_pb2 import EmbedRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.calls.test_admission import error_of, key_of, retry_delay_s
from tests.integration.conftest import Start
from tests.integration.summarize.summaries import bench, chunks, follow
from tests.integration.support.rich_errors import details_of

TWO = EmbedRequest(texts=["w1 w2", "w3 w4"])


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text("old billing\nnew billing\nother\n", encoding="utf-8")
    return path


def reason_of(error: AioRpcError) -> str:
    return str(details_of(error, error_details_pb2.ErrorInfo()).reason)


async def test_items_are_a_tenants_whatever_its_key(start: Start, keys_file: Path) -> None:
    quotas = {"billing": {"items_per_minute": 2}}
    async with (
        start(auth={"keys_file": keys_file, "quotas": quotas}) as app,
        grpc.aio.insecure_channel(app.address) as channel,
    ):
        stub = InferenceServiceStub(channel)
        for _ in range(3):
            assert (await stub.Embed(TWO, metadata=key_of("other"))).results
        assert (await stub.Embed(TWO, metadata=key_of("old"))).results
        error = await error_of(stub.Embed(TWO, metadata=key_of("new")))
        assert (error.code(), reason_of(error)) == (StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
        assert 0 < retry_delay_s(error) <= 30
        assert (await stub.Embed(TWO, metadata=key_of("other"))).results


async def test_tokens_of_the_language_model_are_a_tenants(start: Start, keys_file: Path) -> None:
    auth: dict[str, Any] = {"keys_file": keys_file, "quotas": {"billing": {"tokens_per_day": 1}}}
    async with bench(start, auth=auth) as served:

        async def summarized(key: str, count: int) -> str:
            call: Any = served.stub.Summarize(
                summarize_pb2.SummarizeRequest(document=chunks(count)), metadata=key_of(key)
            )
            return (await follow(call)).summary.text

        assert await summarized("old", 8)
        served.endpoint.log.clear()
        with pytest.raises(AioRpcError) as caught:
            await summarized("new", 9)
        assert reason_of(caught.value) == "QUOTA_EXCEEDED"
        assert retry_delay_s(caught.value) > 86_400
        assert served.endpoint.log.requests.total() == 0
        assert await summarized("other", 9)


async def test_tokens_of_submitted_summaries_are_charged_and_refused_when_submitted(
    start: Start, keys_file: Path
) -> None:
    auth: dict[str, Any] = {"keys_file": keys_file, "quotas": {"billing": {"tokens_per_day": 1}}}
    async with bench(start, auth=auth) as served:

        async def submitted(key: str, count: int) -> None:
            request = summarize_pb2.SummarizeRequest(document=chunks(count))
            queued = await served.stub.SubmitSummary(
                summarize_pb2.SubmitSummaryRequest(request=request), metadata=key_of(key)
            )
            watched: Any = served.stub.WatchSummary(
                summarize_pb2.WatchSummaryRequest(summary_id=queued.summary_id), metadata=key_of(key)
            )
            assert (await follow(watched)).summary.text

        await submitted("old", 8)
        with pytest.raises(AioRpcError) as caught:
            await submitted("new", 9)
        assert reason_of(caught.value) == "QUOTA_EXCEEDED"
        await submitted("other", 9)
