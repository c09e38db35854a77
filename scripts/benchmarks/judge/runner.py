"""The judge in this process: the engine that the server runs, without gRPC around it."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.progress import Progress

from inference.call import Call
from inference.config import CacheConfig, InferenceConfig, RuntimeConfig
from inference.engine import Engine
from pipeline.judge.judge import Judge
from pipeline.judge.judgement import Judgement
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework
from pipeline.protocols import Models
from server.cli.console import error_console
from server.rpc.models import CallScope, EngineModels

IN_FLIGHT = 4
_WARMUP_S = 0.5  # scores do not depend on it, and speed is measured through the server

Item = tuple[str, str]
"""Source and summary."""


class JudgeRunner:
    """Judges many summaries. Enter it to load the models, leave it to stop them.

    Args:
        models: models folder.
        remembers: whether the engine keeps results; without, every run computes everything anew.
    """

    def __init__(self, models: Path, *, remembers: bool = True) -> None:
        cache = CacheConfig() if remembers else CacheConfig(max_bytes=0)
        runtime = RuntimeConfig(warmup_s=_WARMUP_S)
        self._engine = Engine(InferenceConfig(models_dir=models, cache=cache, runtime=runtime))
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="bench-judge")
        self._judge = Judge(executor=self._executor)

    async def __aenter__(self) -> Self:
        """Loads the models."""
        await self._engine.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the models."""
        await self._engine.__aexit__(kind, error, trace)
        self._executor.shutdown()

    @property
    def models(self) -> Models:
        """All models; the NLI model serves baselines too."""
        return EngineModels(self._engine).bound(CallScope(Call()))

    async def judge(self, item: Item, frameworks: tuple[Framework, ...] = tuple(Framework)) -> Judgement:
        """Judges one summary without a language model."""
        return await self._judge.judge(JudgeRequest(*item, frameworks=frameworks), self.models)

    async def judge_all(
        self, items: Sequence[Item], name: str, *, in_flight: int = IN_FLIGHT, order: Sequence[int] | None = None
    ) -> list[Judgement]:
        """Judges many, some at a time, and shows how far it is.

        Args:
            items: to judge.
            name: what the progress bar says.
            in_flight: how many at a time.
            order: in which they are begun; the judgements come in the order of `items` all the same.
        """
        judgements: dict[int, Judgement] = {}
        waiting = iter(range(len(items)) if order is None else order)
        with Progress(console=error_console(), transient=True) as progress:
            task = progress.add_task(name, total=len(items))

            async def work() -> None:
                for index in waiting:
                    judgements[index] = await self.judge(items[index])
                    progress.advance(task)

            async with asyncio.TaskGroup() as group:
                for _ in range(in_flight):
                    group.create_task(work())
        return [judgements[index] for index in range(len(items))]
