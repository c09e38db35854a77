"""Summaries through the client: progress, results, and streams that break."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from google.rpc import code_pb2
from precis import AsyncSummaryStream, Client, RetryPolicy, SummaryStream, errors, run_summarization
from precis.v1 import summarize_pb2 as pb

from tests.integration.client.either_client import Connect, EitherClient, next_step, result_of, steps_of
from tests.integration.client.scripted_streams import Act, scripted_summaries
from tests.integration.conftest import Start
from tests.integration.summarize.summaries import Bench, bench, chunks
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.script import Script

AT_ONCE = RetryPolicy(base_delay_s=0.0)
ACCEPTED = pb.SummaryEvent(accepted=pb.SummaryAccepted(summary_id="s1"))
DONE = pb.SummaryEvent(summary=pb.Summary(summary_id="s1", status=pb.SUMMARY_STATUS_DONE, text="short"))


def batch(calls_done: int) -> pb.SummaryEvent:
    return pb.SummaryEvent(batch=pb.BatchDone(progress=pb.SummaryProgress(calls_done=calls_done, calls_total=9)))


@pytest.fixture
async def summaries(start: Start) -> AsyncIterator[Bench]:
    async with bench(start) as summaries:
        yield summaries


@pytest.fixture
async def client(connect: Connect, summaries: Bench) -> AsyncIterator[EitherClient]:
    async with connect(summaries.app.address) as client:
        yield client


async def test_a_summary_tells_how_far_it_is_and_has_a_result(client: EitherClient) -> None:
    assert (await client.call("plan_summary", chunks(29))).calls == 9
    run = client.begin("summarize", chunks(29))
    steps = await steps_of(run)
    assert [step.kind for step in steps] == [
        *("accepted", "warning", "plan", *["batch"] * 5, *["group"] * 2, "layers", "reflect", "topics")
    ]
    assert [step.calls_done for step in steps] == sorted(step.calls_done for step in steps)
    assert (steps[-1].calls_done, steps[-1].calls_total, steps[3].phase) == (9, 9, "map")
    summary = await result_of(run)
    assert (summary.summary_id, summary.document_name) == (run.summary_id, "Pump manual")
    assert summary.text


async def test_the_result_needs_no_look_at_the_steps(client: EitherClient) -> None:
    texts = [f"Torque bolt {number} to {number + 10} Nm." for number in range(9)]
    summary = await result_of(client.begin("summarize", texts, name="Bolts", include_text=True))
    assert (summary.document_name, summary.status) == ("Bolts", pb.SUMMARY_STATUS_DONE)
    whole = await result_of(client.begin("summarize", "Torque bolt 7 to 17 Nm.", idempotency_key="mine"))
    again = await result_of(client.begin("summarize", "Torque bolt 7 to 17 Nm.", idempotency_key="mine"))
    assert whole.summary_id == again.summary_id
    with pytest.raises(errors.AlreadyExists):
        await result_of(client.begin("summarize", "Another text.", idempotency_key="mine"))


async def test_a_summary_is_stopped_looked_at_and_gone_on_with(client: EitherClient, summaries: Bench) -> None:
    options = pb.SummarizeOptions(wave_batches=1)
    run = client.begin("summarize", chunks(29), options=options)
    summary_id = await reach(run, summaries.endpoint)
    assert (await client.call("get_summary", summary_id)).is_running
    await client.call("cancel_summary", summary_id)
    with pytest.raises(errors.SummaryIncomplete, match=f"{summary_id} is not done and can be resumed") as caught:
        await result_of(run)
    assert caught.value.summary.status == pb.SUMMARY_STATUS_CANCELLED
    summaries.endpoint.gate.set()
    summary = await result_of(client.begin("resume_summary", summary_id))
    assert (summary.summary_id, summary.status) == (summary_id, pb.SUMMARY_STATUS_DONE)
    assert set(summaries.endpoint.log.answered.values()) == {1}
    with pytest.raises(errors.NotFound):
        await client.call("get_summary", "unknown")


async def test_leaving_the_block_stops_the_summary_and_keeps_what_is_done(
    client: EitherClient, summaries: Bench
) -> None:
    run = client.begin("summarize", chunks(29), options=pb.SummarizeOptions(wave_batches=1))
    summary_id = await reach(run, summaries.endpoint)
    if isinstance(run, SummaryStream):
        with run:
            pass
    else:
        async with run:
            pass
    with pytest.raises(errors.Cancelled):
        await result_of(run)
    await summaries.endpoint.log.until(lambda log: log.in_flight == 0)
    summaries.endpoint.gate.set()
    assert (await resumed(client, summary_id)).text
    assert set(summaries.endpoint.log.answered.values()) == {1}


async def resumed(client: EitherClient, summary_id: str) -> pb.Summary:
    """Goes on with a summary whose reader has just left: at once, or as soon as its server has let go of it."""
    while True:
        try:
            return await result_of(client.begin("resume_summary", summary_id))
        except errors.Aborted:
            continue


async def test_what_fails_is_an_error_with_its_field_or_what_is_done(connect: Connect, start: Start) -> None:
    script = Script(faults=FaultPlan({Fault.HTML: 1.0}))
    async with bench(start, script) as summaries, connect(summaries.app.address) as client:
        with pytest.raises(errors.InvalidArgument) as refused:
            await result_of(client.begin("summarize", " "))
        assert refused.value.field.startswith("document")
        with pytest.raises(errors.SummaryIncomplete) as caught:
            await result_of(client.begin("summarize", chunks(8)))
    assert caught.value.summary.status == pb.SUMMARY_STATUS_FAILED
    assert caught.value.reason == caught.value.summary.failure.kind


async def reach(run: SummaryStream | AsyncSummaryStream, endpoint: ScriptedEndpoint) -> str:
    """Reads to the first finished batch, holds the summary there, and returns its id."""
    endpoint.held_from = 2
    while (await next_step(run)).kind != "batch":
        pass
    await endpoint.log.until(lambda log: log.requests.total() == 2)
    return run.summary_id


async def test_a_stream_that_breaks_goes_on_by_its_id_with_one_result(connect: Connect) -> None:
    first: list[Act] = [ACCEPTED, batch(1), code_pb2.UNAVAILABLE]
    taken: list[Act] = [code_pb2.ABORTED]  # the server has not noticed yet that its reader is gone
    second: list[Act] = [ACCEPTED, batch(2), code_pb2.UNAVAILABLE]
    last: list[Act] = [ACCEPTED, batch(3), DONE]
    async with (
        scripted_summaries(first, taken, second, last) as (served, address),
        connect(address, retry=AT_ONCE) as client,
    ):
        run = client.begin("summarize", "x", include_text=True)
        steps = await steps_of(run)
        assert (await result_of(run)).text == "short"
    assert [(step.kind, step.calls_done) for step in steps] == [
        ("accepted", 0),
        ("batch", 1),
        ("batch", 2),
        ("batch", 3),
    ]
    assert [type(request).__name__ for request in served.opened] == ["SummarizeRequest", *["ResumeSummaryRequest"] * 3]
    assert served.opened[-1] == pb.ResumeSummaryRequest(summary_id="s1", include_text=True)


async def test_a_deadline_ends_a_summary_that_is_silent(connect: Connect) -> None:
    async with scripted_summaries([ACCEPTED]) as (served, address), connect(address) as client:
        timeout_s = 0.1
        while not served.opened:  # a slow machine needs a later deadline to reach the server
            timeout_s *= 2
            with pytest.raises(errors.DeadlineExceeded):
                await result_of(client.begin("summarize", "x", timeout_s=timeout_s))
        await served.left.wait()


async def test_one_call_with_plain_values_returns_a_dictionary(summaries: Bench) -> None:
    given = [{"text": f"Torque bolt {number} to 9 Nm.", "page_number": 1, "chunk_index": number} for number in range(8)]

    def run(total_chunks: int, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - of each kind
        with Client(summaries.app.address) as client:
            return run_summarization(
                "id-1", "Pump manual", given, "operator", 3, total_chunks, client=client, **options
            )

    found = await asyncio.to_thread(run, 8)
    assert (found["current_batch"], found["iteration"], found["error_message"]) == (2, 1, None)
    assert "Torque bolt 0 to 9 Nm." in found["final_summary"]
    assert len(found["key_topics"]) >= 5
    assert found["processing_time"] > 0
    assert found["summary"]["document_name"] == "Pump manual"
    shaped = await asyncio.to_thread(run, 8, words=20, form="bullets", focus="bolt 3", max_iterations=1, language=None)
    assert (shaped["summary"]["length"]["unit"], shaped["summary"]["length"]["target"]) == ("LENGTH_UNIT_WORDS", 20)
    assert shaped["final_summary"].startswith("- ")
    with pytest.raises(errors.InvalidArgument, match="total_chunks"):
        await asyncio.to_thread(run, 9)
    wrong = ({"words": 20, "detail": "full"}, {"detail": "short"}, {"length": 20}, {"words": "many"})
    for options, field in zip(wrong, ("detail", "detail", "options", "options"), strict=True):
        with pytest.raises(errors.InvalidArgument, match=field):
            run_summarization("id-1", "Pump manual", given, **options)  # type: ignore[arg-type] # that is what is wrong
    with pytest.raises(errors.InvalidArgument, match="summary_type"):
        run_summarization("id-1", "Pump manual", given, "poem")
    with pytest.raises(errors.InvalidArgument, match=r"chunks\[0\]"):
        run_summarization("id-1", "Pump manual", [{"words": "x"}])
