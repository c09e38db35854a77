"""Judges the summaries of one source, and shows why their scores are what they are.

Judges many items at once, with a progress bar, results as they come, and a summary at the end.

One judgement: the request, the call, and whether its failure concerns this item alone.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TextIO

import grpc
from google.rpc import error_details_pb2
from grpc.aio import AioRpcError
from grpc_status import rpc_status
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.cli.connection import call_metadata, open_channel, server_errors, to_cli_error
from server.cli.console import output_console, print_note, progress_bar
from server.cli.errors import CliError, NegativeAnswer
from server.cli.files import STDIN, feed, read_lines, result_file, to_json_document, to_json_fields
from server.cli.judge.floors import JudgeRun
from server.cli.judge.items import BadItem, Item, list_names, read_items, read_summaries
from server.cli.judge.names import FRAMEWORKS, breaches_of
from server.cli.judge.report.bulk import BulkReport, report_of
from server.cli.judge.report.page import ReportedItem
from server.cli.judge.results import EarlierResults, ItemAnswer, JudgeTally, earlier_results, print_tally, to_answer
from server.cli.judge.table import print_comparison, print_judgement
from server.cli.options import Connection
from server.rpc.streams import map_concurrently


async def judge_document(source: Path, summaries: Sequence[Path], connection: Connection, run: JudgeRun) -> None:
    """Reads, judges, prints. Raises CliError."""
    items = read_summaries(source, summaries)
    with result_file(run.output) as output, result_file(run.report) as page:
        results = await judge_all(items, connection, run)
        judged = [ReportedItem(item, result) for item, result in zip(items, results, strict=True)]
        document = to_json_document({"results": [to_fields(one) for one in judged]})
        if output is not None:
            output.write(document)
        if page is not None:
            page.write(report_of(judged, run.floors))
    if run.as_json:
        sys.stdout.write(document)
    elif len(judged) == 1:
        print_judgement(output_console(), results[0])
    else:
        print_comparison(output_console(), [(one.item.id, one.result) for one in judged])
    if run.report is not None:
        print_note(f"report: {run.report}")
    check(judged, run)


async def judge_all(items: Sequence[Item], connection: Connection, run: JudgeRun) -> list[pb.JudgeResult]:
    """Judges all items at once, in their order; the first failure stops the others. Raises CliError."""
    metadata = call_metadata(connection)

    async def one(item: Item) -> pb.JudgeResult:
        request = to_request(item, run, common_pb2.PRIORITY_INTERACTIVE)
        with server_errors(connection, f"{item.id}: " if len(items) > 1 else ""):
            result = await judge_patiently(stub, request, timeout_s=run.timeout_s, metadata=metadata)
        progress.advance(bar)
        return result

    async with open_channel(connection) as channel:
        stub = JudgeServiceStub(channel)
        with progress_bar() as progress:
            bar = progress.add_task("judging", total=len(items))
            return await asyncio.gather(*map(one, items))


def to_fields(judged: ReportedItem) -> dict[str, object]:
    """Gives one result as plain data."""
    return {"id": judged.item.id, "result": to_json_fields(judged.result)}


def check(judged: Sequence[ReportedItem], run: JudgeRun) -> None:
    """Raises NegativeAnswer when a score is under a limit."""
    breaches = [
        f"{one.item.id} {breach}" if len(judged) > 1 else str(breach)
        for one in judged
        for breach in breaches_of(one.result, run.floors)
    ]
    if breaches:
        raise NegativeAnswer(f"under the limit: {', '.join(breaches)}")


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
    check_all(tally)


async def judge_items(
    path: Path, connection: Connection, run: JudgeRun, earlier: EarlierResults
) -> AsyncGenerator[ItemAnswer, None]:
    """Yields an answer for each item, as they come. Raises CliError when no further item can be judged."""
    metadata = call_metadata(connection)
    terms = (*run.frameworks, str(run.use_language_model))

    async def judge_one(item: Item | BadItem) -> ItemAnswer:
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


def check_all(tally: JudgeTally) -> None:
    """Raises CliError when items failed, NegativeAnswer when a score is under a limit."""
    if tally.failed.count:
        raise CliError(f"{tally.failed.count} of {tally.item_count} items failed; the others are done")
    if tally.breached_count:
        metrics = ", ".join(f"{metric} in {count}" for metric, count in tally.breaches.most_common())
        raise NegativeAnswer(f"{tally.breached_count} of {tally.item_count} items are under a limit: {metrics}")


ITEM_CODES = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
}
"""Failures of one item. After any other, such as a server that is gone, the next item would fail as well."""

TRIES = 5  # of an item that a full queue refuses
RETRY_DELAY_S = 0.5  # when the server does not say


def to_request(item: Item, run: JudgeRun, priority: common_pb2.Priority.ValueType) -> pb.JudgeRequest:
    """Gives the request; what is not set is left to the server."""
    numbers = {choice: number for number, choice in FRAMEWORKS.items()}
    return pb.JudgeRequest(
        source=item.source,
        summary=item.summary,
        frameworks=[numbers[choice] for choice in run.frameworks],
        options=pb.JudgeOptions(use_language_model=run.use_language_model),
        priority=priority,
        view=common_pb2.RESULT_VIEW_FULL,  # for --output, --report and what the tables show
    )


async def judge_patiently(
    stub: JudgeServiceStub, request: pb.JudgeRequest, *, timeout_s: float, metadata: Sequence[tuple[str, str]]
) -> pb.JudgeResult:
    """Judges one item; waits and tries again when the server's queue is full. Raises AioRpcError."""
    for _ in range(TRIES - 1):
        try:
            return (await stub.Judge(request, timeout=timeout_s, metadata=metadata)).result
        except AioRpcError as error:
            delay_s = retry_delay_s(error)
            if delay_s is None:
                raise
        await asyncio.sleep(delay_s)
    return (await stub.Judge(request, timeout=timeout_s, metadata=metadata)).result


def retry_delay_s(error: AioRpcError) -> float | None:
    """Returns how long to wait before the same call may work; None when it would fail again."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type] # AioRpcError has the three methods it reads
    if status is None or error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        return None  # without a rich status it is the transport, for which the message is too large
    retry = error_details_pb2.RetryInfo()
    for detail in status.details:
        if detail.Unpack(retry):
            return float(retry.retry_delay.ToTimedelta().total_seconds())
    return RETRY_DELAY_S


def to_item_error(error: AioRpcError, connection: Connection) -> common_pb2.ItemError:
    """Gives the error of one item. Raises CliError when the others would fail as well."""
    if error.code() not in ITEM_CODES:
        raise to_cli_error(error, connection) from error
    return common_pb2.ItemError(code=error.code().value[0], message=to_cli_error(error, connection).message)
