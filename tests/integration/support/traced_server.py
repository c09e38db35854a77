"""`precis serve` as an operator starts it, with tiny models and a scripted language model."""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from tests.integration.support.server_process import ServerProcess, server_process
from tests.scripted_endpoint.endpoint import ScriptedEndpoint


@asynccontextmanager
async def precis_serve(
    models: Path, endpoint: ScriptedEndpoint, **settings: str | Path
) -> AsyncIterator[tuple[ServerProcess, grpc.aio.Channel]]:
    """Starts the program and yields it with a channel; stops it politely, so that it sends what is left of spans."""
    all_settings: dict[str, str | Path] = {
        "MODELS_DIR": models,
        "LISTEN__PORT": "0",
        "METRICS__ENABLED": "false",
        "INFERENCE__RUNTIME__WARMUP_S": "0.05",
        "INFERENCE__RUNTIME__WORKERS": "1",
        "LLM__MODEL": "scripted",
        "LLM__BASE_URL": endpoint.base_url,
        "SUMMARIZE__DETAIL": "full",  # the texts of the script have no length to hold
        **settings,
    }
    async with server_process("precis", "serve", **all_settings) as server:
        line = await server.line()
        address = line.removeprefix("Precis is serving on ").split(". ")[0]
        async with grpc.aio.insecure_channel(address) as channel:
            yield server, channel
        server.process.send_signal(signal.SIGTERM)
        assert await server.ended() == 0, server.errors
