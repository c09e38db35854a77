"""Batchers over a fake backend, as the engine would own them."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np

from inference.batching.batch import BatchLimits, ComputeModel
from inference.batching.batcher import DynamicBatcher
from inference.batching.cost_table import CostTable
from inference.batching.in_flight import Encoded, Ticket
from inference.batching.worker_pool import WorkerPool
from inference.call import Call
from inference.config import InferenceConfig
from inference.statistics import Observe
from tests.fakes import FakeBackend

MAX_LENGTH = 64
ANY = Call()


def make_item(first: int, length: int = 4) -> Encoded:
    """An item whose answer is [first, length]."""
    ids = np.array([first, *[7] * (length - 1)], np.int32).tobytes()
    return Encoded(ids, length, is_truncated=False, key=ids)


def make_costs(*, fixed_s: float, token_s: float, max_rows: int, price: float) -> CostTable:
    """Costs of a machine on which a pass has a fixed part and a part for each token."""
    cells = {(rows, length): fixed_s + token_s * rows * length for rows in (1, max_rows) for length in (1, MAX_LENGTH)}
    return CostTable(cells, max_rows=max_rows, max_length=MAX_LENGTH, padding_s=token_s * price)


def make_limits(
    *, fixed_s: float = 1e-6, token_s: float = 1e-7, max_rows: int = 8, price: float = 1.0, max_batch_tokens: int = 128
) -> BatchLimits:
    """Bounds over `make_costs`."""
    costs = make_costs(fixed_s=fixed_s, token_s=token_s, max_rows=max_rows, price=price)
    return BatchLimits.of(costs, max_batch_tokens=max_batch_tokens)


@dataclass(frozen=True)
class Serving:
    """What a test of the batcher holds."""

    batcher: DynamicBatcher
    pool: WorkerPool
    backend: FakeBackend

    async def submit(self, *numbers: int, call: Call = ANY) -> Ticket:
        """Computes items whose answers begin with these numbers."""
        return await self.batcher.submit([make_item(number) for number in numbers], call)

    def start(self, *numbers: int, call: Call = ANY) -> asyncio.Task[Ticket]:
        """Begins to."""
        return asyncio.create_task(self.submit(*numbers, call=call))

    @asynccontextmanager
    async def held(self, number: int = 1) -> AsyncIterator[None]:
        """Holds the worker with one item while entered; lets it go and waits for it on leaving."""
        self.backend.close_gate()
        blocker = self.start(number)
        await self.backend.wait_entered()
        yield
        await settle()
        self.backend.open_gate()
        await blocker


@asynccontextmanager
async def serving(
    *,
    limits: BatchLimits | None = None,
    workers: int = 1,
    observe: Observe | None = None,
    clock: Callable[[], float] = time.monotonic,
    **config: object,
) -> AsyncIterator[Serving]:
    """Runs one model on a fake backend. `config` goes to InferenceConfig; restarts wait a millisecond by default."""
    config.setdefault("runtime", {"restart_backoff_s": 0.001})
    settings = InferenceConfig.model_validate(config)
    backend = FakeBackend()
    model = ComputeModel(
        name="fake",
        backends=(backend,),
        inputs=("input_ids", "attention_mask"),
        pad_token_id=0,
        dimension=2,
        finish=lambda output: output,
        limits=limits or make_limits(),
    )
    pool = WorkerPool(settings.runtime, workers, clock=clock)
    batcher = DynamicBatcher(model, pool, settings, observe=observe)
    try:
        async with pool:
            yield Serving(batcher, pool, backend)
    finally:
        if backend.interrupt_helps:  # the test of a run that nothing ends lets go of it itself
            backend.open_gate()


async def settle(turns: int = 5) -> None:
    """Lets everything run that is ready to run on the event loop."""
    for _ in range(turns):
        await asyncio.sleep(0)


async def until(condition: Callable[[], bool], wake: asyncio.Event) -> None:
    """Waits until `condition` holds, looking each time that `wake` is set."""
    while not condition():
        wake.clear()
        await wake.wait()
