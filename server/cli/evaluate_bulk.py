"""Evaluates JSON Lines through EvaluateStream, with a progress bar and a summary at the end."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import TextIO

from google.rpc import code_pb2
from precis.v1 import evaluate_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceStub

from server.cli.bulk_summary import BulkSummary, print_summary
from server.cli.connection import call_metadata, open_channel
from server.cli.console import output_console, progress_bar
from server.cli.errors import CliError, InputError, NegativeAnswer
from server.cli.evaluation_files import parse_line
from server.cli.input_files import STDIN, read_lines
from server.cli.line_feed import feed
from server.cli.options import Connection, OutputOptions
from server.cli.result_file import result_file, to_json_fields, to_json_line

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
