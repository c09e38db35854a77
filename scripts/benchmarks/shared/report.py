"""What every benchmark prints: a table for people, then one JSON object as the last line for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

PIPED_WIDTH = 110  # columns; rich would assume 80 and fold the rows of a table that goes to a file

QUIET_CPU_SHARE = 0.9  # of the CPU time asked for; workers that end at different times cost a few percent

Figure = float | int | str | bool | Mapping[str, float] | None


@dataclass(frozen=True)
class Target:
    """A figure that the project promises; of a figure with several values, the worst of them."""

    key: str
    bound: float
    at_least: bool = True

    def is_met(self, value: float) -> bool:
        """Compares without rounding."""
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        """Writes the bound as people do."""
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"


@dataclass(frozen=True)
class Report:
    """The result of one benchmark.

    Attributes:
        title: above the table.
        columns: headings; the first column is text, the others are numbers.
        rows: cells as they are shown.
        figures: the JSON object. `cpu_share`, where there is one, is checked: a busy machine gives poor figures.
        targets: compared with `figures` in a second table.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Mapping[str, Figure]
    targets: Sequence[Target] = field(default_factory=tuple)

    def show(self) -> None:
        """Prints the tables and the JSON line on stdout."""
        console = Console(highlight=False)
        if not console.is_terminal:
            console = Console(highlight=False, width=PIPED_WIDTH)
        console.print(self._measurements())
        if self.targets:
            console.print(self._comparison())
        share = self.figures.get("cpu_share")
        if isinstance(share, float) and share < QUIET_CPU_SHARE:
            console.print(f"Other processes took {1 - share:.0%} of the CPU; repeat this on a quiet machine.")
        print(json.dumps({key: _rounded(value) for key, value in self.figures.items()}))

    def _measurements(self) -> Table:
        table = Table(title=self.title, title_justify="left")
        for index, name in enumerate(self.columns):
            table.add_column(name, justify="left" if index == 0 else "right")
        for row in self.rows:
            table.add_row(*row)
        return table

    def _comparison(self) -> Table:
        table = Table(title="targets", title_justify="left")
        for name in ("figure", "measured", "target", ""):
            table.add_column(name, justify="right" if name in {"measured", "target"} else "left")
        for target in self.targets:
            value = self.figures.get(target.key)
            if isinstance(value, Mapping) and value:
                value = (min if target.at_least else max)(value.values())
            if isinstance(value, int | float):
                verdict = "[green]met[/]" if target.is_met(value) else "[red]missed[/]"
                table.add_row(target.key, f"{value:.4g}", str(target), verdict)
            else:
                table.add_row(target.key, "-", str(target), "not measured")
        return table


def _rounded(value: Figure) -> Figure:
    """Keeps six significant digits: more would be noise."""
    if isinstance(value, Mapping):
        return {key: float(f"{one:.6g}") for key, one in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value
