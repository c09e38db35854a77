"""Compares two sets of results by id: is the second one worse, and which items changed sides?"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console
from rich.table import Table
from rich.text import Text

from server.cli.agreement.comparison_report import (
    ComparisonReport,
    LostScore,
    Pair,
    Scores,
    report_of,
    to_fields,
)
from server.cli.agreement.labels import read_rows, to_text_item
from server.cli.agreement.terms import CompareTerms
from server.cli.bulk import Items, run_bulk
from server.cli.console import SHOWN_ITEMS, new_table, note_files, output_console, print_json, shown
from server.cli.errors import InputError, NegativeAnswer
from server.cli.files import result_file, to_id
from server.cli.judge.calibration import applied_calibration, find_metric, identity_of, score_of
from server.cli.judge.floors import BEST_SCORE, JudgeTerms, ScoreKind
from server.cli.judge.items import Item, to_work
from server.cli.judge.judgements import JudgeAnswer
from server.cli.judge.names import status_name
from server.cli.options import Connection, RunOptions
from server.cli.page.render import render_page

RESULT_FIELDS = ("frameworks", "models", "language_model", "evidence")
PAGE_FLIPS = 1_000


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
    try:
        return json_format.ParseDict(wanted, pb.JudgeResult(), ignore_unknown_fields=True)
    except (json_format.ParseError, ArithmeticError, SystemError, TypeError, ValueError) as error:
        raise InputError(f"result: {error}") from error


async def compare(paths: Sequence[Path], connection: Connection, terms: CompareTerms, options: RunOptions) -> None:
    """Reads, judges what has no result, compares, prints. Raises CliError; NegativeAnswer for a regression."""
    judge_terms = JudgeTerms(
        use_language_model=terms.use_language_model,
        calibration=terms.calibration,
        takes_other_models=terms.takes_other_models,
    )
    applied, _ = applied_calibration(judge_terms)
    if applied is not None:
        terms = replace(terms, kind=applied.calibration.kind, threshold=applied.calibration.threshold)
    first, second = (read_scores(path, terms.kind) for path in paths)
    work = to_work(replace(judge_terms, frameworks=(terms.kind.framework,)), common_pb2.PRIORITY_BULK)
    for one in (first, second):
        if one.waiting:
            await run_bulk(work, Items(iter(one.waiting), len(one.waiting)), connection, options, one.add)
        if applied is not None:
            for identity in one.identities:
                applied.check(identity)
    report = report_of(first, second, terms)
    with result_file(terms.report) as page:
        if page is not None:
            page.write(render_comparison(paths, report))
    if terms.as_json:
        print_json(to_fields(report))
    else:
        print_comparison(output_console(), report)
    note_files(report=terms.report)
    if report.is_regression:
        raise NegativeAnswer(report.verdict)


def read_scores(path: Path, kind: ScoreKind) -> ScoreReader:
    """Reads the results in a file, and the items that have none. Raises InputError that names line and field."""
    reader = ScoreReader(path, kind=kind)
    read_rows(path, reader.parse)
    return reader


def render_comparison(paths: Sequence[Path], report: ComparisonReport) -> str:
    """Renders the page."""
    names = [to_id(path.name) for path in paths]
    return render_page(
        "comparison.html",
        title="Comparison",
        report=report,
        paths=names,
        whole=PAGE_FLIPS,
        remarks=remarks_of(report),
        side_words=side_words,
        lost_words=lost_words,
    )


def print_comparison(console: Console, report: ComparisonReport) -> None:
    """Prints the table of all pairs and of categories, and the items that changed sides or lost their score."""
    count = report.whole.count if report.whole else 0
    console.print(f"{report.terms.kind}: {count} items with a score in both files", markup=False)
    for line in remarks_of(report):
        console.print(shown(line, style="dim"))
    if report.whole:
        console.print(pair_table(report))
    if report.flips:
        console.print(flip_table(report.flips))
    if report.lost:
        console.print(lost_table(report.lost))
    console.print(Text(report.verdict, style="red" if report.is_regression else "green"))


def remarks_of(report: ComparisonReport) -> list[str]:
    """Lists what a reader should know."""
    remarks = []
    if not report.is_one_judge:
        remarks.append("Different models judged: the difference is of judges as well as of summaries.")
    if report.unscored:
        why = ", ".join(sorted({status for status in report.unscored.values() if status}))
        said = f"{len(report.unscored)} items have no score that counts on one side, and are left out of the means"
        remarks.append(f"{said}: {why}." if why else f"{said}.")
    if left_out := len(report.only_first) + len(report.only_second):
        remarks.append(f"{left_out} items are in one file only, and are left out.")
    return remarks


def pair_table(report: ComparisonReport) -> Table:
    """Builds the table of all pairs and of each category."""
    interval = f">{report.terms.confidence:.0%} interval"
    headings = (">items", ">before", ">after", ">difference", interval, ">p", ">won/lost/tied")
    table = new_table("", *headings, f">pass {report.terms.threshold:g} now/no longer")
    for one in report.studies:
        found = one.difference.estimate
        table.add_row(
            shown(one.category or "all", limit=40),
            *(str(one.count), f"{one.first_mean:.2f}", f"{one.second_mean:.2f}", f"{found.value:+.2f}"),
            *(f"{found.low:+.2f} to {found.high:+.2f}", f"{one.difference.p:.3f}"),
            *(f"{one.wins}/{one.losses}/{one.ties}", f"{one.fixed}/{one.broken}"),
            end_section=one is report.whole,
        )
    return table


def flip_table(flips: Sequence[Pair]) -> Table:
    """Builds the table of the first items that changed sides."""
    table = new_table(f"items that changed sides ({count_words(flips)})", "category", ">before", ">after", "")
    for pair in flips[:SHOWN_ITEMS]:
        numbers = (f"{pair.first:.2f}", f"{pair.second:.2f}")
        table.add_row(shown(pair.id, limit=80), shown(pair.category, limit=40), *numbers, side_words(pair))
    return table


def lost_table(lost: Sequence[LostScore]) -> Table:
    """Builds the table of the first items that lost their score."""
    table = new_table(f"items that lost their score ({count_words(lost)})", "category", ">before", "")
    for one in lost[:SHOWN_ITEMS]:
        table.add_row(shown(one.id, limit=80), shown(one.category, limit=40), f"{one.first:.2f}", lost_words(one))
    return table


def count_words(listed: Sequence[object]) -> str:
    """Says how many items there are, and how many of them are shown when that is not all."""
    return f"{len(listed)}, the first {SHOWN_ITEMS}" if len(listed) > SHOWN_ITEMS else f"{len(listed)}"


def side_words(pair: Pair) -> str:
    """Says how a pair changed sides."""
    return "passes now" if pair.second > pair.first else "no longer passes"


def lost_words(one: LostScore) -> str:
    """Says why an item has no score, and whether it passed before."""
    return ", ".join(filter(None, (one.status, "no longer passes" if one.passed else "")))
