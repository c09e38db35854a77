"""The overview of a bulk run: what every item got, and the ones that failed."""

from dataclasses import dataclass

from server.cli.judge_report.scores import Chart


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One judged item.

    Attributes:
        id: the caller's name for it.
        anchor: its place on the page; empty when it is not shown whole.
        means: mean score by framework; None without scores that count.
        unsupported_count: claims that the source does not support.
        claim_count: claims.
        breach_count: scores under --fail-under.
    """

    id: str
    anchor: str
    means: tuple[float | None, ...]
    unsupported_count: int
    claim_count: int
    breach_count: int


@dataclass(frozen=True, slots=True)
class Index:
    """All items of a bulk run.

    Attributes:
        charts: mean scores by framework.
        frameworks: their titles, in the order of `IndexRow.means`.
        rows: worst first.
        failures: name of the item, and why it has no judgement.
        failed_count: failed items, of which `failures` are the first.
        has_floors: whether --fail-under was given.
    """

    charts: tuple[Chart, ...]
    frameworks: tuple[str, ...]
    rows: tuple[IndexRow, ...]
    failures: tuple[tuple[str, str], ...]
    failed_count: int
    has_floors: bool

    @property
    def item_count(self) -> int:
        """Items that were answered."""
        return len(self.rows) + self.failed_count

    @property
    def shown_count(self) -> int:
        """Items that are shown whole."""
        return sum(bool(row.anchor) for row in self.rows)
