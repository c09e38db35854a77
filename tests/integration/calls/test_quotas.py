"""Quotas of tenants on a real server: refused with the time after which the call would be let in."""

from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode
from precis.v1 import summarize_pb2 as pb
from precis.v1.inference_pb2 import EmbedRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.conftest import Connect, Start
from tests.integration.summarize.summaries import bench, chunks, follow
from tests.integration.support.rich_errors import bearer, error_of, reason_of, retry_delay_s

TWO = EmbedRequest(texts=["w1 w2", "w3 w4"])


async def test_items_are_a_tenants_whatever_its_key(connected: Connect, keys_file: Path) -> None:
    quotas = {"billing": {"items_per_minute": 2}}
    async with connected(auth={"keys_file": keys_file, "quotas": quotas}) as (_, channel):
        stub = InferenceServiceStub(channel)
        for _ in range(3):
            assert (await stub.Embed(TWO, metadata=bearer("stranger"))).results
        assert (await stub.Embed(TWO, metadata=bearer("owner"))).results
        error = await error_of(stub.Embed(TWO, metadata=bearer("second")))
        assert (error.code(), reason_of(error)) == (StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
        assert 0 < retry_delay_s(error) <= 30
        assert (await stub.Embed(TWO, metadata=bearer("stranger"))).results


@pytest.mark.parametrize("is_job", [False, True], ids=["streamed", "submitted"])
async def test_tokens_of_the_language_model_are_a_tenants(start: Start, keys_file: Path, *, is_job: bool) -> None:
    auth: dict[str, Any] = {"keys_file": keys_file, "quotas": {"billing": {"tokens_per_day": 1}}}
    async with bench(start, auth=auth) as served:

        async def summarized(key: str, count: int) -> str:
            stub: Any = served.stub
            request = pb.SummarizeRequest(document=chunks(count))
            if not is_job:
                return (await follow(stub.Summarize(request, metadata=bearer(key)))).summary.text
            queued = await stub.SubmitSummary(pb.SubmitSummaryRequest(request=request), metadata=bearer(key))
            watch = pb.WatchSummaryRequest(summary_id=queued.summary_id)
            return (await follow(stub.WatchSummary(watch, metadata=bearer(key)))).summary.text

        assert await summarized("owner", 8)
        served.endpoint.log.clear()
        error = await error_of(summarized("second", 9))
        assert (reason_of(error), retry_delay_s(error) > 86_400) == ("QUOTA_EXCEEDED", True)
        assert served.endpoint.log.requests.total() == 0
        assert await summarized("stranger", 9)
