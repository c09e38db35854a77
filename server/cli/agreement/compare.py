"""`precis compare`: is the second of two sets of results worse, by how much, and which items changed sides?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from precis.v1 import judge_pb2 as pb
from rich.console import Console
from rich.text import Text

from pipeline.agreement.bootstrap import CONFIDENCE, Difference, paired_difference
from server.cli.commands.agreement import CompareOptions
from server.cli.commands.judge import BEST_SCORE, ScoreKind
from server.cli.console import SHOWN_ITEMS, Grid, counted, note_files, number, print_grids, print_result
from server.cli.errors import InputError, NegativeAnswer
from server.cli.files import naming, parse_message, read_rows, to_id, write_result
from server.cli.judge import calibration
from server.cli.judge.names import status_name
from server.cli.page.render import render_page

ABSTAINED = "abstained"  # a status, in words
PAGE_ITEMS = 1_000


def compare(paths: Sequence[Path], options: CompareOptions) -> None:
    """Reads, compares, prints. Raises CliError; NegativeAnswer for a regression."""
    fitted = calibration.read_calibration(options.calibration)
    if fitted is not None:
        taken = ("framework", "metric", "policy", "threshold")
        options = replace(options, **{name: getattr(fitted, name) for name in taken})
    first, second = (read_scores(path, options) for path in paths)
    if fitted is not None:
        for identity in identities_of(first, second):
            fitted.check(identity)
    report = report_of(paths, first, second, options)
    write_result(options.report, lambda: render_comparison(paths, report))
    print_result(report, to_fields, print_comparison, as_json=options.as_json)
    note_files(report=options.report)
    if report.is_regression:
        raise NegativeAnswer(report.verdict)


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """What one file says of an item."""

    score: float | None  # None where there is none that counts
    status: str = ""  # why there is none
    identity: calibration.Identity | None = None  # the models behind it; None when no model read the texts


Scores = Mapping[str, ScoredItem]
"""The items of one file by id."""


def read_scores(path: Path, kind: ScoreKind) -> Scores:
    """Reads the results in a file. Raises InputError that names line and field."""

    def parse(fields: dict[str, Any], place: str) -> tuple[str, ScoredItem]:
        if "error" in fields:
            raise InputError("error: this item failed; judge it again with precis judge --resume")
        if "result" not in fields:
            raise InputError("result: expected what precis judge --output writes, got nothing; judge the items first")
        if not isinstance(fields["result"], dict):
            raise InputError(f"result: expected an object, got {type(fields['result']).__name__}")
        with naming("result"):
            result = parse_message(fields["result"], pb.JudgeResult(), ignores_unknown=True)
        metric, score = calibration.find_metric(result, kind), calibration.score_of(result, kind)
        if metric is None:
            raise InputError(f"result.frameworks: expected {kind.framework} {kind.metric}")
        if score is not None and not 0 <= score <= BEST_SCORE:
            raise InputError(f"result.frameworks: expected a score from 0 to {BEST_SCORE:g}, got {score:g}")
        status = "" if score is not None else status_name(metric)
        return str(fields.get("id", place)), ScoredItem(score, status, calibration.identity_of(result))

    return dict(read_rows(path, parse))


def identities_of(*files: Scores) -> set[calibration.Identity]:
    """Lists the models that judged."""
    return {one.identity for items in files for one in items.values() if one.identity is not None}


@dataclass(frozen=True, slots=True)
class Pair:
    """The scores of one item, None where there is none that counts; `status` says why."""

    id: str
    first: float | None
    second: float | None
    status: str


@dataclass(frozen=True, slots=True)
class PairStudy:
    """What the pairs amount to.

    The difference is second less first; what is won has a higher second score, what is fixed passes only now.
    """

    count: int
    first_mean: float
    second_mean: float
    difference: Difference
    wins: int
    losses: int
    ties: int
    fixed: int
    broken: int


@dataclass(frozen=True)
class ComparisonReport:
    """All that is shown of a comparison."""

    options: CompareOptions  # how it was made; with kind and threshold of the calibration
    whole: PairStudy | None  # all pairs with two scores; None when every item lost its score
    # items that lost their score, the highest first; then those that changed sides, the deepest first
    changed: Sequence[Pair]
    unscored: Sequence[Pair]  # items without a score that counts on one side or both
    abstains_more: bool  # whether the judge abstains from more items than before, beyond chance
    is_one_judge: bool  # whether the same models judged all that a model read

    @property
    def has_fallen(self) -> bool:
        """Whether the mean fell by more than the tolerance, beyond chance."""
        return self.whole is not None and self.whole.difference.estimate.high < -self.options.tolerance

    @property
    def is_regression(self) -> bool:
        """Whether the mean fell, or items lost their scores, which no mean shows."""
        return self.has_fallen or bool(self.decisive)

    @property
    def decisive(self) -> Sequence[Pair]:
        """Lost scores that are a regression: all, but for the few items of any summaries that the judge abstains from.

        It abstains from 0.9% of the summaries of QAGS-CNN and 5.2% of rank19's, good ones and bad ones.
        """
        counts_all = self.abstains_more or self.whole is None
        return [one for one in self.changed if one.second is None and (counts_all or one.status != ABSTAINED)]

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        fallen = "Regression" if self.has_fallen else "No regression"
        of_mean = f"{fallen} beyond {self.options.tolerance:g} points at {CONFIDENCE:.0%} confidence."
        if not self.decisive:
            return of_mean
        passed = sum(map(self.passed, self.decisive))
        lost = f"Regression: {counted(len(self.decisive), 'item')} lost their score; {passed} of them passed before."
        return f"{lost} Of the others: {of_mean}" if self.whole else f"{lost} No item has two scores."

    @property
    def remarks(self) -> list[str]:
        """What a reader should know."""
        remarks = []
        if not self.is_one_judge:
            remarks.append("Different models or rules judged: the difference is of judges as well as of summaries.")
        if self.unscored:
            why = ", ".join(sorted({one.status for one in self.unscored if one.status}))
            said = f"{len(self.unscored)} items have no score that counts on one side, and are left out of the means"
            remarks.append(f"{said}: {why}." if why else f"{said}.")
        return remarks

    @property
    def pair_grid(self) -> Grid:
        """What all pairs amount to, if there are any."""
        rows = []
        if (one := self.whole) is not None:
            mean = one.difference.estimate
            means = (f"{one.first_mean:.2f}", f"{one.second_mean:.2f}", f"{mean.value:+.2f}")
            certainty = (f"{mean.low:+.2f} to {mean.high:+.2f}", f"{one.difference.p:.3f}")
            counts = (f"{one.wins}/{one.losses}/{one.ties}", f"{one.fixed}/{one.broken}")
            rows.append((str(one.count), *means, *certainty, *counts))
        headings = (">items", ">before", ">after", ">difference", f">{CONFIDENCE:.0%} interval", ">p")
        passes = f">pass {self.options.threshold:g} now/no longer"
        return Grid((*headings, ">won/lost/tied", passes), rows, 40)

    def changed_grid(self, limit: int) -> Grid:
        """The first items that lost their score, with the reason, or changed sides."""
        count = f"{len(self.changed)}, the first {limit}" if len(self.changed) > limit else f"{len(self.changed)}"
        rows = []
        for one in self.changed[:limit]:
            passes = one.second is not None and one.second >= self.options.threshold
            side = "passes now" if passes else "no longer passes" if self.passed(one) else ""
            what = ", ".join(filter(None, (one.status, side)))
            rows.append((one.id, number(one.first), number(one.second), what))
        return Grid((f"items that changed sides or lost their score ({count})", ">before", ">after", ""), rows)

    def passed(self, pair: Pair) -> bool:
        """Tells whether an item passed before."""
        return pair.first is not None and pair.first >= self.options.threshold


def report_of(paths: Sequence[Path], first: Scores, second: Scores, options: CompareOptions) -> ComparisonReport:
    """Compares two files. Raises InputError when they are not of the same items, or none has a score."""
    if first.keys() != second.keys():
        only = [len(one.keys() - other.keys()) for one, other in ((first, second), (second, first))]
        raise InputError(f"{only[0]} items are only in {paths[0]}, {only[1]} only in {paths[1]}: compare equal ones")
    sides = [(name, first[name], second[name]) for name in sorted(first)]
    pairs = [Pair(name, a.score, b.score, (a if a.score is None else b).status) for name, a, b in sides]
    scored = [(one.first, one.second) for one in pairs if one.first is not None and one.second is not None]
    lost = [(-one.first, one) for one in pairs if one.first is not None and one.second is None]
    moved = [
        (one.second - one.first, one)
        for one in pairs
        if one.first is not None and one.second is not None
        if (one.first < options.threshold) != (one.second < options.threshold)
    ]
    changed = [one for group in (lost, moved) for _, one in sorted(group, key=itemgetter(0))]
    if not scored and not changed:
        raise InputError(f"{paths[0]} and {paths[1]} have no item with two scores")
    abstained = [(a.status == ABSTAINED, b.status == ABSTAINED) for _, a, b in sides]
    return ComparisonReport(
        options,
        _study(scored, options.threshold) if scored else None,
        changed,
        [one for one in pairs if one.first is None or one.second is None],
        abstains_more=paired_difference(*zip(*abstained, strict=True)).estimate.low > 0,
        is_one_judge=len(identities_of(first, second)) <= 1,
    )


def _study(pairs: Sequence[tuple[float, float]], threshold: float) -> PairStudy:
    first, second = zip(*pairs, strict=True)
    passes = [(one >= threshold, other >= threshold) for one, other in pairs]
    return PairStudy(
        len(pairs),
        sum(first) / len(pairs),
        sum(second) / len(pairs),
        paired_difference(first, second),
        wins=sum(other > one for one, other in pairs),
        losses=sum(other < one for one, other in pairs),
        ties=sum(other == one for one, other in pairs),
        fixed=passes.count((False, True)),
        broken=passes.count((True, False)),
    )


def to_fields(report: ComparisonReport) -> dict[str, Any]:
    """Gives the report as plain data."""
    asked = ("framework", "metric", "policy", "threshold", "tolerance")
    found = ("is_regression", "is_one_judge", "abstains_more")
    return {
        **{name: getattr(report.options, name) for name in asked},
        **{name: getattr(report, name) for name in found},
        "confidence": CONFIDENCE,
        "all": asdict(report.whole) if report.whole else None,
        "changed": [asdict(one) for one in report.changed],
        "unscored": [one.id for one in report.unscored],
    }


def render_comparison(paths: Sequence[Path], report: ComparisonReport) -> str:
    """Renders the page."""
    names = [to_id(path.name) for path in paths]
    return render_page("comparison.html", title="Comparison", report=report, paths=names, whole=PAGE_ITEMS)


def print_comparison(console: Console, report: ComparisonReport) -> None:
    """Prints the table of all pairs, and the items that changed sides or lost their score."""
    count = report.whole.count if report.whole else 0
    said = f"{report.options}: {count} items with a score in both files"
    print_grids(console, said, report.remarks, report.pair_grid, report.changed_grid(SHOWN_ITEMS))
    console.print(Text(report.verdict, style="red" if report.is_regression else "green"))
