"""What an operator sees of summaries and Assess on the metrics page, after real calls."""

from precis.v1 import summarize_pb2 as pb
from precis.v1 import synthesis_pb2
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from tests.integration.assess.pictures import png
from tests.integration.conftest import Connect, Start
from tests.integration.summarize.summaries import PASS, bench, chunks, follow, resume
from tests.integration.support.metrics_page import scrape
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.faults import Fault
from tests.scripted_endpoint.script import Script

REQUEST = pb.SummarizeRequest(document=chunks(29))


def total(page: dict[str, float], name: str, label: str) -> float:
    """Adds up the samples of a metric that have a label value."""
    parts = {sample: sample.split(",") for sample in page}
    return sum(page[sample] for sample, (first, *labels) in parts.items() if first == name and label in labels)


async def test_a_summary_is_counted_by_phase_and_outcome(start: Start) -> None:
    async with bench(start) as served:
        before = await scrape(served.app)
        summary = (await follow(served.stub.Summarize(REQUEST))).summary
        again = (await follow(served.stub.Summarize(REQUEST))).summary
        after = await scrape(served.app)
    assert (before["precis_summaries_ended_total,done"], before["precis_summary_calls_total,made,map"]) == (0, 0)
    assert (after["precis_summaries_started_total,new"], after["precis_summaries_ended_total,done"]) == (1, 1)
    assert again.calls_reused == 9
    assert after["precis_summaries_answered_from_store_total"] == 1
    made = {
        phase: after[f"precis_summary_calls_total,made,{phase}"] for phase in ("map", "reduce", "reflect", "topics")
    }
    assert made == {"map": 5, "reduce": 2, "reflect": 1, "topics": 1}
    assert after["precis_summary_call_seconds_count,map"] == 5
    assert total(after, "precis_summary_tokens_total", "prompt") == summary.usage.prompt_tokens
    assert after["precis_llm_prompt_tokens_total"] == summary.usage.prompt_tokens
    assert after["precis_summary_retained_share_sum"] == summary.retention.share
    assert (after["precis_summaries_active"], after["precis_llm_in_flight"]) == (0, 0)
    writers = [name for name in after if name.startswith("precis_summary_writer,")]
    assert writers == [f"precis_summary_writer,language_model,{summary.writer}"]


async def test_failures_retries_and_resumed_runs_are_counted(start: Start) -> None:
    # Before the endpoint has answered anything no batch is written without it.
    script = Script(replies=(PASS,), author=write, first_faults=(Fault.HTML, Fault.HTML, Fault.SERVER_ERROR))
    async with bench(start, script, llm={"rates": {"max_concurrency": 1}}) as served:
        options = pb.SummarizeOptions(wave_batches=1)
        failed = await follow(served.stub.Summarize(pb.SummarizeRequest(document=chunks(29), options=options)))
        assert failed.summary.status == pb.SUMMARY_STATUS_FAILED
        await resume(served.stub, failed.summary_id)
        page = await scrape(served.app)
    assert (page["precis_summaries_started_total,new"], page["precis_summaries_started_total,resumed"]) == (1, 1)
    assert (page["precis_summaries_ended_total,failed"], page["precis_summaries_ended_total,done"]) == (1, 1)
    assert page["precis_summary_calls_total,failed,map"] == 1
    assert total(page, "precis_summary_calls_total", "made") == 9
    assert (page["precis_llm_attempts_total"], page["precis_llm_answers_total"]) == (12, 9)
    assert page["precis_llm_retries_total"] == 2
    assert page["precis_llm_failures_total,UnreadableAnswerError"] == 2


async def test_a_run_is_active_until_its_reader_leaves(start: Start) -> None:
    async with bench(start) as served:
        served.endpoint.gate.clear()
        call = served.stub.Summarize(REQUEST)
        await anext(aiter(call))
        await served.endpoint.log.until(lambda log: log.in_flight == 5)
        running = await scrape(served.app)
        call.cancel()
        while not (left := await scrape(served.app))["precis_summaries_ended_total,cancelled"]:
            pass  # each look is a request
    assert left["precis_summaries_active"] == 0
    assert (running["precis_summaries_active"], running["precis_llm_in_flight"]) == (1, 5)
    assert left["precis_summaries_ended_total,cancelled"] == 1
    assert left["precis_summary_calls_total,cancelled,map"] == 5


async def test_replanning_is_counted_with_its_reasons(connected: Connect) -> None:
    scope = synthesis_pb2.QualityScope(objects=synthesis_pb2.ScopeObjects(names=["zebra"]))
    request = synthesis_pb2.AssessRequest(question="Rate it.", images=[png()], scope=scope)
    async with connected() as (app, channel):
        before = await scrape(app)
        events = [one async for one in JudgeServiceStub(channel).Assess(request)]
        async for _ in JudgeServiceStub(channel).Assess(
            synthesis_pb2.AssessRequest(question="Rate it.", images=[png()], stage=synthesis_pb2.ASSESS_STAGE_EVIDENCE)
        ):
            pass
        page = await scrape(app)
    replans = events[-1].assessment.iteration_count
    assert replans == 1
    assert before["precis_replans_total,scope_not_covered"] == 0
    assert page["precis_replans_total,scope_not_covered"] == page["precis_replans_total,no_tool_scores"] == replans
    assert page["precis_replan_needs_total,assess,scope_not_covered"] == replans + 1
    assert (page["precis_assess_replans_sum"], page["precis_assess_replans_count"]) == (replans, 1)
    assert (page["precis_assessments_total,answer"], page["precis_assessments_total,evidence"]) == (1, 1)
    assert page["precis_answers_total,assess,deterministic,scoring"] == replans + 1
