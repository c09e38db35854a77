"""Judges the summaries of one source, and shows why their scores are what they are."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.cli.connection import call_metadata, open_channel, server_errors
from server.cli.console import output_console, print_note, progress_bar
from server.cli.errors import NegativeAnswer
from server.cli.judge_call import judge_patiently, to_request
from server.cli.judge_items import Item, read_summaries
from server.cli.judge_options import JudgeRun
from server.cli.judge_report.bulk import report_of
from server.cli.judge_report.page import ReportedItem
from server.cli.judge_table import print_comparison, print_judgement
from server.cli.judge_verdict import breaches_of
from server.cli.options import Connection
from server.cli.result_file import result_file, to_json_document, to_json_fields


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
