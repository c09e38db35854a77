"""Spans of a served process, as a collector gets them."""

from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from precis.v1 import summarize_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from tests.integration.judge.judge_requests import judge_request
from tests.integration.observe.collector import attributes_of, collector
from tests.integration.summarize.summaries import PASS, chunks, follow, resume
from tests.integration.support.programs import unused_port
from tests.integration.support.traced_server import precis_serve
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

RPC = "precis.v1.SummarizeService/Summarize"
ASKING = ("judge claim questions", "judge coverage questions", "judge grade")
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def below(spans: list[Span], parent: Span) -> list[Span]:
    """Returns the children of a span."""
    return [span for span in spans if span.parent_span_id == parent.span_id]


async def test_a_judgement_is_one_trace_from_the_rpc_down_to_the_requests(tiny_models: Path) -> None:
    async with (
        ScriptedEndpoint(Script()) as endpoint,
        collector() as taken,
        precis_serve(tiny_models, endpoint, TRACING__ENDPOINT=taken.endpoint) as (_, channel),
    ):
        result = (await JudgeServiceStub(channel).Judge(judge_request())).result
    (rpc,), (run,) = taken.named("precis.v1.JudgeService/Judge"), taken.named("invoke_workflow judge")
    assert {span.trace_id for span in taken.spans} == {rpc.trace_id}
    assert below(taken.spans, rpc) == [run]
    steps = ["judge evidence", "judge twin_lock", "judge judge_lock", "judge ultra"]
    assert [span.name for span in sorted(below(taken.spans, run), key=lambda s: s.start_time_unix_nano)] == steps
    calls = taken.named("chat scripted")
    assert result.language_model_usage.calls == endpoint.log.requests.total() >= len(calls) > 0  # repairs are no spans
    asking = {span.span_id for name in ASKING for span in taken.named(name)}
    assert {call.parent_span_id for call in calls} == asking


async def test_a_summary_is_one_trace_from_the_rpc_down_to_the_requests(tiny_models: Path) -> None:
    async with ScriptedEndpoint(Script(replies=(PASS,), author=write)) as endpoint, collector() as taken:
        settings = {"TRACING__ENDPOINT": taken.endpoint, "TRACING__HEADERS": '{"x-team": "docs"}'}
        async with precis_serve(tiny_models, endpoint, **settings) as (server, channel):
            stub = SummarizeServiceStub(channel)
            followed = await follow(stub.Summarize(pb.SummarizeRequest(document=chunks(29))))
    (rpc,), (run,) = taken.named(RPC), taken.named("invoke_workflow summarize")
    assert (taken.headers["x-team"], taken.resource["service.name"]) == ("docs", "precis")
    assert {span.trace_id for span in taken.spans} == {rpc.trace_id}
    assert rpc.kind == Span.SPAN_KIND_SERVER
    assert not rpc.parent_span_id
    facts = attributes_of(rpc.attributes)
    assert (facts["rpc.response.status_code"], facts["session.id"]) == ("OK", followed.summary_id)
    assert any(f"id={facts['precis.call_id']} " in line for line in server.errors)  # the call's log line
    assert [line for line in server.errors if "chat/completions" in line] == []  # spans have them
    assert below(taken.spans, rpc) == [run]
    nodes = below(taken.spans, run)
    assert sorted(node.name for node in nodes) == sorted(
        ["plan", *["extract"] * 5, *["reduce"] * 3, *["merge"] * 2, "reflect", "topics"]
    )
    calls = taken.named("chat scripted")
    assert len(calls) == followed.summary.calls_done == endpoint.log.answered.total() == 9
    asking = {"extract", "merge", "reflect", "topics"}
    assert all(len(below(calls, node)) == (node.name in asking) for node in nodes)
    used = sum(int(str(attributes_of(call.attributes)["gen_ai.usage.input_tokens"])) for call in calls)
    assert used == attributes_of(run.attributes)["precis.prompt_tokens"] == followed.summary.usage.prompt_tokens


async def test_a_callers_trace_goes_on_and_the_resumed_summary_has_the_same_session(tiny_models: Path) -> None:
    async with (
        ScriptedEndpoint(Script(replies=(PASS,), author=write)) as endpoint,
        collector() as taken,
        precis_serve(tiny_models, endpoint, TRACING__ENDPOINT=taken.endpoint) as (_, channel),
    ):
        stub = SummarizeServiceStub(channel)
        endpoint.gate.clear()
        request = pb.SummarizeRequest(document=chunks(29))
        call = stub.Summarize(request, metadata=(("traceparent", PARENT),))
        summary_id = (await anext(aiter(call))).event.accepted.summary_id
        await endpoint.log.until(lambda log: log.in_flight > 0)
        call.cancel()
        await endpoint.log.until(lambda log: log.in_flight == 0)
        endpoint.gate.set()
        await resume(stub, summary_id)
    first, *_, second = taken.named("invoke_workflow summarize")
    (rpc,) = taken.named(RPC)
    assert (rpc.trace_id.hex(), rpc.parent_span_id.hex()) == (PARENT.split("-")[1], PARENT.split("-")[2])
    assert attributes_of(rpc.attributes)["rpc.response.status_code"] == "CANCELLED"
    assert (first.trace_id, first.status.code) == (rpc.trace_id, Status.STATUS_CODE_ERROR)
    assert attributes_of(first.attributes)["error.type"] == "CancelledError"
    assert second.trace_id != first.trace_id
    assert {attributes_of(run.attributes)["session.id"] for run in (first, second)} == {summary_id}


async def test_no_call_is_traced_when_their_share_is_0(tiny_models: Path) -> None:
    async with ScriptedEndpoint() as endpoint, collector() as taken:
        settings = {"TRACING__ENDPOINT": taken.endpoint, "TRACING__SAMPLE_SHARE": "0"}
        async with precis_serve(tiny_models, endpoint, **settings) as (_, channel):
            stub = SummarizeServiceStub(channel)
            await stub.PlanSummary(pb.PlanSummaryRequest(document=chunks(8)))
    assert taken.spans == []


async def test_a_collector_that_is_away_harms_no_call_and_does_not_keep_the_server(tiny_models: Path) -> None:
    async with ScriptedEndpoint(Script(replies=(PASS,), author=write)) as endpoint:
        away = f"http://127.0.0.1:{unused_port()}"
        settings = {
            "TRACING__ENDPOINT": f"{away}/v1/traces",
            "TRACING__EXPORT_TIMEOUT_S": "0.2",
            "METRICS__OTLP_ENDPOINT": f"{away}/v1/metrics",
            "METRICS__OTLP_EVERY_S": "0.05",
        }
        async with precis_serve(tiny_models, endpoint, **settings) as (server, channel):
            stub = SummarizeServiceStub(channel)
            followed = await follow(stub.Summarize(pb.SummarizeRequest(document=chunks(29))))
            assert followed.summary.status == pb.SUMMARY_STATUS_DONE
    assert any("export" in line and "opentelemetry" in line for line in server.errors)
