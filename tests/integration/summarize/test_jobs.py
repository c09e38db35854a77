"""Summaries without a reader, over the wire."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import precis
import pytest
from grpc.aio import AioRpcError
from precis.errors import NotFound
from precis.v1 import common_pb2
from precis.v1 import summarize_pb2 as pb

from tests.integration.conftest import Start
from tests.integration.summarize.summaries import Bench, bench, chunks


@pytest.fixture
async def served(start: Start, tmp_path: Path) -> AsyncIterator[Bench]:
    settings = {"heartbeat_s": 0.1, "lease_ttl_s": 3.0, "jobs": {"poll_s": 0.1}}
    async with bench(start, summarize=settings, summary_storage={"directory": tmp_path}) as served:
        yield served


async def test_a_job_is_submitted_watched_listed_read_and_deleted(served: Bench) -> None:
    async with precis.AsyncClient(served.app.address) as client:
        queued = await client.submit_summary(chunks(30), priority="interactive")
        watched = client.watch_summary(queued.summary_id)
        async with watched:
            kinds = [step.kind async for step in watched]
            summary = await watched.result()
        assert kinds[0] == "accepted"
        assert (summary.summary_id, summary.status) == (queued.summary_id, pb.SUMMARY_STATUS_DONE)
        assert (await client.get_summary(queued.summary_id)).summary.text == summary.text
        page = await client.list_summaries()
        assert [one.summary_id for one in page.summaries] == [queued.summary_id]
        entry = page.summaries[0]
        assert (entry.document_name, entry.status) == ("Pump manual", pb.SUMMARY_STATUS_DONE)
        assert 0 < entry.created.seconds <= entry.updated.seconds
        await client.delete_summary(queued.summary_id)
        with pytest.raises(NotFound):
            await client.get_summary(queued.summary_id)


async def test_a_job_is_not_stopped_when_its_watcher_leaves(served: Bench) -> None:
    served.endpoint.gate.clear()
    async with precis.AsyncClient(served.app.address) as client:
        queued = await client.submit_summary(chunks(30))
        async with client.watch_summary(queued.summary_id) as watched:
            assert (await anext(aiter(watched))).kind == "accepted"
        served.endpoint.gate.set()
        async with client.watch_summary(queued.summary_id) as again:
            assert (await again.result()).status == pb.SUMMARY_STATUS_DONE


async def test_bad_submissions_and_pages_name_their_field(served: Bench) -> None:
    document, number = pb.Document(text="One sentence."), common_pb2.Priority.ValueType(9)
    bad_schema = pb.SummarizeOptions(json_schema="[]")
    too_many, bad_chunk = pb.SummarizeOptions(batch_size=0), pb.DocumentChunk(text="a", page_number=-1)
    submissions = [
        (pb.SubmitSummaryRequest(), "request"),
        (pb.SubmitSummaryRequest(request=pb.SummarizeRequest(), summary_id="x"), "request"),
        (pb.SubmitSummaryRequest(summary_id="x", priority=number), "priority"),
        (pb.SubmitSummaryRequest(request=pb.SummarizeRequest(), budget=pb.SummaryBudget()), "budget"),
        (pb.SubmitSummaryRequest(summary_id="x", budget=pb.SummaryBudget(max_calls=-1)), "budget.max_calls"),
    ]
    asked = [
        (pb.SummarizeRequest(), "request.document"),
        (pb.SummarizeRequest(document=pb.Document(chunks=[bad_chunk])), "request.document.chunks[0].page_number"),
        (pb.SummarizeRequest(document=document, options=too_many), "request.options.batch_size"),
        (pb.SummarizeRequest(document=document, options=bad_schema), "request.options.json_schema"),
        (pb.SummarizeRequest(document=document, idempotency_key="k" * 201), "request.idempotency_key"),
    ]
    submissions += [(pb.SubmitSummaryRequest(request=request), field) for request, field in asked]
    for request, field in submissions:
        with pytest.raises(AioRpcError, match=rf"(?s)INVALID_ARGUMENT.*\"{re.escape(field)}:"):
            await served.stub.SubmitSummary(request)
    for page_size, page_token, field in ((-1, "", "page_size"), (1_001, "", "page_size"), (0, "x", "page_token")):
        with pytest.raises(AioRpcError, match=rf"(?s)INVALID_ARGUMENT.*\"{field}:"):
            await served.stub.ListSummaries(pb.ListSummariesRequest(page_size=page_size, page_token=page_token))
