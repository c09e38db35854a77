"""Ways to cut many inputs into batches, from none to sorted token budgets."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """One way to batch.

    Attributes:
        name: shown in the table.
        max_rows: rows of a batch.
        max_padded_tokens: rows times longest row of a batch; a single row may exceed it.
        by_length: whether inputs of similar length go together, or in order of arrival.
    """

    name: str
    max_rows: int
    max_padded_tokens: int | None = None
    by_length: bool = True

    def cut(self, lengths: Sequence[int]) -> list[list[int]]:
        """Returns batches as lists of indices into `lengths`, longest first.

        Longest first lets parallel workers finish together, which is the best case for a raw limit.
        """
        arrival = range(len(lengths))
        ordered = sorted(arrival, key=lambda index: -lengths[index]) if self.by_length else arrival
        batches: list[list[int]] = []
        longest = 0
        for index in ordered:
            grown = max(longest, lengths[index])
            if batches and len(batches[-1]) < self.max_rows and self._fits(grown * (len(batches[-1]) + 1)):
                batches[-1].append(index)
                longest = grown
            else:
                batches.append([index])
                longest = lengths[index]
        return batches

    def _fits(self, padded_tokens: int) -> bool:
        return self.max_padded_tokens is None or padded_tokens <= self.max_padded_tokens


ONE_BY_ONE = Plan("batch 1", max_rows=1, by_length=False)

CPU_PLANS = (
    ONE_BY_ONE,
    Plan("2 rows by length", max_rows=2),
    Plan("4 rows by length", max_rows=4),
    Plan("8 rows by length", max_rows=8),
    Plan("16 rows by length", max_rows=16),
    Plan("512 tokens by length", max_rows=16, max_padded_tokens=512),
    Plan("1024 tokens by length", max_rows=32, max_padded_tokens=1024),
)
# Larger batches only pay where thousands of rows' arithmetic is still free.
GPU_PLANS = (
    ONE_BY_ONE,
    Plan("32 rows by length", max_rows=32),
    Plan("64 rows by length", max_rows=64),
    Plan("8192 tokens by length", max_rows=256, max_padded_tokens=8192),
    Plan("32768 tokens by length", max_rows=1024, max_padded_tokens=32768),
)
