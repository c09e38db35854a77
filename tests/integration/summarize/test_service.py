"""SummarizeService on a real server: the stream, what fails, and what is refused."""

import grpc
import pytest
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from pipeline.compression import get_target_summary_length
from tests.integration.conftest import Start
from tests.integration.summarize.summaries import bench, chunks, follow
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.script import Script


async def test_events_come_in_order_and_count_what_was_planned(start: Start) -> None:
    async with bench(start) as served:
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


@pytest.mark.parametrize(
    ("llm", "script", "kind"),
    [
        ({"model": "other"}, Script(), "UnknownModelError"),
        ({}, Script(faults=FaultPlan({Fault.HTML: 1.0})), "UnreadableAnswerError"),
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


async def test_a_document_that_no_model_answered_about_is_no_partial_summary(start: Start) -> None:
    async with bench(start, Script(), llm={"base_url": "http://127.0.0.1:9/v1"}) as served:
        options = pb.SummarizeOptions(target_words=20)  # a single batch is left whole, without a call
        followed = await follow(served.stub.Summarize(pb.SummarizeRequest(document=chunks(8), options=options)))
    assert (followed.summary.status, followed.summary.text) == (pb.SUMMARY_STATUS_FAILED, "")


async def test_without_a_language_model_sentences_are_chosen_and_have_the_length_of_the_schedule(
    channel: grpc.aio.Channel,
) -> None:
    stub, document = SummarizeServiceStub(channel), chunks(140)
    followed = await follow(stub.Summarize(pb.SummarizeRequest(document=document)))
    full = pb.SummarizeOptions(detail=pb.SUMMARY_DETAIL_FULL)
    plan = (await stub.PlanSummary(pb.PlanSummaryRequest(document=document))).plan
    of_all = (await stub.PlanSummary(pb.PlanSummaryRequest(document=document, options=full))).plan
    wanted = get_target_summary_length(plan.input_tokens)
    assert plan.writer_kind == followed.events[1].plan.plan.writer_kind == pb.WRITER_KIND_EXTRACTIVE
    assert "Nm before start." in followed.summary.text
    assert 0 < wanted < plan.input_tokens
    assert (plan.target_tokens, followed.summary.length.target, of_all.target_tokens) == (wanted, wanted, 0)
    assert (followed.summary.status, followed.summary.length.is_met) == (pb.SUMMARY_STATUS_DONE, True)
    assert plan.calls == followed.summary.calls_done == of_all.calls + 1
