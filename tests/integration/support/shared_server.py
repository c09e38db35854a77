"""A server that all tests of a module share, for tests that leave no trace in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from server.app import App
from server.settings import Settings


@asynccontextmanager
async def shared_server(models: Path, directory: Path, **sections: Any) -> AsyncIterator[App]:  # noqa: ANN401
    """Runs a server with tiny models on ports of the system's choice.

    Args:
        models: folder of the tiny models.
        directory: for summaries.
        sections: of the settings.
    """
    settings = Settings(
        models_dir=models,
        listen={"port": 0},
        metrics={"port": 0},
        summary_storage={"directory": directory},
        inference={"runtime": {"warmup_s": 0.05, "workers": 1}},
        **sections,
    )
    async with App(settings) as app:
        yield app
