"""SummarizeService on a real server: the stream, resuming, cancelling, and what is refused."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc import StatusCode
from grpc.aio import AioRpcError
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from pipeline.reading.compression import get_target_summary_length
from server.app import App
from tests.integration.conftest import Start
from tests.integration.summarize.summaries import PASS, Bench, Call, bench, chunks, follow
from tests.integration.support.rich_errors import details_of, fields_of
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.script import Script


@pytest.fixture
async def served(start: Start) -> AsyncIterator[Bench]:
    async with bench(start) as served:
        yield served


async def error_of(call: Call) -> AioRpcError:
    with pytest.raises(AioRpcError) as caught:
        await follow(call)
    return caught.value


async def test_events_come_in_order_and_count_what_was_planned(served: Bench) -> None:
    followed = await follow(served.stub.Summarize(pb.SummarizeRequest(document=chunks(29))))
    assert followed.kinds == [
        "accepted",
        "warning",  # a context of 8,192 tokens, the default, is small
        "plan",
        *["batch"] * 5,
        *["group"] * 2,
        "layers",
        "reflect",
        "topics",
        "summary",
    ]
    plan, summary = followed.events[2].plan.plan, followed.summary
    assert (plan.map_calls, list(plan.level_calls), plan.calls) == (5, [1, 1], 9)
    assert "small_context" in [warning.code for warning in summary.warnings]
    assert plan.writer_kind == pb.WRITER_KIND_LANGUAGE_MODEL
    assert "scripted" in plan.writer
    assert served.endpoint.log.answered.total() == summary.calls_done == summary.usage.calls == 9
    assert (summary.status, summary.critic_verdict) == (pb.SUMMARY_STATUS_DONE, pb.CRITIC_VERDICT_PASS)
    assert summary.text
    assert (summary.document_id, summary.document_name) == ("manual-7", "Pump manual")
    pages = {
        event.batch.batch_index: event.batch.span.first_page for event in followed.events if event.HasField("batch")
    }
    assert pages == {0: 1, 1: 2, 2: 3, 3: 4, 4: 5}
    totals = [event.batch.progress.calls_done for event in followed.events if event.HasField("batch")]
    assert totals == sorted(totals)


async def test_a_plan_makes_no_call(served: Bench) -> None:
    response = await served.stub.PlanSummary(pb.PlanSummaryRequest(document=chunks(1_403)))
    assert (response.plan.map_calls, list(response.plan.level_calls)) == (201, [50, 13, 3, 1])
    assert (response.plan.calls, response.plan.most_calls) == (270, 539)
    assert served.endpoint.log.requests.total() == 0


async def test_a_text_is_cut_into_chunks_and_pages(served: Bench) -> None:
    page = "Bleed the pump before you start it. " * 200
    request = pb.SummarizeRequest(document=pb.Document(text=f"{page}\f{page}"), include_text=True)
    followed = await follow(served.stub.Summarize(request))
    batches = [event.batch for event in followed.events if event.HasField("batch")]
    assert {batch.span.first_page for batch in batches} == {1, 2}
    assert all(batch.text for batch in batches)


async def test_an_equal_request_is_answered_without_a_call(served: Bench) -> None:
    request = pb.SummarizeRequest(document=chunks(8))
    first = await follow(served.stub.Summarize(request))
    served.endpoint.log.clear()
    second = await follow(served.stub.Summarize(request))
    assert second.kinds == ["accepted", "summary"]
    assert second.summary.text == first.summary.text
    assert second.summary.calls_reused == second.summary.calls_done
    assert served.endpoint.log.requests.total() == 0


async def test_a_reader_that_leaves_stops_all_calls_and_keeps_the_work(served: Bench) -> None:
    log = served.endpoint.log
    call = served.stub.Summarize(pb.SummarizeRequest(document=chunks(29), options=pb.SummarizeOptions(wave_batches=1)))
    events = aiter(call)
    summary_id = (await anext(events)).event.accepted.summary_id
    while not (await anext(events)).event.HasField("batch"):
        pass
    served.endpoint.gate.clear()
    await log.until(lambda log: log.in_flight > 0)
    call.cancel()
    await log.until(lambda log: log.in_flight == 0)
    assert log.left == 1
    served.endpoint.gate.set()
    answered = log.answered.copy()
    followed = await follow(served.stub.ResumeSummary(pb.ResumeSummaryRequest(summary_id=summary_id)))
    assert followed.events[0].accepted.is_resumed
    assert followed.summary.status == pb.SUMMARY_STATUS_DONE
    assert all(log.answered[content] == count for content, count in answered.items())


async def test_cancel_ends_the_stream_with_what_there_is(served: Bench) -> None:
    call = served.stub.Summarize(pb.SummarizeRequest(document=chunks(29), options=pb.SummarizeOptions(wave_batches=1)))
    events = aiter(call)
    summary_id = (await anext(events)).event.accepted.summary_id
    while not (await anext(events)).event.HasField("batch"):
        pass
    served.endpoint.gate.clear()
    view = await served.stub.GetSummary(pb.GetSummaryRequest(summary_id=summary_id))
    assert (view.is_running, view.summary.status) == (True, pb.SUMMARY_STATUS_RUNNING)
    again = await error_of(served.stub.ResumeSummary(pb.ResumeSummaryRequest(summary_id=summary_id)))
    assert again.code() is StatusCode.ABORTED
    assert details_of(again, error_details_pb2.RetryInfo()).retry_delay.seconds > 0
    await served.stub.CancelSummary(pb.CancelSummaryRequest(summary_id=summary_id))
    last = [response.event async for response in call][-1].summary
    assert (last.status, last.failure.kind) == (pb.SUMMARY_STATUS_CANCELLED, "SummaryCancelled")
    assert last.text
    view = await served.stub.GetSummary(pb.GetSummaryRequest(summary_id=summary_id))
    assert (view.is_running, view.summary.status) == (False, pb.SUMMARY_STATUS_CANCELLED)


async def test_a_key_names_one_request(served: Bench) -> None:
    request = pb.SummarizeRequest(document=chunks(8), idempotency_key="job-1")
    first = await follow(served.stub.Summarize(request))
    second = await follow(served.stub.Summarize(request))
    assert first.summary_id == second.summary_id
    other = await error_of(served.stub.Summarize(pb.SummarizeRequest(document=chunks(9), idempotency_key="job-1")))
    assert other.code() is StatusCode.ALREADY_EXISTS


@pytest.mark.parametrize(
    ("llm", "script", "kind"),
    [
        ({"model": "other"}, Script(), "UnknownModelError"),
        ({"api_key": "wrong"}, Script(api_key="right"), "AuthenticationFailedError"),
        ({}, Script(faults=FaultPlan({Fault.HTML: 1.0})), "UnreadableAnswerError"),
        ({}, Script(faults=FaultPlan({Fault.EMPTY: 1.0})), "EmptyAnswerError"),
        ({"max_answer_bytes": 2048}, Script(faults=FaultPlan({Fault.ENDLESS: 1.0})), "EndlessAnswerError"),
        ({"base_url": "http://127.0.0.1:9/v1"}, Script(), "ConnectionFailedError"),
    ],
)
async def test_a_failing_endpoint_leaves_a_partial_summary_that_says_why(
    start: Start, llm: dict[str, object], script: Script, kind: str
) -> None:
    async with bench(start, script, llm=llm) as served:
        followed = await follow(served.stub.Summarize(pb.SummarizeRequest(document=chunks(8))))
        assert followed.summary.status == pb.SUMMARY_STATUS_FAILED
        assert followed.summary.failure.kind == kind
        assert followed.summary.failure.message
        view = await served.stub.GetSummary(pb.GetSummaryRequest(summary_id=followed.summary_id))
        assert view.summary.failure.kind == kind


async def test_a_summary_that_failed_is_finished_without_repeating_a_call(start: Start) -> None:
    broken = Script(replies=(PASS,), author=write, first_faults=(None, Fault.HTML, Fault.HTML))
    async with bench(start, broken, llm={"rates": {"max_concurrency": 1}}) as served:
        options = pb.SummarizeOptions(wave_batches=1)
        failed = await follow(served.stub.Summarize(pb.SummarizeRequest(document=chunks(29), options=options)))
        assert (failed.summary.status, failed.summary.calls_done) == (pb.SUMMARY_STATUS_FAILED, 1)
        done = await follow(served.stub.ResumeSummary(pb.ResumeSummaryRequest(summary_id=failed.summary_id)))
        assert done.summary.status == pb.SUMMARY_STATUS_DONE
        assert set(served.endpoint.log.answered.values()) == {1}


def with_chunk(**fields: object) -> pb.SummarizeRequest:
    request = pb.SummarizeRequest(document=chunks(3))
    for name, value in fields.items():
        setattr(request.document.chunks[1], name, value)
    return request


BAD_REQUESTS = {
    "document": pb.SummarizeRequest(),
    "document.chunks": pb.SummarizeRequest(document=pb.Document(name="empty")),
    "document.text": pb.SummarizeRequest(document=pb.Document(text=" \n")),
    "document.name": pb.SummarizeRequest(document=pb.Document(text="x", name="n" * 501)),
    "document.total_pages": pb.SummarizeRequest(
        document=pb.Document(chunks=[pb.DocumentChunk(text="x", page_number=3)], total_pages=2)
    ),
    "document.chunks[1].page_number": with_chunk(page_number=-1),
    "document.chunks[1].chunk_index": with_chunk(chunk_index=-1),
    "options.summary_type": pb.SummarizeRequest(
        document=chunks(3),
        options=pb.SummarizeOptions(summary_type=9),  # type: ignore[arg-type] # what an old client may send
    ),
    "options.batch_size": pb.SummarizeRequest(document=chunks(3), options=pb.SummarizeOptions(batch_size=0)),
    "options.reduce_group_size": pb.SummarizeRequest(
        document=chunks(3), options=pb.SummarizeOptions(reduce_group_size=1)
    ),
    "options.max_iterations": pb.SummarizeRequest(document=chunks(3), options=pb.SummarizeOptions(max_iterations=99)),
    "options.wave_batches": pb.SummarizeRequest(document=chunks(3), options=pb.SummarizeOptions(wave_batches=0)),
    "idempotency_key": pb.SummarizeRequest(document=chunks(3), idempotency_key="k" * 201),
}


async def test_bad_requests_name_the_field(served: Bench) -> None:
    for field, request in BAD_REQUESTS.items():
        error = await error_of(served.stub.Summarize(request))
        assert (error.code(), fields_of(error)) == (StatusCode.INVALID_ARGUMENT, [field])
    assert served.endpoint.log.requests.total() == 0


async def test_chunks_without_text_and_too_many_chunks_are_refused(served: Bench) -> None:
    empty = pb.Document(chunks=[pb.DocumentChunk(text=" ")] * 3)
    both = pb.Document(chunks=[pb.DocumentChunk(text="x")], text="x")
    many = pb.Document(chunks=[pb.DocumentChunk(text="x")] * 100_000)
    for document, field in ((empty, "document.chunks"), (both, "document.text"), (many, "document.chunks")):
        error = await error_of(served.stub.Summarize(pb.SummarizeRequest(document=document)))
        assert (error.code(), fields_of(error)) == (StatusCode.INVALID_ARGUMENT, [field])


async def test_a_chunk_of_two_million_characters_is_split(served: Bench) -> None:
    document = pb.Document(chunks=[pb.DocumentChunk(text="word " * 400_000)])
    response = await served.stub.PlanSummary(pb.PlanSummaryRequest(document=document))
    assert response.plan.map_calls > 50


@pytest.mark.parametrize("summary_id", ["", "x" * 101])
async def test_what_is_no_id_is_refused(served: Bench, summary_id: str) -> None:
    with pytest.raises(AioRpcError) as caught:
        await served.stub.GetSummary(pb.GetSummaryRequest(summary_id=summary_id))
    assert (caught.value.code(), fields_of(caught.value)) == (StatusCode.INVALID_ARGUMENT, ["summary_id"])


async def test_an_unknown_id_is_not_found(served: Bench) -> None:
    resumed = await error_of(served.stub.ResumeSummary(pb.ResumeSummaryRequest(summary_id="nobody")))
    assert resumed.code() is StatusCode.NOT_FOUND
    for call in (
        served.stub.GetSummary(pb.GetSummaryRequest(summary_id="nobody")),
        served.stub.CancelSummary(pb.CancelSummaryRequest(summary_id="nobody")),
    ):
        with pytest.raises(AioRpcError) as caught:
            await call
        assert caught.value.code() is StatusCode.NOT_FOUND


async def test_a_stopping_server_puts_a_summary_aside_for_the_next_one(start: Start) -> None:
    async with bench(start) as served:
        served.endpoint.gate.clear()
        call = served.stub.Summarize(pb.SummarizeRequest(document=chunks(29)))
        events = aiter(call)
        summary_id = (await anext(events)).event.accepted.summary_id
        await served.endpoint.log.until(lambda log: log.in_flight > 0)
        stopping = asyncio.create_task(served.app.__aexit__(None, None, None))
        await asyncio.sleep(0)  # one turn of the loop, in which the server begins to stop
        served.endpoint.gate.set()
        await stopping
        assert (await error_of(call)).code() is StatusCode.UNAVAILABLE
        log = served.endpoint.log
        assert (log.left, log.answered.total()) == (0, log.requests.total())  # what was begun is finished
        assert log.requests.total() < 9  # and no more
    async with bench(start) as served:
        view = await served.stub.GetSummary(pb.GetSummaryRequest(summary_id=summary_id))
        assert (view.is_running, view.summary.status) == (False, pb.SUMMARY_STATUS_CANCELLED)
        followed = await follow(served.stub.ResumeSummary(pb.ResumeSummaryRequest(summary_id=summary_id)))
        assert followed.summary.status == pb.SUMMARY_STATUS_DONE
        assert "writer_changed" in [warning.code for warning in followed.summary.warnings]  # another port


async def test_without_a_language_model_sentences_are_chosen_and_the_plan_says_so(app: App) -> None:
    async with grpc.aio.insecure_channel(app.address) as channel:
        call = SummarizeServiceStub(channel).Summarize(pb.SummarizeRequest(document=chunks(29)))
        followed = await follow(call)
    plan = followed.events[1].plan.plan
    assert plan.writer_kind == pb.WRITER_KIND_EXTRACTIVE
    assert followed.summary.status == pb.SUMMARY_STATUS_DONE
    assert "Torque bolt 0 to 10 Nm before start." in followed.summary.text


async def test_a_caller_who_asks_for_no_length_gets_that_of_the_schedule(app: App) -> None:
    document, full = chunks(140), pb.SummarizeOptions(detail=pb.SUMMARY_DETAIL_FULL)
    async with grpc.aio.insecure_channel(app.address) as channel:
        stub = SummarizeServiceStub(channel)
        followed = await follow(stub.Summarize(pb.SummarizeRequest(document=document)))
        plan = (await stub.PlanSummary(pb.PlanSummaryRequest(document=document))).plan
        of_all = (await stub.PlanSummary(pb.PlanSummaryRequest(document=document, options=full))).plan
    wanted = get_target_summary_length(plan.input_tokens)
    assert 0 < wanted < plan.input_tokens
    assert (plan.target_tokens, followed.summary.length.target, of_all.target_tokens) == (wanted, wanted, 0)
    assert (followed.summary.length.is_met, followed.summary.calls_done) == (True, plan.calls)
    assert plan.calls == of_all.calls + 1


async def test_without_a_model_and_an_endpoint_it_says_what_to_configure(start: Start) -> None:
    async with start(inference={"roles": ("embedding",)}) as app, grpc.aio.insecure_channel(app.address) as channel:
        error = await error_of(SummarizeServiceStub(channel).Summarize(pb.SummarizeRequest(document=chunks(3))))
    assert error.code() is StatusCode.FAILED_PRECONDITION
    assert "PRECIS_LLM__BASE_URL" in str(error.details())
