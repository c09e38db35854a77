"""Readers that are slow: the graph, the endpoint and the server do not suffer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from tests.integration.conftest import Start
from tests.integration.summarize.summaries import PASS, Bench, bench, chunks
from tests.scripted_endpoint.script import Script

UNCHECKED: dict[str, dict[str, object]] = {"summary_trust": {"exact": False}}
"""The readers are the subject here, not what is in the texts."""

QUICK_AUTHOR = Script(replies=(PASS,))
WINDOW = 65_536  # bytes that HTTP/2 lets a server send ahead of its reader


@asynccontextmanager
async def slow_reader(served: Bench) -> AsyncIterator[SummarizeServiceStub]:
    """A stub whose channel takes no more than a window of bytes before they are read."""
    options = [("grpc.http2.lookahead_bytes", WINDOW), ("grpc.http2.bdp_probe", 0)]
    async with grpc.aio.insecure_channel(served.app.address, options=options) as channel:
        yield SummarizeServiceStub(channel)


async def test_the_first_event_comes_before_any_call_has_ended(start: Start) -> None:
    async with bench(start) as served:
        served.endpoint.gate.clear()
        events = aiter(served.stub.Summarize(pb.SummarizeRequest(document=chunks(29))))
        kinds = [(await anext(events)).event.WhichOneof("event") for _ in range(3)]
        assert kinds == ["accepted", "warning", "plan"]
        assert served.endpoint.log.answered.total() == 0


async def test_a_slow_reader_holds_up_nothing_and_misses_only_moments(start: Start) -> None:
    """The reader takes one event, and the next when the endpoint has answered every call."""
    wide: dict[str, object] = {"rates": {"max_concurrency": 64}}
    async with (
        bench(start, QUICK_AUTHOR, llm=wide, summarize={"progress_events": 8}, **UNCHECKED) as served,
        slow_reader(served) as stub,
    ):
        options = pb.SummarizeOptions(batch_size=1, reduce_group_size=8)
        plan = (await stub.PlanSummary(pb.PlanSummaryRequest(document=chunks(1_000), options=options))).plan
        events = aiter(stub.Summarize(pb.SummarizeRequest(document=chunks(1_000), options=options)))
        first = (await anext(events)).event
        await served.endpoint.log.until(lambda log: log.answered.total() == plan.calls)
        rest = [response.event async for response in events]
    summary = rest[-1].summary
    assert first.WhichOneof("event") == "accepted"
    assert (summary.status, summary.calls_done) == (pb.SUMMARY_STATUS_DONE, plan.calls)
    steps = [event for event in rest if event.WhichOneof("event") in ("batch", "group")]
    progress = [getattr(event, str(event.WhichOneof("event"))).progress for event in steps]
    # Each event that was dropped is counted by the next one that was not: nothing is lost but the moments.
    assert len(steps) + sum(one.joined_events for one in progress) == plan.calls - 2
    assert [one.calls_done for one in progress] == sorted(one.calls_done for one in progress)
    # What the server wrote ahead is what HTTP/2 let it, however long the document is.
    assert sum(step.ByteSize() for step in steps) < 2 * WINDOW
