"""Judges labelled summaries, fits a threshold and a mapping to what people say, and shows how well they agree."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console
from rich.text import Text

from server.cli.agreement.calibration_report import CalibrationReport, Disagreement, JudgedRow, report_of, to_fields
from server.cli.agreement.labels import LabelRow, read_labels
from server.cli.agreement.terms import CalibrateOptions
from server.cli.bulk import Items, run_bulk
from server.cli.console import (
    SHOWN_ITEMS,
    indented,
    new_list,
    note_files,
    output_console,
    print_json,
    shown,
    to_json_document,
)
from server.cli.errors import InputError
from server.cli.files import write_result
from server.cli.judge.calibration import NO_MODELS, Identity, find_metric, identity_of, score_of, worst_claims
from server.cli.judge.floors import JudgeOptions
from server.cli.judge.items import to_work
from server.cli.judge.judgements import WORDS, JudgeAnswer
from server.cli.judge.names import status_name
from server.cli.judge.table import claim_text, label_text
from server.cli.options import Connection, RunOptions
from server.cli.page.render import render_page
from server.cli.tally import FailedItems

PAGE_DISAGREEMENTS = 200


@dataclass
class JudgedRows:
    """Collects what is needed of the answers; never the judgements themselves."""

    options: CalibrateOptions
    rows: Mapping[str, LabelRow]
    judged: dict[str, JudgedRow] = field(default_factory=dict)
    identities: set[Identity] = field(default_factory=set)
    failed: FailedItems = field(default_factory=FailedItems)

    def add(self, answer: JudgeAnswer) -> None:
        """Takes one answer in."""
        if answer.error is not None:
            self.failed.add(answer.id, answer.error)
        elif answer.result is not None:
            kind, result = self.options.kind, answer.result
            status = status_name(find_metric(result, kind) or pb.JudgeMetric())
            claims = worst_claims(result, kind.policy)
            self.judged[answer.id] = JudgedRow(self.rows[answer.id], score_of(result, kind), status, claims)
            if (identity := identity_of(result)) is not None:
                self.identities.add(identity)

    def report(self) -> CalibrationReport:
        """Measures and fits. Raises CliError when rows failed, or nothing can be learned from them."""
        self.failed.check(len(self.rows))
        if len(self.identities) > 1:
            raise InputError("the results come from different models; without --resume all rows are judged anew")
        identity = next(iter(self.identities), NO_MODELS)
        return report_of([self.judged[row_id] for row_id in self.rows], identity, self.options)


async def calibrate(path: Path, connection: Connection, options: CalibrateOptions, run: RunOptions) -> None:
    """Reads, judges, measures, writes, prints. Raises CliError.

    Args:
        path: of the labelled rows.
        connection: to the server.
        options: what is measured and fitted, and where it goes.
        run: of the judging alone; its output holds the judgements.
    """
    rows = read_labels(path, options.scale)
    answers = JudgedRows(options, {row.item.id: row for row in rows})
    judging = JudgeOptions([options.kind.framework], no_llm=options.no_llm)
    items = Items(iter([row.item for row in rows]), len(rows))
    await run_bulk(to_work(judging, common_pb2.PRIORITY_BULK), items, connection, run, answers.add)
    if not options.as_json:
        answers.failed.print(output_console())
    report = answers.report()
    write_result(options.report, lambda: render_calibration(report))
    write_result(options.output, lambda: to_json_document(report.calibration.model_dump(mode="json")))
    if options.as_json:
        print_json(to_fields(report))
    else:
        print_calibration(output_console(), report)
    note_files(calibration=options.output, report=options.report)


def render_calibration(report: CalibrationReport) -> str:
    """Renders the page."""
    return render_page(
        "calibration.html",
        words=WORDS,
        title=f"Calibration of {report.calibration.kind}",
        report=report,
        disagreements=report.disagreements[:PAGE_DISAGREEMENTS],
        disagreement_words=disagreement_words,
    )


def print_calibration(console: Console, report: CalibrationReport) -> None:
    """Prints the measures, what was fitted, and the worst disagreements."""
    calibration = report.calibration
    bad_count = calibration.row_count - calibration.good_count
    console.print(f"{calibration.kind}: {calibration.good_count} good and {bad_count} bad summaries", markup=False)
    for line in report.left_out:
        console.print(shown(line, style="dim"))
    for grid in (report.measure_grid, report.reliability_grid(), report.category_grid):
        if grid.rows:
            console.print(grid.to_table())
    console.print(Text(f"Pass from {calibration.threshold:g} of 10; {report.mapping_words}", style="bold"))
    console.print(Text(f"{report.fold_words}\n", style="dim"))
    print_disagreements(console, report)


def print_disagreements(console: Console, report: CalibrationReport) -> None:
    """Prints the worst disagreements with what decided."""
    found = report.disagreements
    if not found:
        console.print(Text("The threshold decides every summary as people do.", style="green"))
        return
    rest = f", the {SHOWN_ITEMS} worst" if len(found) > SHOWN_ITEMS else ""
    console.print(Text(f"{len(found)} summaries that people decide otherwise{rest}", style="bold"))
    for one in found[:SHOWN_ITEMS]:
        console.print(Text.assemble(shown(one.id, limit=80, style="bold"), f"  {disagreement_words(one)}"))
        table = new_list()
        for claim in one.claims:
            table.add_row(label_text(claim), claim_text(claim))
        console.print(indented(table, below=1))


def disagreement_words(one: Disagreement) -> str:
    """Says what the judge and what people say."""
    verdict = {"pass": "passes", "fail": "fails"}[one.verdict]
    return f"{verdict} with {one.score:.2f} (probability {one.probability:.2f}); people say {one.label:g}"
