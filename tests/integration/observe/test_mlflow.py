"""A summary in a real MLflow: its graph, its calls and what they cost, read back with MLflow's own client."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from tests.integration.summarize.summaries import PASS, chunks, resume
from tests.integration.support.programs import unused_port
from tests.integration.support.traced_server import precis_serve
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

READY = b"Application startup complete"
QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet"}

# Read as a user of MLflow would. What a notebook shows as a table comes out as JSON.
READER = """
import json, sys
from mlflow import MlflowClient
client = MlflowClient(sys.argv[1])
traces = client.search_traces(locations=["0"])
print(json.dumps([
    {
        "state": trace.info.state.value,
        "tokens": trace.info.token_usage,
        "metadata": trace.info.trace_metadata,
        "spans": [
            {
                "id": span.span_id, "parent": span.parent_id, "name": span.name, "type": span.span_type,
                "status": span.status.status_code.value, "attributes": span.attributes,
            }
            for span in trace.data.spans
        ],
    }
    for trace in traces
]))
"""


@dataclass(frozen=True)
class MlflowServer:
    """A running server."""

    url: str

    async def session(self, name: str) -> list[dict[str, Any]]:
        """Returns the traces of a session in the default experiment, the latest first."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", READER, self.url), stdout=asyncio.subprocess.PIPE, env=_environment()
        )
        out, _ = await process.communicate()
        assert process.returncode == 0
        traces: list[dict[str, Any]] = json.loads(out)
        return [trace for trace in traces if trace["metadata"].get("mlflow.trace.session") == name]


@asynccontextmanager
async def mlflow_server(folder: Path) -> AsyncIterator[MlflowServer]:
    """Starts `mlflow server` with its database in a folder; kills all of its processes at the end."""
    port = unused_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder / 'mlflow.sqlite'}"),
        *("--default-artifact-root", str(folder / "artifacts")),
        stderr=asyncio.subprocess.STDOUT,
        stdout=asyncio.subprocess.PIPE,
        env=_environment(),
        cwd=folder,
        start_new_session=True,
    )
    assert process.stdout is not None
    lines: list[bytes] = []
    try:
        while READY not in (line := await process.stdout.readline()):
            lines.append(line)
            assert line, b"".join(lines).decode()
        reading = asyncio.ensure_future(process.stdout.read())  # a full pipe would stop it
        yield MlflowServer(f"http://127.0.0.1:{port}")
        reading.cancel()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PRECIS_", "MLFLOW_"))}
    return kept | QUIET


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
        async with precis_serve(tiny_models, endpoint, **settings) as (server, channel):
            stub = SummarizeServiceStub(channel)
            endpoint.gate.clear()
            call = stub.Summarize(pb.SummarizeRequest(document=chunks(29)))
            summary_id = (await anext(aiter(call))).event.accepted.summary_id
            await endpoint.log.until(lambda log: log.in_flight > 0)
            call.cancel()
            await endpoint.log.until(lambda log: log.in_flight == 0)
            endpoint.gate.set()
            summary = (await resume(stub, summary_id)).summary
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
    nodes = Counter(span["name"] for span in spans if span["parent"] == run["id"])
    assert nodes == {"plan": 1, "extract": 5, "reduce": 3, "merge": 2, "reflect": 1, "topics": 1}
    calls = named(spans, "chat scripted")
    assert len(calls) == usage.calls
    assert {call["type"] for call in calls} == {"CHAT_MODEL"}


def named(spans: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Returns the spans of a name."""
    return [span for span in spans if span["name"] == name]
