"""A real MLflow server on SQLite, and its client in a process of its own. Needs the extra `mlflow`."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.support.programs import unused_port

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
                "links": [link.trace_id for link in span.links],
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
