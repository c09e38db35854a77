import asyncio
import threading
from collections.abc import Sequence

import pytest

from inference.batching.in_flight import Encoded
from inference.errors import QueueFullError, ShuttingDownError
from inference.tokens.tokenizer_thread import TokenizerThread
from tests.unit.inference.serving import make_item, settle


def encode(texts: Sequence[str]) -> list[Encoded]:
    return [make_item(len(text)) for text in texts]


class GatedEncode:
    """Encodes when it is let; notes the slices and the thread."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.entered = threading.Semaphore(0)
        self.slices: list[Sequence[str]] = []
        self.thread_name = ""

    def __call__(self, texts: Sequence[str]) -> list[Encoded]:
        self.slices.append(texts)
        self.thread_name = threading.current_thread().name
        self.entered.release()
        self.gate.wait()
        return encode(texts)


async def test_a_list_is_encoded_in_slices_and_in_order_on_the_named_thread() -> None:
    texts = ["x" * length for length in range(1, 400)]
    gated = GatedEncode()
    gated.gate.set()
    async with TokenizerThread(10**9) as thread:
        items = await thread.encode(texts, gated)
    assert [item.key for item in items] == [make_item(len(text)).key for text in texts]
    assert gated.thread_name == "precis-tokenizer"
    assert len(gated.slices) > 1
    assert [text for texts in gated.slices for text in texts] == texts


async def test_jobs_take_turns() -> None:
    gated = GatedEncode()
    async with TokenizerThread(10**9) as thread:
        long = asyncio.create_task(thread.encode(["a" * 15_000] * 20, gated))
        await asyncio.to_thread(gated.entered.acquire)
        short = asyncio.create_task(thread.encode(["b"], gated))
        await settle()
        gated.gate.set()
        await short
        assert ["b"] in gated.slices[:3]
        await long


async def test_a_job_whose_caller_has_left_is_skipped() -> None:
    gated = GatedEncode()
    async with TokenizerThread(10**9) as thread:
        first = asyncio.create_task(thread.encode(["a"], gated))
        await asyncio.to_thread(gated.entered.acquire)
        leaving = asyncio.create_task(thread.encode(["b"], gated))
        await settle()
        leaving.cancel()
        await settle()
        gated.gate.set()
        await first
        await thread.encode(["c"], gated)
    assert gated.slices == [["a"], ["c"]]


async def test_what_may_wait_is_bounded_and_counted_back() -> None:
    gated = GatedEncode()
    async with TokenizerThread(10) as thread:
        first = asyncio.create_task(thread.encode(["a" * 8], gated))
        await settle()
        with pytest.raises(QueueFullError):
            await thread.encode(["b" * 3], gated)
        gated.gate.set()
        await first
        assert len(await thread.encode(["b" * 3], gated)) == 1
        assert len(await thread.encode(["c" * 30], gated)) == 1  # alone, any size: its own limit is elsewhere


async def test_an_error_reaches_its_caller_and_nobody_else() -> None:
    def fail(texts: Sequence[str]) -> list[Encoded]:
        raise ValueError(texts[0])

    async with TokenizerThread(10**9) as thread:
        with pytest.raises(ValueError, match="bad"):
            await thread.encode(["bad"], fail)
        assert len(await thread.encode(["good"], encode)) == 1


async def test_leaving_ends_what_has_begun_and_refuses_what_comes() -> None:
    gated = GatedEncode()
    async with TokenizerThread(10**9) as thread:
        first = asyncio.create_task(thread.encode(["a"], gated))
        await asyncio.to_thread(gated.entered.acquire)
        gated.gate.set()
    assert len(await first) == 1
    with pytest.raises(ShuttingDownError):
        await thread.encode(["c"], gated)
