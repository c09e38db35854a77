"""A real server on port 0 with real graphs, tokenizers and batcher; only the models are tiny."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from server.app import App
from server.settings import Settings
from tests.integration.support import shared_server
from tests.integration.support.gate import Gate
from tests.integration.support.shared_server import Served, scripted_server
from tests.unit.inference.tiny_models import write_tiny_embedder, write_tiny_nli

Start = Callable[..., AbstractAsyncContextManager[App]]
Connect = Callable[..., AbstractAsyncContextManager[tuple[App, grpc.aio.Channel]]]
Serve = Callable[..., AbstractAsyncContextManager[Served]]


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model pair."""
    root = tmp_path_factory.mktemp("models")
    write_tiny_embedder(root / "embedding")
    write_tiny_nli(root / "nli")
    return root


@pytest.fixture
def tiny_settings(tiny_models: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Settings of a server with tiny models."""
    return shared_server.tiny_settings(tiny_models, tmp_path_factory.mktemp("summaries"))


@pytest.fixture
def gate() -> Gate:
    """Decides when the models of `start` compute."""
    return Gate()


@pytest.fixture
def start(tiny_settings: dict[str, Any], gate: Gate) -> Start:
    """Gives what makes servers. Their settings are `tiny_settings` with the given sections laid over it."""

    @asynccontextmanager
    async def started(**sections: dict[str, Any]) -> AsyncIterator[App]:
        merged = {name: {**tiny_settings.get(name, {}), **section} for name, section in sections.items()}
        settings = Settings(**{**tiny_settings, **merged})
        async with App(settings, open_backend=gate.open_backend) as app:
            try:
                yield app
            finally:
                gate.open()

    return started


@pytest.fixture
def connected(start: Start) -> Connect:
    """Gives what makes servers as `start` does, each with a channel to it."""

    @asynccontextmanager
    async def made(**sections: dict[str, Any]) -> AsyncIterator[tuple[App, grpc.aio.Channel]]:
        async with start(**sections) as app, grpc.aio.insecure_channel(app.address) as channel:
            yield app, channel

    return made


@pytest.fixture
def serve(tiny_models: Path, tmp_path: Path) -> Serve:
    """Gives what makes a server whose language model follows a script."""
    return partial(scripted_server, tiny_models, tmp_path)


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    """Keys of two tenants; the first has two keys."""
    path = tmp_path / "keys"
    path.write_text("owner billing\nsecond billing\nstranger\n", encoding="utf-8")
    return path


@pytest.fixture
async def app(start: Start) -> AsyncIterator[App]:
    """A running server with default settings."""
    async with start() as app:
        yield app


@pytest.fixture
async def channel(app: App) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to `app`."""
    async with grpc.aio.insecure_channel(app.address) as channel:
        yield channel
