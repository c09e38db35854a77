"""What two sets of scores amount to: the mean difference, how sure it is, which items changed sides or lost theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pipeline.agreement.bootstrap import Difference, paired_difference
from server.cli.agreement.terms import CompareOptions
from server.cli.console import Grid
from server.cli.errors import InputError
from server.cli.judge.calibration import Identity

ABSTAINED = "abstained"  # a status, in words


@dataclass
class Scores:
    """The scores of one file.

    Attributes:
        path: of the file.
        scores: by id; None where there is none that counts.
        categories: by id.
        identities: models behind them.
        statuses: by id, why there is no score.
    """

    path: Path
    scores: dict[str, float | None] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    identities: set[Identity] = field(default_factory=set)
    statuses: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """The scores of one item."""

    id: str
    category: str
    first: float
    second: float

    @property
    def change(self) -> str:
        """Says how it changed sides."""
        return "passes now" if self.second > self.first else "no longer passes"


@dataclass(frozen=True, slots=True)
class LostScore:
    """An item that had a score, and has none that counts now.

    Attributes:
        first: the score that it had.
        passed: with that.
        status: why it has none.
    """

    id: str
    category: str
    first: float
    passed: bool
    status: str

    @property
    def why(self) -> str:
        """Says why it has no score, and whether it passed before."""
        return ", ".join(filter(None, (self.status, "no longer passes" if self.passed else "")))


@dataclass(frozen=True, slots=True)
class PairStudy:
    """What the pairs of a category amount to, or all of them.

    Attributes:
        category: empty for all.
        difference: second less first.
        wins: pairs with a higher second score.
        fixed: pairs that pass only now.
        broken: pairs that passed before.
    """

    category: str
    count: int
    first_mean: float
    second_mean: float
    difference: Difference
    wins: int
    losses: int
    ties: int
    fixed: int
    broken: int

    @property
    def cells(self) -> Sequence[str]:
        """What stands in a row of the table."""
        found = self.difference.estimate
        return (
            *(self.category or "all", str(self.count), f"{self.first_mean:.2f}", f"{self.second_mean:.2f}"),
            *(f"{found.value:+.2f}", f"{found.low:+.2f} to {found.high:+.2f}", f"{self.difference.p:.3f}"),
            *(f"{self.wins}/{self.losses}/{self.ties}", f"{self.fixed}/{self.broken}"),
        )


@dataclass(frozen=True)
class ComparisonReport:
    """All that is shown of a comparison.

    Attributes:
        options: how it was made; with kind and threshold of the calibration.
        whole: all pairs; None when every item lost its score.
        categories: in order of their names.
        flips: pairs that changed sides; those that passed before first, the greatest falls first.
        lost: items that have a score in the first file alone; the highest first.
        only_first: ids that the second file lacks.
        only_second: ids that the first file lacks.
        unscored: why items have no score that counts on one side or both, by id.
        abstains_more: whether the judge abstains from more items than before, at the confidence asked for.
        is_one_judge: whether the same models judged all that a model read.
    """

    options: CompareOptions
    whole: PairStudy | None
    categories: Sequence[PairStudy]
    flips: Sequence[Pair]
    lost: Sequence[LostScore]
    only_first: Sequence[str]
    only_second: Sequence[str]
    unscored: Mapping[str, str]
    abstains_more: bool
    is_one_judge: bool

    @property
    def studies(self) -> list[PairStudy]:
        """All pairs, if there are any, then the categories."""
        return [*([self.whole] if self.whole else []), *self.categories]

    @property
    def has_fallen(self) -> bool:
        """Whether the mean fell by more than the tolerance, at the confidence asked for."""
        return self.whole is not None and self.whole.difference.estimate.high < -self.options.tolerance

    @property
    def is_regression(self) -> bool:
        """Whether the mean fell, or items lost their scores, which no mean shows."""
        return self.has_fallen or bool(self.decisive)

    @property
    def decisive(self) -> Sequence[LostScore]:
        """Lost scores that are a regression: all, but for the few items of any summaries that the judge abstains from.

        It abstains from 0.9% of the summaries of QAGS-CNN and 5.2% of rank19's, good ones and bad ones.
        """
        counts_all = self.abstains_more or self.whole is None
        return [one for one in self.lost if counts_all or one.status != ABSTAINED]

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        options = self.options
        fallen = "Regression" if self.has_fallen else "No regression"
        of_mean = f"{fallen} beyond {options.tolerance:g} points at {options.confidence:.0%} confidence."
        if not self.decisive:
            return of_mean
        passed = sum(one.passed for one in self.decisive)
        lost = f"Regression: {len(self.decisive)} items lost their score; {passed} of them passed before."
        return f"{lost} Of the others: {of_mean}" if self.whole else f"{lost} No item has two scores."

    @property
    def remarks(self) -> list[str]:
        """What a reader should know."""
        remarks = []
        if not self.is_one_judge:
            remarks.append("Different models judged: the difference is of judges as well as of summaries.")
        if self.unscored:
            why = ", ".join(sorted({status for status in self.unscored.values() if status}))
            said = f"{len(self.unscored)} items have no score that counts on one side, and are left out of the means"
            remarks.append(f"{said}: {why}." if why else f"{said}.")
        if left_out := len(self.only_first) + len(self.only_second):
            remarks.append(f"{left_out} items are in one file only, and are left out.")
        return remarks

    @property
    def pair_grid(self) -> Grid:
        """All pairs and each category."""
        interval, passes = f">{self.options.confidence:.0%} interval", f">pass {self.options.threshold:g} now/no longer"
        headings = ("", ">items", ">before", ">after", ">difference", interval, ">p", ">won/lost/tied", passes)
        return Grid(headings, [one.cells for one in self.studies], 40)

    def flip_grid(self, limit: int) -> Grid:
        """The first items that changed sides."""
        rows = [(one.id, one.category, f"{one.first:.2f}", f"{one.second:.2f}", one.change) for one in self.flips]
        return first_rows("items that changed sides", (">before", ">after", ""), rows, limit)

    def lost_grid(self, limit: int) -> Grid:
        """The first items that lost their score."""
        rows = [(one.id, one.category, f"{one.first:.2f}", one.why) for one in self.lost]
        return first_rows("items that lost their score", (">before", ""), rows, limit)


def first_rows(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], limit: int) -> Grid:
    """Builds the table of the first items, which tells how many there are."""
    count = f"{len(rows)}, the first {limit}" if len(rows) > limit else f"{len(rows)}"
    return Grid((f"{title} ({count})", "category", *headings), rows[:limit])


def report_of(first: Scores, second: Scores, options: CompareOptions) -> ComparisonReport:
    """Compares what both files have. Raises InputError when that is not all, or nothing."""
    only_first = sorted(first.scores.keys() - second.scores.keys())
    only_second = sorted(second.scores.keys() - first.scores.keys())
    if (only_first or only_second) and not options.common:
        raise InputError(
            f"{len(only_first)} items are only in {first.path}, {len(only_second)} only in {second.path}: "
            "give --common to compare the others"
        )
    pairs, lost, unscored = [], [], {}
    for item_id in sorted(first.scores.keys() & second.scores.keys()):
        one, other = first.scores[item_id], second.scores[item_id]
        category = first.categories[item_id] or second.categories[item_id]
        if one is not None and other is not None:
            pairs.append(Pair(item_id, category, one, other))
            continue
        status = (first if one is None else second).statuses.get(item_id, "")
        unscored[item_id] = status
        if one is not None:
            lost.append(LostScore(item_id, category, one, one >= options.threshold, status))
    if not pairs and not lost:
        raise InputError(f"{first.path} and {second.path} have no item with two scores")
    categories = sorted({pair.category for pair in pairs} - {""})
    flips = [pair for pair in pairs if (pair.first < options.threshold) != (pair.second < options.threshold)]
    return ComparisonReport(
        options,
        study_pairs("", pairs, options) if pairs else None,
        [study_pairs(name, [pair for pair in pairs if pair.category == name], options) for name in categories],
        sorted(flips, key=lambda pair: (pair.second - pair.first, pair.id)),
        sorted(lost, key=lambda one: (-one.first, one.id)),
        only_first,
        only_second,
        unscored,
        abstains_more(first, second, options.confidence),
        is_one_judge=len(first.identities | second.identities) <= 1,
    )


def abstains_more(first: Scores, second: Scores, confidence: float) -> bool:
    """Tells whether the judge abstains from more of the items in both files than it did, beyond chance."""
    common = sorted(first.scores.keys() & second.scores.keys())
    before, after = ([one.statuses.get(item_id) == ABSTAINED for item_id in common] for one in (first, second))
    return paired_difference(before, after, confidence).estimate.low > 0


def study_pairs(category: str, pairs: Sequence[Pair], options: CompareOptions) -> PairStudy:
    """Counts and estimates."""
    first, second = [pair.first for pair in pairs], [pair.second for pair in pairs]
    passes = [(pair.first >= options.threshold, pair.second >= options.threshold) for pair in pairs]
    return PairStudy(
        category,
        len(pairs),
        sum(first) / len(pairs),
        sum(second) / len(pairs),
        paired_difference(first, second, options.confidence),
        wins=sum(pair.second > pair.first for pair in pairs),
        losses=sum(pair.second < pair.first for pair in pairs),
        ties=sum(pair.second == pair.first for pair in pairs),
        fixed=passes.count((False, True)),
        broken=passes.count((True, False)),
    )


def to_fields(report: ComparisonReport) -> dict[str, Any]:
    """Gives the report as plain data."""
    options = report.options
    return {
        "framework": options.kind.framework,
        "metric": options.kind.metric,
        "policy": options.kind.policy,
        "threshold": options.threshold,
        "tolerance": options.tolerance,
        "confidence": options.confidence,
        "is_regression": report.is_regression,
        "is_one_judge": report.is_one_judge,
        "abstains_more": report.abstains_more,
        "all": asdict(report.whole) if report.whole else None,
        "categories": [asdict(one) for one in report.categories],
        "flips": [asdict(one) for one in report.flips],
        "lost": [asdict(one) for one in report.lost],
        "only_first": report.only_first,
        "only_second": report.only_second,
        "unscored": list(report.unscored),
    }
