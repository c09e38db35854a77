"""Summarizes one document: sends it, follows the events, writes the result."""

import asyncio
import sys
from collections.abc import AsyncIterable
from dataclasses import dataclass
from pathlib import Path

from protos.precis.v1 import summarize_pb2 as pb
from protos.precis.v1.summarize_pb2_grpc import SummarizeServiceStub
from server.cli.connection import call_metadata, open_channel
from server.cli.console import output_console, print_note
from server.cli.errors import CliError
from server.cli.options import DEFAULT_ADDRESS, Connection, SummaryOptions
from server.cli.result_file import result_file, to_json_document, to_json_fields
from server.cli.summarize_source import read_document
from server.cli.summarize_view import SummaryView, ending, print_plan, progress_view

Response = pb.SummarizeResponse | pb.ResumeSummaryResponse
AUDIENCES = {"technical": pb.SUMMARY_TYPE_TECHNICAL, "operator": pb.SUMMARY_TYPE_OPERATOR}


@dataclass(frozen=True)
class Target:
    """Where the summary goes.

    Attributes:
        file: None for stdout.
        as_json: JSON in place of Markdown.
    """

    file: Path | None
    as_json: bool


async def plan_document(
    path: Path, options: SummaryOptions, connection: Connection, target: Target, *, timeout_s: float | None
) -> None:
    """Counts the calls and prints them. Raises CliError."""
    request = pb.PlanSummaryRequest(document=read_document(path), options=to_options(options))
    async with open_channel(connection) as channel:
        stub = SummarizeServiceStub(channel)
        response = await stub.PlanSummary(request, timeout=timeout_s, metadata=call_metadata(connection))
    with result_file(target.file) as file:
        if target.as_json:
            (file or sys.stdout).write(to_json_document(to_json_fields(response.plan)))
        else:
            print_plan(output_console(file), response.plan)


async def summarize_document(
    path: Path, options: SummaryOptions, connection: Connection, target: Target, *, timeout_s: float | None
) -> None:
    """Reads, summarizes, writes. Raises CliError."""
    request = pb.SummarizeRequest(
        document=read_document(path), options=to_options(options), idempotency_key=options.idempotency_key
    )
    async with open_channel(connection) as channel:
        stub = SummarizeServiceStub(channel)
        call = stub.Summarize(request, timeout=timeout_s, metadata=call_metadata(connection))
        await write_summary(call, connection, target)


async def resume_summary(summary_id: str, connection: Connection, target: Target, *, timeout_s: float | None) -> None:
    """Goes on with a summary and writes it. Raises CliError."""
    request = pb.ResumeSummaryRequest(summary_id=summary_id)
    async with open_channel(connection) as channel:
        stub = SummarizeServiceStub(channel)
        call = stub.ResumeSummary(request, timeout=timeout_s, metadata=call_metadata(connection))
        await write_summary(call, connection, target)


async def write_summary(responses: AsyncIterable[Response], connection: Connection, target: Target) -> None:
    """Follows a summary to its end and writes it, also a partial one; that is a CliError then."""
    with result_file(target.file) as file:  # opened first: hours of work must not end at a folder that is not there
        summary = await follow(responses, connection)
        (file or sys.stdout).write(
            to_json_document(to_json_fields(summary)) if target.as_json else to_markdown(summary)
        )
    print_note(ending(summary))
    if summary.status != pb.SUMMARY_STATUS_DONE:
        print_note(how_to_resume(summary.summary_id, connection))
        raise CliError(f"the summary is partial: {summary.failure.message}")


async def follow(responses: AsyncIterable[Response], connection: Connection) -> pb.Summary:
    """Shows the events and returns the summary. Says how to go on when that is not to be."""
    summary_id = ""
    try:
        with progress_view() as progress:
            view = SummaryView(progress)
            async for response in responses:
                event = response.event
                view.show(event)
                match event.WhichOneof("event"):
                    case "accepted":
                        summary_id = event.accepted.summary_id
                    case "summary":
                        return event.summary
    # Ctrl+C reaches us as CancelledError; all else is the call's own error, which goes its way.
    except BaseException as error:
        if summary_id and isinstance(error, Exception | asyncio.CancelledError):
            print_note(how_to_resume(summary_id, connection))
        raise
    raise CliError("the server ended the stream without a summary")


def how_to_resume(summary_id: str, connection: Connection) -> str:
    """Says what to type."""
    address = "" if connection.address == DEFAULT_ADDRESS else f" --address {connection.address}"
    return f"What is done is kept. To go on: precis summarize --resume {summary_id}{address}"


def to_options(options: SummaryOptions) -> pb.SummarizeOptions:
    """Gives the options as a message; what is not set is left to the server."""
    message = pb.SummarizeOptions(summary_type=AUDIENCES[options.audience], max_iterations=options.max_iterations)
    if options.wave == 0:
        message.wave_all = True
    elif options.wave is not None:
        message.wave_batches = options.wave
    return message


def to_markdown(summary: pb.Summary) -> str:
    """Gives the text, and the topics as a list below it."""
    topics = "".join(f"- {' '.join(topic.split())}\n" for topic in summary.topics)
    return summary.text.rstrip() + "\n" + (f"\n## Key topics\n\n{topics}" if topics else "")
