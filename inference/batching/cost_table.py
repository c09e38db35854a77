"""What a forward pass costs, as measured: seconds by rows, tokens and longest row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt


class CostTable:
    """Seconds of one forward pass.

    Made from a few measured cells of rows of equal length. Between them it is linear; beyond the most rows measured
    at a length it goes on with the slope of the last two. It never falls with more rows or more tokens, as a noisy
    measurement may.
    """

    def __init__(
        self, measured: Mapping[tuple[int, int], float], *, max_rows: int, max_length: int, padding_s: float
    ) -> None:
        """Takes seconds for (rows, length), each at least 1, and for a token of padding.

        Every length needs a cell with one row.
        """
        lengths = sorted({length for _, length in measured})
        fixed_s = _fixed_seconds(measured, lengths)
        grid = np.array([_over_rows(measured, length, max_rows, fixed_s) for length in lengths])
        grid = np.maximum.accumulate(grid, axis=0)
        self._seconds = [[0.0] * (max_length + 2)]
        self._seconds += [_over_lengths(lengths, grid[:, rows], max_length + 1) for rows in range(max_rows)]
        self._padding_s = padding_s
        self.max_rows = max_rows
        self.max_length = max_length
        slope_s = (self._seconds[1][max_length] - self._seconds[1][1]) / max(1, max_length - 1)
        self.skips_padding = padding_s < slope_s / 2  # it costs much less than tokens do

    def seconds(self, rows: int, tokens: int, longest: int) -> float:
        """Predicted seconds for `rows` rows of `tokens` tokens in total, the longest of which has `longest`."""
        column = self._seconds[rows]
        padding = rows * longest - tokens
        if padding == 0:
            return column[longest]
        mean = tokens / rows
        below = int(mean)
        even_s = column[below] + (mean - below) * (column[below + 1] - column[below])
        return even_s + padding * self._padding_s

    def row_worths(self, max_batch_tokens: int) -> list[float]:
        """The least that a row can cost at each length: its share of the best batch of its own length.

        Index 0 is unused. Batches are weighed by it: it is what a row would cost in ideal company.
        """
        worths = [0.0]
        for length in range(1, self.max_length + 1):
            most = max(1, min(self.max_rows, max_batch_tokens // length))
            worths.append(min(self._seconds[rows][length] / rows for rows in range(1, most + 1)))
        return worths


def _fixed_seconds(measured: Mapping[tuple[int, int], float], lengths: list[int]) -> float:
    """What a pass costs besides its tokens: the line through the two shortest single rows, at no tokens."""
    first_s = measured[1, lengths[0]]
    if len(lengths) == 1:
        return 0.0
    slope = (measured[1, lengths[1]] - first_s) / (lengths[1] - lengths[0])
    # An intercept of more than that share of the cheapest pass is noise.
    return min(max(first_s - slope * lengths[0], 0.0), first_s * 0.9)


def _over_rows(measured: Mapping[tuple[int, int], float], length: int, max_rows: int, fixed_s: float) -> list[float]:
    """Seconds for 1..max_rows rows of one length. With one row measured, each more costs as much without `fixed_s`."""
    known = sorted((rows, seconds) for (rows, width), seconds in measured.items() if width == length)
    xs = [float(rows) for rows, _ in known]
    ys = list(np.maximum.accumulate([seconds for _, seconds in known]))
    slope = ys[0] - fixed_s if len(xs) == 1 else (ys[-1] - ys[-2]) / (xs[-1] - xs[-2])
    wanted = np.arange(1, max_rows + 1)
    inside = np.interp(wanted, xs, ys)
    return [float(y + slope * max(0.0, x - xs[-1])) for x, y in zip(wanted, inside, strict=True)]


def _over_lengths(lengths: list[int], column: npt.NDArray[np.float64], max_length: int) -> list[float]:
    """Seconds for lengths 0..max_length; beyond the longest measured they grow in proportion."""
    wanted = np.arange(max_length + 1)
    inside = np.interp(wanted, lengths, column)
    beyond = np.maximum(wanted / lengths[-1], 1.0)
    return [float(value) for value in inside * beyond]
