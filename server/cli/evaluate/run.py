"""Evaluates the candidates of one document through the unary RPC, and shows them side by side.

Evaluates JSON Lines through EvaluateStream, with a progress bar and a summary at the end.

What a bulk evaluation amounts to: the spread of the losses, the worst items, the failed ones.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from google.rpc import code_pb2
from precis.v1 import evaluate_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceStub
from rich import box
from rich.console import Console
from rich.table import Table

from server.cli.bulk import FailedItems, WorstItems, spread_table
from server.cli.connection import call_metadata, open_channel, server_errors
from server.cli.console import output_console, progress_bar, shown
from server.cli.errors import CliError, InputError, NegativeAnswer
from server.cli.evaluate.files import Candidate, parse_line, read_candidates
from server.cli.evaluate.table import COMPONENTS, print_report, score_of
from server.cli.files import STDIN, feed, read_lines, result_file, to_json_document, to_json_fields, to_json_line
from server.cli.options import Connection, OutputOptions


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


SHOWN_ITEMS = 10


@dataclass
class BulkSummary:
    """Collects what the summary needs; one number for each item, never the responses themselves."""

    losses: list[float] = field(default_factory=list)
    scores: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in COMPONENTS})
    worst: WorstItems[str] = field(default_factory=lambda: WorstItems(SHOWN_ITEMS))
    failed: FailedItems = field(default_factory=FailedItems)
    hard_fail_count: int = 0

    @property
    def item_count(self) -> int:
        """Items that were answered."""
        return len(self.losses) + self.failed.count

    def add(self, response: pb.EvaluateStreamResponse) -> None:
        """Takes one answer in."""
        if response.HasField("error"):
            self.failed.add(response.id, response.error)
            return
        evaluation = response.response
        self.worst.add(evaluation.loss, response.id)
        self.losses.append(evaluation.loss)
        self.hard_fail_count += evaluation.HasField("hard_fail")
        for name, values in self.scores.items():
            score = score_of(evaluation, name)
            if score is not None:
                values.append(score)


def print_summary(console: Console, summary: BulkSummary) -> None:
    """Prints the tables of a bulk run."""
    console.print(
        f"{summary.item_count} items, {summary.failed.count} failed, {summary.hard_fail_count} hard fails", markup=False
    )
    if summary.losses:
        console.print(spread_table([("loss", summary.losses), *summary.scores.items()]))
        console.print(worst_table(summary))
    summary.failed.print(console)


def worst_table(summary: BulkSummary) -> Table:
    """Builds the table of the items with the greatest loss."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("worst items")
    table.add_column("loss", justify="right")
    for loss, item_id in summary.worst.ranked():
        table.add_row(shown(item_id, limit=80), f"{loss:.3f}")
    return table


Item = pb.EvaluateStreamRequest | pb.EvaluateStreamResponse
"""A line to send, or the answer to a line that cannot be sent."""


async def evaluate_bulk(path: Path, connection: Connection, options: OutputOptions, *, timeout_s: float | None) -> None:
    """Reads, evaluates, prints. Raises CliError; CliError itself when items failed."""
    summary = BulkSummary()
    with result_file(options.file) as file, progress_bar() as progress:
        bar = progress.add_task("evaluating", total=count_lines(path))
        async with aclosing(evaluate_lines(path, connection, timeout_s=timeout_s)) as responses:
            async for response in responses:
                summary.add(response)
                progress.advance(bar)
                write(response, file, sys.stdout if options.as_json else None)
    if not options.as_json:
        print_summary(output_console(), summary)
    check(summary, options.fail_over)


async def evaluate_lines(
    path: Path, connection: Connection, *, timeout_s: float | None
) -> AsyncGenerator[pb.EvaluateStreamResponse, None]:
    """Yields one response for each line, as they come; lines that are no request are answered here."""
    refused: list[pb.EvaluateStreamResponse] = []
    async with open_channel(connection) as channel:
        call = EvaluateServiceStub(channel).EvaluateStream(timeout=timeout_s, metadata=call_metadata(connection))

        async def send() -> None:
            try:
                async with aclosing(feed(read_items(path))) as items:
                    async for item in items:
                        if isinstance(item, pb.EvaluateStreamResponse):
                            refused.append(item)
                        else:
                            await call.write(item)  # waits while the server has enough to do
            finally:
                await call.done_writing()  # also when the file cannot be read further: what was sent gets its answer

        sender = asyncio.create_task(send())
        try:
            async for response in call:
                yield response
                while refused:
                    yield refused.pop()
            await sender
        finally:
            sender.cancel()
            call.cancel()
            await asyncio.gather(sender, return_exceptions=True)  # its own error, if any, follows from the call's
        for response in refused:
            yield response


def read_items(path: Path) -> Iterator[Item]:
    """Yields what to send for each line, or the answer when the line is no request."""
    for number, line in read_lines(path):
        place = f"line {number}"
        try:
            yield parse_line(line, place)
        except InputError as error:
            failure = pb.EvaluateStreamResponse(id=place)
            failure.error.code = code_pb2.INVALID_ARGUMENT
            failure.error.message = str(error)
            yield failure


def count_lines(path: Path) -> int | None:
    """Counts the lines of a file for the progress bar; standard input cannot be counted before it is read."""
    return None if path == STDIN else sum(1 for _ in read_lines(path))


def write(response: pb.EvaluateStreamResponse, *files: TextIO | None) -> None:
    """Writes a line of JSON to the files that are there, at once: another program may be following them."""
    targets = [file for file in files if file is not None]
    line = to_json_line(to_json_fields(response)) if targets else ""
    for file in targets:
        file.write(line)
        file.flush()


def check(summary: BulkSummary, fail_over: float | None) -> None:
    """Raises CliError when items failed, NegativeAnswer when a loss is over the limit."""
    if summary.failed.count:
        raise CliError(f"{summary.failed.count} of {summary.item_count} items failed; the others are done")
    over = 0 if fail_over is None else sum(loss > fail_over for loss in summary.losses)
    if over:
        raise NegativeAnswer(f"{over} of {summary.item_count} losses are over {fail_over}")
