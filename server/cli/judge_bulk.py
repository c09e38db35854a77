"""Judges many items at once, with a progress bar, results as they come, and a summary at the end."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TextIO

from grpc.aio import AioRpcError
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.cli.connection import call_metadata, open_channel
from server.cli.console import output_console, print_note, progress_bar
from server.cli.errors import CliError, NegativeAnswer
from server.cli.input_files import STDIN, read_lines
from server.cli.judge_call import judge_patiently, to_item_error, to_request
from server.cli.judge_items import BadItem, Item, list_names, read_items
from server.cli.judge_options import JudgeRun
from server.cli.judge_report.bulk import BulkReport
from server.cli.judge_results import Answer, EarlierResults, earlier_results, to_answer
from server.cli.judge_tally import JudgeTally, print_tally
from server.cli.line_feed import feed
from server.cli.options import Connection
from server.cli.result_file import result_file
from server.concurrent_map import map_concurrently


async def judge_bulk(path: Path, connection: Connection, run: JudgeRun) -> None:
    """Reads, judges, prints. Raises CliError; CliError itself when items failed."""
    tally, report = JudgeTally(run.floors), BulkReport(run.floors)
    with earlier_results(run.output, resume=run.resume) as earlier, result_file(run.report) as page:
        with saying_how_to_go_on(run, tally), result_file(run.output) as output, progress_bar() as progress:
            bar = progress.add_task("judging", total=count_items(path))
            async with aclosing(judge_items(path, connection, run, earlier)) as answers:
                async for answer in answers:
                    tally.add(answer)
                    progress.advance(bar)
                    if page is not None:
                        report.add(answer)
                    write(answer.line, output, sys.stdout if run.as_json else None)
        if page is not None:
            page.write(report.render(tally))
    if not run.as_json:
        print_tally(output_console(), tally)
    if run.report is not None:
        print_note(f"report: {run.report}")
    if len(tally.models) > 1:
        print_note("The results come from different models; without --resume all items are judged anew.")
    check(tally)


async def judge_items(
    path: Path, connection: Connection, run: JudgeRun, earlier: EarlierResults
) -> AsyncGenerator[Answer, None]:
    """Yields an answer for each item, as they come. Raises CliError when no further item can be judged."""
    metadata = call_metadata(connection)
    terms = (*run.frameworks, str(run.use_language_model))

    async def judge_one(item: Item | BadItem) -> Answer:
        if isinstance(item, BadItem):
            return to_answer(item.id, None, "", item.error)
        sha256 = item.sha256(*terms)
        return earlier.take(item, sha256) or to_answer(item.id, item, sha256, await outcome_of(item))

    async def outcome_of(item: Item) -> pb.JudgeResult | common_pb2.ItemError:
        request = to_request(item, run, common_pb2.PRIORITY_BULK)
        try:
            return await judge_patiently(stub, request, timeout_s=run.timeout_s, metadata=metadata)
        except AioRpcError as error:
            return to_item_error(error, connection)

    async with open_channel(connection) as channel, aclosing(feed(read_items(path))) as items:
        stub = JudgeServiceStub(channel)
        async with aclosing(map_concurrently(items, judge_one, limit=run.concurrency)) as answers:
            async for answer in answers:
                yield answer


@contextmanager
def saying_how_to_go_on(run: JudgeRun, tally: JudgeTally) -> Iterator[None]:
    """Says what to type when a run ends early."""
    try:
        yield
    except (CliError, asyncio.CancelledError):  # the latter is Ctrl+C
        if run.output is not None and tally.judged_count:
            print_note(f"{tally.judged_count} items are done. To go on: the same command with --resume")
        raise


def count_items(path: Path) -> int | None:
    """Counts the items for the progress bar; standard input cannot be counted before it is read."""
    if path == STDIN:
        return None
    return len(list_names(path)) if path.is_dir() else sum(1 for _ in read_lines(path))


def write(line: str, *files: TextIO | None) -> None:
    """Writes a line to the files that are there, at once: another program may be following them."""
    for file in files:
        if file is not None:
            file.write(line)
            file.flush()


def check(tally: JudgeTally) -> None:
    """Raises CliError when items failed, NegativeAnswer when a score is under a limit."""
    if tally.failed.count:
        raise CliError(f"{tally.failed.count} of {tally.item_count} items failed; the others are done")
    if tally.breached_count:
        metrics = ", ".join(f"{metric} in {count}" for metric, count in tally.breaches.most_common())
        raise NegativeAnswer(f"{tally.breached_count} of {tally.item_count} items are under a limit: {metrics}")
