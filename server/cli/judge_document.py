"""Judges one summary, and shows why its scores are what they are."""

import sys
from pathlib import Path

from protos.precis.v1 import common_pb2
from protos.precis.v1 import judge_pb2 as pb
from protos.precis.v1.judge_pb2_grpc import JudgeServiceStub
from server.cli.connection import call_metadata, open_channel
from server.cli.console import output_console, print_note
from server.cli.errors import NegativeAnswer
from server.cli.judge_call import judge_patiently, to_request
from server.cli.judge_items import Item, read_pair
from server.cli.judge_options import JudgeRun
from server.cli.judge_report.page import ReportedItem, render_report
from server.cli.judge_table import print_judgement
from server.cli.judge_verdict import breaches_of
from server.cli.options import Connection
from server.cli.result_file import result_file, to_json_document, to_json_fields


async def judge_document(source: Path, summary: Path, connection: Connection, run: JudgeRun) -> None:
    """Reads, judges, prints. Raises CliError."""
    item = read_pair(source, summary)
    with result_file(run.output) as output, result_file(run.report) as report:
        result = await judge_item(item, connection, run)
        document = to_json_document({"id": item.id, "result": to_json_fields(result)})
        if output is not None:
            output.write(document)
        if report is not None:
            report.write(render_report([ReportedItem(item, result)], run.floors))
    if run.as_json:
        sys.stdout.write(document)
    else:
        print_judgement(output_console(), result)
    if run.report is not None:
        print_note(f"report: {run.report}")
    breaches = breaches_of(result, run.floors)
    if breaches:
        raise NegativeAnswer(f"under the limit: {', '.join(map(str, breaches))}")


async def judge_item(item: Item, connection: Connection, run: JudgeRun) -> pb.JudgeResult:
    """Makes the call. Raises CliError."""
    request = to_request(item, run, common_pb2.PRIORITY_INTERACTIVE)
    async with open_channel(connection) as channel:
        return await judge_patiently(
            JudgeServiceStub(channel), request, timeout_s=run.timeout_s, metadata=call_metadata(connection)
        )
