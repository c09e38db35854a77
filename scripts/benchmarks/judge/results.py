"""What the parts of the benchmark add to: rows of the table and figures of the last line."""

from dataclasses import dataclass, field

from scripts.benchmarks.shared.report import Figure

COLUMNS = ("figure", "value", "95% interval", "Kendall", "R2p")
"""R2p: the same figure of the share of the summary's bigrams that the source has, the honest baseline."""


@dataclass
class Results:
    """Rows and figures, as they come."""

    rows: list[list[str]] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)

    def add(self, name: str, value: float | str, *others: str) -> None:
        """Adds a row; the other cells follow the columns."""
        cells = [name, f"{value:.3f}" if isinstance(value, float) else str(value), *others]
        self.rows.append([*cells, *[""] * (len(COLUMNS) - len(cells))])
