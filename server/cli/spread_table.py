"""How the numbers of many items spread: mean and deciles."""

import statistics
from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table


def spread_table(rows: Iterable[tuple[str, Sequence[float]]], *, digits: int = 3) -> Table:
    """Builds the table of means and quantiles; a row without numbers is left out."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("")
    for heading in ("mean", "p10", "median", "p90", "items"):
        table.add_column(heading, justify="right")
    for name, values in rows:
        if values:
            numbers = (statistics.fmean(values), *deciles(values))
            table.add_row(name, *(f"{number:.{digits}f}" for number in numbers), str(len(values)))
    return table


def deciles(values: Sequence[float]) -> tuple[float, float, float]:
    """Returns the 10th, 50th and 90th percentile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[4], tenths[8]
