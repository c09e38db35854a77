"""The owner of all inference: models, worker threads, tokenizer thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Self

from inference.batcher import DynamicBatcher
from inference.config import InferenceConfig, Role
from inference.cpu_count import usable_cpu_count
from inference.embedder import Embedder
from inference.front_door import FrontDoor
from inference.loader_thread import run_on_thread
from inference.model import LoadedModel, OpenBackend, load_model, open_session
from inference.nli import NliModel
from inference.session import Device, choose_device
from inference.statistics import EngineStatistics, Observer
from inference.tokenizer_thread import TokenizerThread
from inference.worker_pool import WorkerPool

logger = logging.getLogger(__name__)


class Engine:
    """Text in, numbers out.

        async with Engine(config) as engine:
            batch = await engine.embedder.embed(["A sentence."], Call())

    Entering checks and loads the models, measures what batches cost and starts the threads. Leaving refuses new
    calls, finishes what was admitted within `drain_grace_s`, refuses the rest and joins the threads.
    """

    def __init__(
        self,
        config: InferenceConfig,
        *,
        observer: Observer | None = None,
        open_backend: OpenBackend = open_session,
    ) -> None:
        self._config = config
        self._observer = observer
        self._open_backend = open_backend
        self._stack = AsyncExitStack()
        self._models: dict[Role, LoadedModel] = {}
        self._batchers: dict[Role, DynamicBatcher] = {}
        self._doors: dict[Role, FrontDoor] = {}
        self._pool: WorkerPool | None = None
        self._watchers: list[Callable[[bool], None]] = []

    async def __aenter__(self) -> Self:
        config = self._config
        device = choose_device(config.runtime.execution_provider)
        for role in config.roles:
            self._models[role] = await run_on_thread(f"precis-load-{role}", partial(self._load, role, device))
        self._pool = WorkerPool(config.runtime, _worker_count(config, device))
        thread = TokenizerThread(config.tokenization.max_pending_chars)
        for role, model in self._models.items():
            self._batchers[role] = DynamicBatcher(model.compute, self._pool, config, observer=self._observer)
            self._doors[role] = FrontDoor(self._batchers[role], thread, config.tokenization.inline_chars)
        for watcher in self._watchers:
            self._pool.watch(watcher)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._pool)
            await stack.enter_async_context(thread)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for batcher in self._batchers.values():
                batcher.close()
            async with asyncio.timeout(self._config.drain_grace_s):
                for batcher in self._batchers.values():
                    await batcher.drained()
        except TimeoutError:
            logger.warning("event=drain_grace_over pending=%d", self._pending_items())
        finally:
            await self._stack.aclose()

    @property
    def embedder(self) -> Embedder:
        """The model of role `embedding`. KeyError when the config does not name it."""
        return Embedder(self._models["embedding"], self._doors["embedding"])

    @property
    def nli(self) -> NliModel:
        """The model of role `nli`. KeyError when the config does not name it."""
        return NliModel(self._models["nli"], self._doors["nli"])

    @property
    def models(self) -> dict[Role, LoadedModel]:
        """The loaded models."""
        return dict(self._models)

    @property
    def is_ready(self) -> bool:
        """Whether every worker can compute."""
        return self._pool is not None and self._pool.is_ready

    def watch(self, callback: Callable[[bool], None]) -> None:
        """Calls back, on the event loop, each time that `is_ready` changes. Before entering."""
        self._watchers.append(callback)

    def statistics(self) -> EngineStatistics:
        """What the engine has done and is doing."""
        return EngineStatistics(
            models={role: batcher.statistics() for role, batcher in self._batchers.items()},
            is_ready=self.is_ready,
            worker_restarts=self._pool.restart_count if self._pool else 0,
        )

    def _load(self, role: Role, device: Device) -> LoadedModel:
        return load_model(role, self._config, device, open_backend=self._open_backend)

    def _pending_items(self) -> int:
        return sum(batcher.statistics().pending_items for batcher in self._batchers.values())


def _worker_count(config: InferenceConfig, device: Device) -> int:
    if config.runtime.workers is not None:
        return config.runtime.workers
    return len(config.runtime.device_ids) if device == "cuda" else usable_cpu_count()
