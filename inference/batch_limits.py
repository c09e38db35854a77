"""How large a batch may be, and what its rows are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inference.cost_table import CostTable


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Hard bounds of a batch, and the costs that decide within them."""

    max_rows: int
    max_tokens: int  # without padding
    max_padded_tokens: int  # longest row times rows: what ONNX Runtime's memory grows with
    costs: CostTable
    worths: Sequence[float]  # by length: what a row costs in ideal company

    @classmethod
    def of(cls, costs: CostTable, *, max_batch_tokens: int) -> BatchLimits:
        """Bounds for at most `costs.max_rows` rows and `max_batch_tokens` tokens.

        Where the graph skips padding, as much again may be padding; where it does not, padding counts like tokens.
        """
        padded = max_batch_tokens * (2 if costs.skips_padding else 1)
        return cls(costs.max_rows, max_batch_tokens, padded, costs, costs.row_worths(max_batch_tokens))

    def allows(self, rows: int, tokens: int, longest: int) -> bool:
        """Whether such a batch is within the bounds. A single row always is."""
        return rows == 1 or (
            rows <= self.max_rows and tokens <= self.max_tokens and rows * longest <= self.max_padded_tokens
        )
