"""A summary in a real MLflow: its graph, its calls and what they cost, read back with MLflow's own client."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from precis.v1 import summarize_pb2 as pb

from tests.integration.observe.mlflow_server import mlflow_server
from tests.integration.observe.test_tracing import stop
from tests.integration.summarize.summaries import PASS, chunks, resume
from tests.integration.support.traced_server import precis_serve, summarize_stub
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

DEFAULT_EXPERIMENT = json.dumps({"x-mlflow-experiment-id": "0"})


@pytest.mark.mlflow
@pytest.mark.timeout(300)  # MLflow takes half a minute to start on a busy machine
async def test_mlflow_shows_the_run_of_a_summary(tiny_models: Path, tmp_path: Path) -> None:
    script = Script(replies=(PASS,), author=write)
    async with mlflow_server(tmp_path) as mlflow, ScriptedEndpoint(script) as endpoint:
        settings = {
            "TRACING__ENDPOINT": f"{mlflow.url}/v1/traces",
            "TRACING__HEADERS": DEFAULT_EXPERIMENT,
            "TRACING__EXPORT_TIMEOUT_S": "60",  # MLflow's first answer may take long
        }
        async with precis_serve(tiny_models, endpoint, **settings) as (server, address):
            async with summarize_stub(address) as stub:
                call = stub.Summarize(pb.SummarizeRequest(document=chunks(29)))
                events = aiter(call)
                summary_id = (await anext(events)).event.accepted.summary_id
                endpoint.gate.clear()
                await endpoint.log.until(lambda log: log.in_flight > 0)
                call.cancel()
                await endpoint.log.until(lambda log: log.in_flight == 0)
                endpoint.gate.set()
                summary = (await resume(stub, summary_id)).summary
            await stop(server)
        assert [line for line in server.errors if "export" in line] == []
        resumed, begun = await mlflow.session(summary_id)
    [stopped] = named(begun["spans"], "invoke_workflow summarize")
    assert (stopped["status"], stopped["attributes"]["error.type"]) == ("ERROR", "CancelledError")
    usage, spans = summary.usage, resumed["spans"]
    assert resumed["state"] == "OK"
    assert resumed["tokens"]["input_tokens"] == usage.prompt_tokens
    assert resumed["tokens"]["output_tokens"] == usage.completion_tokens
    [run] = named(spans, "invoke_workflow summarize")
    assert run["attributes"]["precis.calls_done"] == summary.calls_done == 9
    assert run["attributes"]["precis.retained_share"] == summary.retention.share
    assert len(run["links"]) == 1  # to the trace of the run before
    nodes = Counter(span["name"] for span in spans if span["parent"] == run["id"])
    assert nodes == {"extract": 5, "reduce": 3, "merge": 2, "reflect": 1, "topics": 1}
    calls = named(spans, "chat scripted")
    assert len(calls) == usage.calls
    assert {call["type"] for call in calls} == {"CHAT_MODEL"}


def named(spans: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Returns the spans of a name."""
    return [span for span in spans if span["name"] == name]
