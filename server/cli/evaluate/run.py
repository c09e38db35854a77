"""Evaluates the candidates of one document and shows them side by side; or evaluates JSON Lines."""

from collections.abc import Sequence
from pathlib import Path

from precis.calls import EVALUATE, Call, rpc_path
from precis.v1 import common_pb2
from precis.v1 import evaluate_pb2 as pb
from rich.console import Console

from server.cli.bulk import read_json_lines, run_few, run_many
from server.cli.connection import CommandClient
from server.cli.evaluate.evaluations import EvaluateTally
from server.cli.evaluate.files import Candidate, parse_line, read_candidates
from server.cli.evaluate.table import print_report
from server.cli.options import Connection, RunOptions
from server.cli.results import Work


async def evaluate_document(
    path: Path, summaries: Sequence[Path], connection: Connection, options: RunOptions, fail_over: float | None = None
) -> None:
    """Reads, evaluates, prints. Raises CliError; NegativeAnswer for a loss over `fail_over`."""

    def show(console: Console, results: Sequence[tuple[str, pb.EvaluateResponse]]) -> None:
        print_report(console, results, is_brief=options.is_brief)

    work, candidates = to_work(common_pb2.PRIORITY_INTERACTIVE), read_candidates(path, summaries)
    await run_few(work, candidates, connection, options, tally=EvaluateTally(fail_over), show=show)


async def evaluate_bulk(path: Path, connection: Connection, options: RunOptions, fail_over: float | None) -> None:
    """Reads, evaluates, prints. Raises CliError; CliError itself when items failed."""
    work, items = to_work(common_pb2.PRIORITY_BULK), read_json_lines(path, parse_line)
    await run_many(work, items, connection, options, tally=EvaluateTally(fail_over))


def to_work(priority: common_pb2.Priority.ValueType) -> Work[Candidate, pb.EvaluateResponse]:
    """Describes how candidates are evaluated; what a request says itself is left as it is."""

    async def send(client: CommandClient, candidate: Candidate) -> pb.EvaluateResponse:
        request = pb.EvaluateRequest(priority=priority, view=common_pb2.RESULT_VIEW_FULL)
        request.MergeFrom(candidate.request)
        return await client.send(Call(rpc_path(EVALUATE, "Evaluate"), request, pb.EvaluateResponse.FromString))

    return Work("evaluating", "response", pb.EvaluateResponse, send)
