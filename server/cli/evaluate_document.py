"""Evaluates the candidates of one document through the unary RPC, and shows them side by side."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from precis.v1 import evaluate_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceStub

from server.cli.connection import call_metadata, open_channel, server_errors
from server.cli.console import output_console, progress_bar
from server.cli.errors import NegativeAnswer
from server.cli.evaluation_files import Candidate, read_candidates
from server.cli.evaluation_table import print_report
from server.cli.options import Connection, OutputOptions
from server.cli.result_file import result_file, to_json_document, to_json_fields


async def evaluate_document(
    path: Path, summaries: Sequence[Path], connection: Connection, options: OutputOptions, *, timeout_s: float
) -> None:
    """Reads, evaluates, prints. Raises CliError."""
    candidates = read_candidates(path, summaries)
    with result_file(options.file) as file:
        responses = await evaluate_candidates(candidates, connection, timeout_s=timeout_s)
        results = [(candidate.name, response) for candidate, response in zip(candidates, responses, strict=True)]
        document = {"results": [{"id": name, "response": to_json_fields(response)} for name, response in results]}
        if file is not None:
            file.write(to_json_document(document))
    if options.as_json:
        sys.stdout.write(to_json_document(document))
    else:
        print_report(output_console(), results, is_brief=options.is_brief)
    check_losses(results, options.fail_over)


async def evaluate_candidates(
    candidates: Sequence[Candidate], connection: Connection, *, timeout_s: float
) -> list[pb.EvaluateResponse]:
    """Sends all candidates at once; gives the responses in their order. The first failure stops the others."""
    metadata = call_metadata(connection)

    async def one(candidate: Candidate) -> pb.EvaluateResponse:
        place = f"{candidate.name}: " if len(candidates) > 1 else ""
        with server_errors(connection, place):
            response: pb.EvaluateResponse = await stub.Evaluate(candidate.request, timeout=timeout_s, metadata=metadata)
        progress.advance(bar)
        return response

    async with open_channel(connection) as channel:
        stub = EvaluateServiceStub(channel)
        with progress_bar() as progress:
            bar = progress.add_task("evaluating", total=len(candidates))
            return await asyncio.gather(*map(one, candidates))


def check_losses(results: Sequence[tuple[str, pb.EvaluateResponse]], fail_over: float | None) -> None:
    """Raises NegativeAnswer when a loss is over the limit."""
    if fail_over is None:
        return
    over = [f"{name} {response.loss:.4f}" for name, response in results if response.loss > fail_over]
    if over:
        raise NegativeAnswer(f"loss over {fail_over}: {', '.join(over)}")
