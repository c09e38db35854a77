"""The technical terms of every batch, found while the first calls are on their way."""

from collections.abc import Sequence

from pipeline.summarize.packing import Batch
from pipeline.text.technical_terms import Term, find_terms


class BatchTerms:
    """Finds the terms of each batch once. A thread may read ahead; whoever comes before it reads by himself."""

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

    def of_document(self) -> dict[Term, None]:
        """Returns the distinct terms of all batches. CPU-heavy: run it off the loop."""
        terms: dict[Term, None] = {}
        for index in range(len(self._batches)):
            if self._stopped:
                break
            terms.update(dict.fromkeys(self.of(index)))
        return terms

    def stop(self) -> None:
        """Ends `of_document` early: nobody needs it any more."""
        self._stopped = True
