"""Terms of batches are found once, ahead of the calls or when they are needed."""

import asyncio
from collections.abc import Callable

from pipeline.reading.values import Term, TermKind
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.meter import BatchTerms
from pipeline.summarize.packing import ChunkBatch

BATCHES = [ChunkBatch((SourceChunk(index, 1, f"Pump P-{index} runs at {index} bar."),), 8) for index in range(5)]
PART_NUMBERS = {Term(TermKind.PART_NUMBER, f"p-{index}") for index in range(5)}


async def test_all_batches_are_read_ahead_and_none_twice() -> None:
    terms = BatchTerms(BATCHES)
    first = terms.of(3)
    read: list[object] = []

    async def off_loop(work: Callable[[], object]) -> None:
        read.append(work())

    await terms.read_ahead(off_loop)
    assert len(read) == 4  # not the one that was read before
    assert terms.of(3) is first
    assert all(terms.of(index) is found for index, found in zip((0, 1, 2, 4), read, strict=True))
    assert set(terms.of_document()) >= PART_NUMBERS


async def test_reading_ahead_can_be_cancelled_and_the_rest_is_read_when_needed() -> None:
    terms = BatchTerms(BATCHES)
    started = asyncio.Event()

    async def never(work: Callable[[], object]) -> None:
        started.set()
        await asyncio.Event().wait()

    reading = asyncio.create_task(terms.read_ahead(never))
    await started.wait()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert set(terms.of_document()) >= PART_NUMBERS


def test_a_run_that_is_over_reads_no_further() -> None:
    terms = BatchTerms(BATCHES)
    terms.stop()
    assert terms.of_document() == {}
