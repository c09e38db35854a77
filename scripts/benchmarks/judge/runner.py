"""The judge in this process: the engine that the server runs, without gRPC around it."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.progress import Progress

from inference.call import Call
from inference.config import CacheConfig, InferenceConfig, RuntimeConfig
from inference.engine import Engine
from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.build import build_evidence
from pipeline.judge.evidence.plan import EvidenceRequest, ReadSource
from pipeline.judge.evidence.table import Claim, EvidenceTimings
from pipeline.judge.judge import Judge
from pipeline.judge.judgement import Judgement
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework, FrameworkResult
from pipeline.off_loop import OffLoop
from pipeline.protocols import Models
from pipeline.reading.summary_text import NoStatementError
from server.cli.console import error_console
from server.rpc.models import CallScope, EngineModels

T = TypeVar("T")

IN_FLIGHT = 4
_WARMUP_S = 0.5  # scores do not depend on it, and speed is measured through the server

IN_FLIGHT_OF_RUNS = (1, 2, 4, 8, 3)
"""Of each run of the same requests."""

_SEED = 5
_NO_TIME = EvidenceTimings(0, 0, 0, 0, 0, 0)

Item = tuple[str, str]
"""Source and summary."""


@asynccontextmanager
async def open_runner(folder: Path, *, remembers: bool = True) -> AsyncIterator["JudgeRunner"]:
    """Loads the models of a folder, and stops them in the end.

    Args:
        folder: models folder.
        remembers: whether the engine keeps results; without, every run computes everything anew.
    """
    cache = CacheConfig() if remembers else CacheConfig(max_bytes=0)
    runtime = RuntimeConfig(warmup_s=_WARMUP_S)
    async with Engine(folder, InferenceConfig(cache=cache, runtime=runtime)) as engine:
        with ThreadPoolExecutor(1, thread_name_prefix="bench-judge") as executor:
            yield JudgeRunner(EngineModels(engine).bound(CallScope(Call())), executor)


class JudgeRunner:
    """Judges many summaries without a language model.

    Attributes:
        models: all of them; the NLI model serves baselines too.
    """

    def __init__(self, models: Models, executor: Executor | None = None) -> None:
        self.models = models
        self._executor = executor

    async def judge(self, item: Item, config: JudgeConfig | None = None) -> Judgement:
        """Judges one summary in all frameworks."""
        judge = Judge(config, executor=self._executor)
        return await judge.judge(JudgeRequest(*item, frameworks=tuple(Framework)), self.models)

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
        return await _in_flight([partial(self.judge, item) for item in items], name, in_flight, order)

    async def check_claims(self, items: Sequence[Item], name: str) -> list[tuple[Claim, ...]]:
        """Returns the checked claims of many summaries, none of one that states nothing, and computes nothing else."""
        return await _in_flight([partial(self._check, item) for item in items], name, IN_FLIGHT, None)

    async def _check(self, item: Item) -> tuple[Claim, ...]:
        off_loop = OffLoop(self._executor)
        source = await off_loop(partial(ReadSource, item[0]))
        request = EvidenceRequest(source, item[1], frameworks=frozenset())
        try:
            return (await build_evidence(request, self.models, off_loop=off_loop)).claims
        except NoStatementError:
            return ()


async def _in_flight(
    works: Sequence[Callable[[], Awaitable[T]]], name: str, in_flight: int, order: Sequence[int] | None
) -> list[T]:
    done: dict[int, T] = {}
    waiting = iter(range(len(works)) if order is None else order)
    with Progress(console=error_console(), transient=True) as progress:
        task = progress.add_task(name, total=len(works))

        async def work() -> None:
            for index in waiting:
                done[index] = await works[index]()
                progress.advance(task)

        async with asyncio.TaskGroup() as group:
            for _ in range(in_flight):
                group.create_task(work())
    return [done[index] for index in range(len(works))]


async def repeats_identically(runner: JudgeRunner, items: Sequence[Item], neighbours: Sequence[Item]) -> bool:
    """Judges everything five times, shuffled, beside other neighbours, computed anew each time.

    Args:
        runner: one that remembers nothing.
        items: what is compared.
        neighbours: each is judged beside one of the runs.

    Returns:
        Whether all scores, evidence and reasons are equal to the last bit; only timings may differ.
    """
    rng, runs = random.Random(_SEED), []
    for number, in_flight in enumerate(IN_FLIGHT_OF_RUNS):
        beside = [*items, *neighbours[number :: len(IN_FLIGHT_OF_RUNS)]]
        order = rng.sample(range(len(beside)), len(beside))
        judged = await runner.judge_all(beside, f"run {number + 1}", in_flight=in_flight, order=order)
        runs.append([_lasting(judgement) for judgement in judged[: len(items)]])
    return all(run == runs[0] for run in runs[1:])


def _lasting(judgement: Judgement) -> tuple[object, tuple[FrameworkResult, ...]]:
    table = judgement.evidence
    return replace(table, timings=_NO_TIME) if table else None, judgement.frameworks
