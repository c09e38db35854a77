"""Compares two sets of results by id: is the second one worse, and which items changed sides?"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console
from rich.text import Text

from server.cli.agreement.comparison_report import ComparisonReport, Scores, report_of, to_fields
from server.cli.agreement.labels import read_named_rows, to_text_item
from server.cli.agreement.terms import CompareOptions
from server.cli.bulk import Items, run_bulk
from server.cli.console import SHOWN_ITEMS, note_files, output_console, print_json, shown
from server.cli.errors import InputError, NegativeAnswer
from server.cli.files import naming, parse_message, to_id, write_result
from server.cli.judge.calibration import applied_calibration, find_metric, identity_of, score_of
from server.cli.judge.floors import BEST_SCORE, JudgeOptions, ScoreKind
from server.cli.judge.items import Item, to_work
from server.cli.judge.judgements import JudgeAnswer
from server.cli.judge.names import status_name
from server.cli.options import Connection, RunOptions
from server.cli.page.render import render_page

RESULT_FIELDS = ("frameworks", "models", "language_model", "evidence")
PAGE_ITEMS = 1_000


@dataclass
class ScoreReader(Scores):
    """Takes scores from the lines of a file, and from the server.

    Attributes:
        kind: which scores.
        waiting: items that still have to be judged.
    """

    kind: ScoreKind = field(default_factory=ScoreKind)
    waiting: list[Item] = field(default_factory=list)

    def parse(self, fields: dict[str, Any], place: str) -> None:
        """Takes in one line: a result, or an item. Raises InputError."""
        item_id = str(fields.get("id", place))
        if "error" in fields:
            raise InputError("error: this item failed; judge it again with precis judge --resume")
        if "result" in fields:
            self.take(item_id, to_result(fields["result"]))
        else:
            self.waiting.append(to_text_item(fields, place))
        self.categories[item_id] = str(fields.get("category") or "")

    def take(self, item_id: str, result: pb.JudgeResult) -> None:
        """Takes in a judgement. Raises InputError when it lacks the score, or what the policy needs."""
        metric = find_metric(result, self.kind)
        if metric is None:
            raise InputError(f"result.frameworks: expected {self.kind.framework} {self.kind.metric}")
        score = score_of(result, self.kind)
        if score is not None and not 0 <= score <= BEST_SCORE:
            raise InputError(f"result.frameworks: expected a score from 0 to {BEST_SCORE:g}, got {score:g}")
        self.scores[item_id] = score
        if score is None:
            self.statuses[item_id] = status_name(metric)
        if (identity := identity_of(result)) is not None:
            self.identities.add(identity)

    def add(self, answer: JudgeAnswer) -> None:
        """Takes in the answer of a server. Raises InputError for an item that failed."""
        if answer.error is not None:
            raise InputError(f"{self.path}: {answer.id}: {answer.error.message}")
        if answer.result is not None:
            self.take(answer.id, answer.result)


def to_result(fields: object) -> pb.JudgeResult:
    """Reads as much of a judgement as a score needs. Raises InputError."""
    if not isinstance(fields, dict):
        raise InputError(f"result: expected an object, got {type(fields).__name__}")
    wanted = {name: fields[name] for name in RESULT_FIELDS if name in fields}
    if isinstance(wanted.get("evidence"), dict):
        wanted["evidence"] = {"claims": wanted["evidence"].get("claims", [])}
    with naming("result"):
        return parse_message(wanted, pb.JudgeResult(), ignores_unknown=True)


async def compare(paths: Sequence[Path], connection: Connection, options: CompareOptions, run: RunOptions) -> None:
    """Reads, judges what has no result, compares, prints. Raises CliError; NegativeAnswer for a regression."""
    applied = applied_calibration(options.calibration, any_models=options.any_models)
    if applied is not None:
        found = applied.calibration
        options = replace(options, framework=found.framework, metric=found.metric, policy=found.policy)
        options = replace(options, threshold=found.threshold)
    first, second = (read_scores(path, options.kind) for path in paths)
    work = to_work(JudgeOptions([options.framework], no_llm=options.no_llm), common_pb2.PRIORITY_BULK)
    for one in (first, second):
        if one.waiting:
            await run_bulk(work, Items(iter(one.waiting), len(one.waiting)), connection, run, one.add)
        if applied is not None:
            for identity in one.identities:
                applied.check(identity)
    report = report_of(first, second, options)
    write_result(options.report, lambda: render_comparison(paths, report))
    if options.as_json:
        print_json(to_fields(report))
    else:
        print_comparison(output_console(), report)
    note_files(report=options.report)
    if report.is_regression:
        raise NegativeAnswer(report.verdict)


def read_scores(path: Path, kind: ScoreKind) -> ScoreReader:
    """Reads the results in a file, and the items that have none. Raises InputError that names line and field."""
    reader = ScoreReader(path, kind=kind)
    read_named_rows(path, reader.parse)
    return reader


def render_comparison(paths: Sequence[Path], report: ComparisonReport) -> str:
    """Renders the page."""
    names = [to_id(path.name) for path in paths]
    return render_page("comparison.html", title="Comparison", report=report, paths=names, whole=PAGE_ITEMS)


def print_comparison(console: Console, report: ComparisonReport) -> None:
    """Prints the table of all pairs and of categories, and the items that changed sides or lost their score."""
    count = report.whole.count if report.whole else 0
    console.print(f"{report.options.kind}: {count} items with a score in both files", markup=False)
    for line in report.remarks:
        console.print(shown(line, style="dim"))
    for grid in (report.pair_grid, report.flip_grid(SHOWN_ITEMS), report.lost_grid(SHOWN_ITEMS)):
        if grid.rows:
            console.print(grid.to_table())
    console.print(Text(report.verdict, style="red" if report.is_regression else "green"))
