"""Servers without a gate: one that all tests of a module share, and one whose language model follows a script."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.app import App
from server.settings import Settings
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

QUICK = {"retries": {"max_attempts": 2, "base_delay_s": 0.0}}
"""Settings of a language model that is tried again at once."""


def tiny_settings(models: Path, directory: Path) -> dict[str, Any]:
    """Settings of a server on ports of the system's choice that is quickly there, with summaries in a directory."""
    return {
        "models_dir": models,
        "listen": {"port": 0},
        "metrics": {"port": 0},
        "summary_storage": {"directory": directory},
        "inference": {"runtime": {"warmup_s": 0.05, "workers": 1}},
    }


@asynccontextmanager
async def shared_server(models: Path, directory: Path, **sections: Any) -> AsyncIterator[App]:  # noqa: ANN401
    """Runs a server with `tiny_settings` and further sections."""
    async with App(Settings(**tiny_settings(models, directory), **sections)) as app:
        yield app


@dataclass
class Served:
    """A server and its language model."""

    app: App
    channel: grpc.aio.Channel
    endpoint: ScriptedEndpoint

    @property
    def stub(self) -> JudgeServiceStub:
        return JudgeServiceStub(self.channel)


@asynccontextmanager
async def scripted_server(models: Path, directory: Path, script: Script, **llm: Any) -> AsyncIterator[Served]:  # noqa: ANN401
    """Runs a server whose language model follows a script. `llm` are settings of the language model."""
    async with ScriptedEndpoint(script) as endpoint:
        section = {"base_url": endpoint.base_url, "model": "scripted", **QUICK, **llm}
        async with (
            shared_server(models, directory, llm=section) as app,
            grpc.aio.insecure_channel(app.address) as channel,
        ):
            yield Served(app, channel, endpoint)
