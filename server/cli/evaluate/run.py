"""Evaluates the candidates of one document and shows them side by side; or evaluates JSON Lines."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from precis.calls import EVALUATE, Call, rpc_path
from precis.v1 import common_pb2
from precis.v1 import evaluate_pb2 as pb

from server.cli.bulk import read_json_lines, run_bulk, run_few
from server.cli.connection import CommandClient
from server.cli.console import output_console
from server.cli.errors import NegativeAnswer
from server.cli.evaluate.evaluation_page import EvaluationReport, report_of
from server.cli.evaluate.files import Candidate, parse_line, read_candidates
from server.cli.evaluate.table import BulkSummary, print_report, print_summary
from server.cli.files import result_file
from server.cli.options import Connection, RunOptions, is_overview
from server.cli.results import Answer, Work
from server.cli.spread import note_report


@dataclass(frozen=True)
class EvaluateTerms:
    """What becomes of the losses.

    Attributes:
        fail_over: a loss over this is a NegativeAnswer; None for none.
        report: a page for people is written there; of many items, an overview as JSON if it ends so.
    """

    fail_over: float | None = None
    report: Path | None = None


async def evaluate_document(
    path: Path, summaries: Sequence[Path], connection: Connection, options: RunOptions, terms: EvaluateTerms
) -> None:
    """Reads, evaluates, prints. Raises CliError."""
    candidates = read_candidates(path, summaries)
    with result_file(terms.report) as page:
        responses, document = await run_few(to_work(common_pb2.PRIORITY_INTERACTIVE), candidates, connection, options)
        if page is not None:
            page.write(report_of(candidates, responses))
    results = [(candidate.id, response) for candidate, response in zip(candidates, responses, strict=True)]
    if options.as_json:
        sys.stdout.write(document)
    else:
        print_report(output_console(), results, is_brief=options.is_brief)
    note_report(terms.report)
    limit = math.inf if terms.fail_over is None else terms.fail_over
    if over := [f"{name} {response.loss:.4f}" for name, response in results if response.loss > limit]:
        raise NegativeAnswer(f"loss over {terms.fail_over}: {', '.join(over)}")


async def evaluate_bulk(path: Path, connection: Connection, options: RunOptions, terms: EvaluateTerms) -> None:
    """Reads, evaluates, prints. Raises CliError; CliError itself when items failed."""
    summary, report = BulkSummary(), EvaluationReport()

    def take(answer: Answer[Candidate, pb.EvaluateResponse]) -> None:
        summary.add(answer)
        if terms.report is not None:
            report.add(answer)

    with result_file(terms.report) as page:
        items = read_json_lines(path, parse_line)
        await run_bulk(to_work(common_pb2.PRIORITY_BULK), items, connection, options, take)
        if page is not None and terms.report is not None:
            page.write(summary.to_json() if is_overview(terms.report) else report.render(summary))
    if not options.as_json:
        print_summary(output_console(), summary)
    note_report(terms.report)
    summary.check(terms.fail_over)


def to_work(priority: common_pb2.Priority.ValueType) -> Work[Candidate, pb.EvaluateResponse]:
    """Describes how candidates are evaluated; what a request says itself is left as it is."""

    async def send(client: CommandClient, candidate: Candidate) -> pb.EvaluateResponse:
        request = pb.EvaluateRequest(priority=priority, view=common_pb2.RESULT_VIEW_FULL)
        request.MergeFrom(candidate.request)
        return await client.send(Call(rpc_path(EVALUATE, "Evaluate"), request, pb.EvaluateResponse.FromString))

    return Work("evaluating", "response", pb.EvaluateResponse, send)
