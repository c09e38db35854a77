"""Judges labelled summaries, fits a threshold and a mapping to what people say, and shows how well they agree."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console
from rich.table import Table
from rich.text import Text

from server.cli.agreement.calibration_report import (
    MEASURES,
    CalibrationReport,
    Disagreement,
    JudgedRow,
    left_out,
    report_of,
    to_fields,
)
from server.cli.agreement.labels import LabelRow, read_labels
from server.cli.agreement.terms import CalibrateTerms
from server.cli.bulk import Items, run_bulk
from server.cli.console import (
    SHOWN_ITEMS,
    indented,
    new_list,
    new_table,
    note_files,
    output_console,
    print_json,
    shown,
    to_json_document,
)
from server.cli.errors import InputError
from server.cli.files import result_file
from server.cli.judge.calibration import NO_MODELS, Identity, find_metric, identity_of, score_of, worst_claims
from server.cli.judge.floors import JudgeTerms
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

    terms: CalibrateTerms
    rows: Mapping[str, LabelRow]
    judged: dict[str, JudgedRow] = field(default_factory=dict)
    identities: set[Identity] = field(default_factory=set)
    failed: FailedItems = field(default_factory=FailedItems)

    def add(self, answer: JudgeAnswer) -> None:
        """Takes one answer in."""
        if answer.error is not None:
            self.failed.add(answer.id, answer.error)
        elif answer.result is not None:
            kind, result = self.terms.kind, answer.result
            metric = find_metric(result, kind) or pb.JudgeMetric()
            claims = worst_claims(result, kind.policy)
            score = score_of(result, kind)
            self.judged[answer.id] = JudgedRow(self.rows[answer.id], score, status_name(metric), claims)
            if (identity := identity_of(result)) is not None:
                self.identities.add(identity)

    def report(self) -> CalibrationReport:
        """Measures and fits. Raises CliError when rows failed, or nothing can be learned from them."""
        self.failed.check(len(self.rows))
        if len(self.identities) > 1:
            raise InputError("the results come from different models; without --resume all rows are judged anew")
        identity = next(iter(self.identities), NO_MODELS)
        return report_of([self.judged[row_id] for row_id in self.rows], identity, self.terms)


async def calibrate(path: Path, connection: Connection, terms: CalibrateTerms, options: RunOptions) -> None:
    """Reads, judges, measures, writes, prints. Raises CliError.

    Args:
        path: of the labelled rows.
        connection: to the server.
        terms: what is measured and fitted, and where it goes.
        options: of the judging alone; its output holds the judgements.
    """
    rows = read_labels(path, terms.scale)
    answers = JudgedRows(terms, {row.item.id: row for row in rows})
    judge_terms = JudgeTerms(frameworks=(terms.kind.framework,), use_language_model=terms.use_language_model)
    work = to_work(judge_terms, common_pb2.PRIORITY_BULK)
    items = Items(iter([row.item for row in rows]), len(rows))
    await run_bulk(work, items, connection, options, answers.add)
    if not terms.as_json:
        answers.failed.print(output_console())
    report = answers.report()
    with result_file(terms.report) as page, result_file(terms.output) as file:
        if page is not None:
            page.write(render_calibration(report))
        if file is not None:
            file.write(to_json_document(report.calibration.model_dump(mode="json")))
    if terms.as_json:
        print_json(to_fields(report))
    else:
        print_calibration(output_console(), report)
    note_files(calibration=terms.output, report=terms.report)


def render_calibration(report: CalibrationReport) -> str:
    """Renders the page."""
    return render_page(
        "calibration.html",
        words=WORDS,
        title=f"Calibration of {report.calibration.kind}",
        report=report,
        whole=PAGE_DISAGREEMENTS,
        measures=MEASURES,
        left_out=list(left_out(report.without_score)),
        fold_words=fold_words(report),
        mapping_words=mapping_words(report),
        disagreement_words=disagreement_words,
    )


def print_calibration(console: Console, report: CalibrationReport) -> None:
    """Prints the measures, what was fitted, and the worst disagreements."""
    calibration = report.calibration
    bad_count = calibration.row_count - calibration.good_count
    console.print(f"{calibration.kind}: {calibration.good_count} good and {bad_count} bad summaries", markup=False)
    for line in left_out(report.without_score):
        console.print(shown(line, style="dim"))
    console.print(measure_table(report))
    console.print(reliability_table(report))
    if report.study.categories:
        console.print(category_table(report))
    console.print(Text(f"Pass from {calibration.threshold:g} of 10; {mapping_words(report)}", style="bold"))
    console.print(Text(fold_words(report) + "\n", style="dim"))
    print_disagreements(console, report)


def measure_table(report: CalibrationReport) -> Table:
    """Builds the table of measures with their intervals; what is not defined is left out."""
    table = new_table("agreement with people", ">value", ">95% interval")
    for name, words in MEASURES.items():
        found = report.calibration.measures[name]
        if found.value is not None:
            interval = "-" if found.low is None else f"{found.low:.3f} to {found.high:.3f}"
            table.add_row(words, f"{found.value:.3f}", interval)
    return table


def reliability_table(report: CalibrationReport) -> Table:
    """Builds the table of what probabilities promise and what people say, by bins."""
    table = new_table("probability", ">rows", ">mean", ">good")
    for found in report.study.mapped_bins:
        bounds = f"{found.low:.1f} to {found.high:.1f}"
        table.add_row(bounds, str(found.count), f"{found.mean_probability:.3f}", f"{found.good_share:.3f}")
    return table


def category_table(report: CalibrationReport) -> Table:
    """Builds the table of categories."""
    table = new_table("category", ">rows", ">good", ">AUC", ">balanced accuracy")
    for one in report.study.categories:
        numbers = ("-" if math.isnan(number) else f"{number:.3f}" for number in (one.auc, one.balanced_accuracy))
        table.add_row(shown(one.category, limit=40), str(one.count), str(one.good_count), *numbers)
    return table


def mapping_words(report: CalibrationReport) -> str:
    """Says which mapping was fitted."""
    mapping = report.calibration.mapping
    return f"probability 1 / (1 + exp(-({mapping.slope:.4g} * score {mapping.intercept:+.4g})))"


def fold_words(report: CalibrationReport) -> str:
    """Says how much the threshold depends on the rows."""
    thresholds = report.study.fold_thresholds
    return (
        f"Measures of the fitted threshold and of the probability are of rows whose sources were held out; "
        f"thresholds of the {len(thresholds)} folds: {min(thresholds):g} to {max(thresholds):g}."
    )


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
    verdict = "passes" if one.passed else "fails"
    return f"{verdict} with {one.score:.2f} (probability {one.probability:.2f}); people say {one.label:g}"
