"""Owns all inference: models, worker threads, the thread that tokenizes.

Knows how many cores the process may use, and keeps blocking work beside the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Self

from inference.batching.batcher import DynamicBatcher
from inference.batching.worker_pool import WorkerPool
from inference.config import InferenceConfig, Role
from inference.core.library import load_library
from inference.front_doors import EmbeddingModel, NliModel
from inference.models.model import LoadedModel, OpenBackend, choose_device, load_model, open_session
from inference.statistics import EngineStatistics, Observe

logger = logging.getLogger(__name__)


class Engine:
    """Text in, numbers out.

        async with Engine(models_dir, config) as engine:
            batch = await engine.embedder.embed(["A sentence."], Call())

    Entering checks and loads the models, measures what batches cost and starts the threads. Leaving refuses new
    calls, finishes what was admitted within `drain_grace_s`, refuses the rest and joins the threads.
    """

    def __init__(
        self,
        models_dir: Path,
        config: InferenceConfig,
        *,
        observe: Observe | None = None,
        open_backend: OpenBackend = open_session,
    ) -> None:
        self.on_ready: Callable[[bool], None] = lambda _: None  # told, on the event loop, when `is_ready` changes
        self._models_dir = models_dir  # with a model directory for each role
        self._config = config
        self._observe = observe
        self._open_backend = open_backend
        self._stack = AsyncExitStack()
        self._models: dict[Role, LoadedModel] = {}
        self._batchers: dict[Role, DynamicBatcher] = {}
        self._pool: WorkerPool | None = None
        self._thread = ThreadPoolExecutor(1, "precis-tokenizer")

    async def __aenter__(self) -> Self:
        config = self._config
        device = choose_device(config)
        library = load_library()
        load = partial(load_model, config=config, device=device, open_backend=self._open_backend, library=library)
        at_once = 1 if device == "cuda" else len(config.roles)  # a GPU's clock counts its neighbours
        with ThreadPoolExecutor(at_once, "precis-load") as threads:
            folders = [self._models_dir / role for role in config.roles]
            loading = [asyncio.get_running_loop().run_in_executor(threads, load, folder) for folder in folders]
            self._models = dict(zip(config.roles, await asyncio.gather(*loading), strict=True))
        count = len(config.runtime.device_ids) if device == "cuda" else usable_cpu_count()
        self._pool = WorkerPool(config.runtime, config.runtime.workers or count)
        self._pool.on_ready = self.on_ready
        for role, model in self._models.items():
            self._batchers[role] = DynamicBatcher(model.compute, self._pool, config, observe=self._observe)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._pool)
            stack.enter_context(self._thread)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            for batcher in self._batchers.values():
                batcher.close()
            async with asyncio.timeout(self._config.drain_grace_s):
                for batcher in self._batchers.values():
                    await batcher.drained()
        except TimeoutError:
            pending = sum(statistics.pending_items for statistics in self.statistics().models.values())
            logger.warning("event=drain_grace_over pending=%d", pending)
        finally:
            await self._stack.aclose()

    @property
    def embedder(self) -> EmbeddingModel:
        """The model of role `embedding`. KeyError when the config does not name it."""
        return EmbeddingModel(self._models["embedding"], self._batchers["embedding"], self._thread)

    @property
    def nli(self) -> NliModel:
        """The model of role `nli`. KeyError when the config does not name it."""
        return NliModel(self._models["nli"], self._batchers["nli"], self._thread)

    @property
    def models(self) -> dict[Role, LoadedModel]:
        """The loaded models."""
        return dict(self._models)

    @property
    def is_ready(self) -> bool:
        """Whether every worker can compute."""
        return self._pool is not None and self._pool.is_ready

    def statistics(self) -> EngineStatistics:
        """What the engine has done and is doing."""
        return EngineStatistics(
            models={role: batcher.statistics() for role, batcher in self._batchers.items()},
            is_ready=self.is_ready,
            worker_restarts=self._pool.restart_count if self._pool else 0,
        )


def usable_cpu_count(quota_file: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Cores by affinity, and no more than the container's quota rounded up; at least 1."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = quota_file.read_text().split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no cgroup v2, or "max": no quota
        return cores
