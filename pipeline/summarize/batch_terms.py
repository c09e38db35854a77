"""The technical terms of every batch, found while the first calls are on their way."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from pipeline.summarize.packing import Batch
from pipeline.text.technical_terms import Term, find_terms

# Between two batches that are read ahead. Python runs one thread at a time, so that a thread that reads without a
# pause makes every request that the event loop sends wait for it: 64 requests at once took 0.3 s longer.
_PAUSE_S = 0.005


class BatchTerms:
    """Finds the terms of each batch once, whoever needs them first."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self._batches = batches
        self._terms: list[tuple[Term, ...] | None] = [None] * len(batches)
        self._stopped = False

    def of(self, index: int) -> tuple[Term, ...]:
        """Returns the distinct terms of a batch."""
        terms = self._terms[index]
        if terms is None:
            terms = tuple(find_terms("\n".join(chunk.text for chunk in self._batches[index].chunks)))
            self._terms[index] = terms
        return terms

    async def read_ahead(self, off_loop: Callable[[Callable[[], object]], Awaitable[object]]) -> None:
        """Reads all batches one by one on a thread, with pauses in between. Cancel it when nobody needs it any more.

        Args:
            off_loop: runs work on a thread.
        """
        for index in range(len(self._batches)):
            if self._terms[index] is None:
                await off_loop(lambda index=index: self.of(index))  # type: ignore[misc]  # mypy types no defaults
                await asyncio.sleep(_PAUSE_S)

    def of_document(self) -> dict[Term, None]:
        """Returns the distinct terms of all batches. CPU-heavy if not all were read: run it off the loop."""
        terms: dict[Term, None] = {}
        for index in range(len(self._batches)):
            if self._stopped:
                break
            terms.update(dict.fromkeys(self.of(index)))
        return terms

    def stop(self) -> None:
        """Ends `of_document` early: nobody needs it any more."""
        self._stopped = True
