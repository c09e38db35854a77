"""Evaluates the candidates of one document and shows them side by side; or evaluates JSON Lines."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from precis.calls import EVALUATE, Call, rpc_path
from precis.v1 import common_pb2
from precis.v1 import evaluate_pb2 as pb
from rich.console import Console

from server.cli.bulk import read_json_lines, run_bulk, run_few
from server.cli.connection import CommandClient
from server.cli.console import output_console
from server.cli.errors import NegativeAnswer
from server.cli.evaluate.files import Candidate, parse_line, read_candidates
from server.cli.evaluate.table import COMPONENTS, print_report, score_of
from server.cli.options import Connection, RunOptions
from server.cli.results import Work
from server.cli.spread import SHOWN_ITEMS, Tally, WorstItems, spread_table, worst_table


async def evaluate_document(
    path: Path, summaries: Sequence[Path], connection: Connection, options: RunOptions, *, fail_over: float | None
) -> None:
    """Reads, evaluates, prints. Raises CliError."""
    candidates = read_candidates(path, summaries)
    responses, document = await run_few(to_work(common_pb2.PRIORITY_INTERACTIVE), candidates, connection, options)
    results = [(candidate.id, response) for candidate, response in zip(candidates, responses, strict=True)]
    if options.as_json:
        sys.stdout.write(document)
    else:
        print_report(output_console(), results, is_brief=options.is_brief)
    limit = math.inf if fail_over is None else fail_over
    if over := [f"{name} {response.loss:.4f}" for name, response in results if response.loss > limit]:
        raise NegativeAnswer(f"loss over {fail_over}: {', '.join(over)}")


async def evaluate_bulk(path: Path, connection: Connection, options: RunOptions, *, fail_over: float | None) -> None:
    """Reads, evaluates, prints. Raises CliError; CliError itself when items failed."""
    summary = BulkSummary()
    items = read_json_lines(path, parse_line)
    await run_bulk(to_work(common_pb2.PRIORITY_BULK), items, connection, options, summary.add)
    if not options.as_json:
        print_summary(output_console(), summary)
    summary.check(fail_over)


def to_work(priority: common_pb2.Priority.ValueType) -> Work[Candidate, pb.EvaluateResponse]:
    """Describes how candidates are evaluated; what a request says itself is left as it is."""

    async def send(client: CommandClient, candidate: Candidate) -> pb.EvaluateResponse:
        request = pb.EvaluateRequest(priority=priority, view=common_pb2.RESULT_VIEW_FULL)
        request.MergeFrom(candidate.request)
        return await client.send(Call(rpc_path(EVALUATE, "Evaluate"), request, pb.EvaluateResponse.FromString))

    return Work("evaluating", "response", pb.EvaluateResponse, send)


@dataclass
class BulkSummary(Tally[Candidate, pb.EvaluateResponse]):
    """Collects what the summary needs; one number for each item, never the responses themselves."""

    losses: list[float] = field(default_factory=list)
    scores: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in COMPONENTS})
    worst: WorstItems[str] = field(default_factory=lambda: WorstItems(SHOWN_ITEMS))
    hard_fail_count: int = 0

    def check(self, fail_over: float | None) -> None:
        """Raises CliError when items failed, NegativeAnswer when a loss is over the limit."""
        self.failed.check(self.item_count)
        over = 0 if fail_over is None else sum(loss > fail_over for loss in self.losses)
        if over:
            raise NegativeAnswer(f"{over} of {self.item_count} losses are over {fail_over}")

    def add_result(self, item_id: str, evaluation: pb.EvaluateResponse) -> None:
        """See Tally."""
        self.worst.add(evaluation.loss, item_id)
        self.losses.append(evaluation.loss)
        self.hard_fail_count += evaluation.HasField("hard_fail")
        for name, values in self.scores.items():
            score = score_of(evaluation, name)
            if score is not None:
                values.append(score)


def print_summary(console: Console, summary: BulkSummary) -> None:
    """Prints the tables of a bulk run."""
    summary.print_counts(console, f", {summary.hard_fail_count} hard fails")
    if summary.losses:
        console.print(spread_table([("loss", summary.losses), *summary.scores.items()]))
        console.print(worst_table("loss", ((item_id, f"{loss:.3f}") for loss, item_id in summary.worst.ranked())))
    summary.failed.print(console)
