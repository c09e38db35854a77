"""Summarizes one document: sends it, follows the events, writes the result.

What `precis summarize` calls: a server, or (in `local_summaries`) the same service in this process.
"""

import asyncio
import sys
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from server.cli.connection import call_metadata, open_channel
from server.cli.console import output_console, print_note
from server.cli.errors import CliError
from server.cli.files import result_file, to_json_document, to_json_fields
from server.cli.options import DEFAULT_ADDRESS, Connection, SummaryOptions
from server.cli.summarize.source import read_document
from server.cli.summarize.view import ProgressView, ending, print_plan, progress_view

Response = pb.SummarizeResponse | pb.ResumeSummaryResponse


class SummaryCalls(Protocol):
    """The calls of one command. Errors are CliErrors."""

    @property
    def flags(self) -> str:
        """What to add to a command so that it calls the same; begins with a space, or is empty."""

    def summarize(self, request: pb.SummarizeRequest) -> AsyncIterable[Response]:
        """Begins a summary."""

    def resume(self, request: pb.ResumeSummaryRequest) -> AsyncIterable[Response]:
        """Goes on with one."""

    async def plan(self, request: pb.PlanSummaryRequest) -> pb.PlanSummaryResponse:
        """Counts calls."""


class RemoteSummaries:
    """Calls a server."""

    def __init__(self, stub: SummarizeServiceStub, connection: Connection, timeout_s: float | None) -> None:
        self._stub = stub
        self._connection = connection
        self._timeout_s = timeout_s

    @property
    def flags(self) -> str:
        """See SummaryCalls."""
        address = self._connection.address
        return "" if address == DEFAULT_ADDRESS else f" --address {address}"

    def summarize(self, request: pb.SummarizeRequest) -> AsyncIterable[Response]:
        """See SummaryCalls."""
        return self._stub.Summarize(request, timeout=self._timeout_s, metadata=call_metadata(self._connection))

    def resume(self, request: pb.ResumeSummaryRequest) -> AsyncIterable[Response]:
        """See SummaryCalls."""
        return self._stub.ResumeSummary(request, timeout=self._timeout_s, metadata=call_metadata(self._connection))

    async def plan(self, request: pb.PlanSummaryRequest) -> pb.PlanSummaryResponse:
        """See SummaryCalls."""
        return await self._stub.PlanSummary(request, timeout=self._timeout_s, metadata=call_metadata(self._connection))


@asynccontextmanager
async def remote_summaries(connection: Connection, timeout_s: float | None) -> AsyncIterator[SummaryCalls]:
    """Opens a channel for one command."""
    async with open_channel(connection) as channel:
        yield RemoteSummaries(SummarizeServiceStub(channel), connection, timeout_s)


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


async def plan_document(path: Path, options: SummaryOptions, calls: SummaryCalls, target: Target) -> None:
    """Counts the calls and prints them. Raises CliError."""
    response = await calls.plan(pb.PlanSummaryRequest(document=read_document(path), options=to_options(options)))
    with result_file(target.file) as file:
        if target.as_json:
            (file or sys.stdout).write(to_json_document(to_json_fields(response.plan)))
        else:
            print_plan(output_console(file), response.plan)


async def summarize_document(path: Path, options: SummaryOptions, calls: SummaryCalls, target: Target) -> None:
    """Reads, summarizes, writes. Raises CliError."""
    request = pb.SummarizeRequest(
        document=read_document(path), options=to_options(options), idempotency_key=options.idempotency_key
    )
    await write_summary(calls.summarize(request), calls, target)


async def resume_summary(summary_id: str, calls: SummaryCalls, target: Target) -> None:
    """Goes on with a summary and writes it. Raises CliError."""
    await write_summary(calls.resume(pb.ResumeSummaryRequest(summary_id=summary_id)), calls, target)


async def write_summary(responses: AsyncIterable[Response], calls: SummaryCalls, target: Target) -> None:
    """Follows a summary to its end and writes it, also a partial one; that is a CliError then."""
    with result_file(target.file) as file:  # opened first: hours of work must not end at a folder that is not there
        summary = await follow(responses, calls)
        (file or sys.stdout).write(
            to_json_document(to_json_fields(summary)) if target.as_json else to_markdown(summary)
        )
    print_note(ending(summary))
    if summary.status != pb.SUMMARY_STATUS_DONE:
        print_note(how_to_resume(summary.summary_id, calls))
        raise CliError(f"the summary is partial: {summary.failure.message}")


async def follow(responses: AsyncIterable[Response], calls: SummaryCalls) -> pb.Summary:
    """Shows the events and returns the summary. Says how to go on when that is not to be."""
    summary_id, summary = "", None
    try:
        with progress_view() as progress:
            view = ProgressView(progress)
            async for response in responses:
                event = response.event
                view.show(event)
                match event.WhichOneof("event"):
                    case "accepted":
                        summary_id = event.accepted.summary_id
                    case "summary":
                        summary = event.summary
    # Ctrl+C reaches us as CancelledError; all else is the call's own error, which goes its way.
    except BaseException as error:
        if summary_id and isinstance(error, Exception | asyncio.CancelledError):
            print_note(how_to_resume(summary_id, calls))
        raise
    if summary is None:
        raise CliError("the server ended the stream without a summary")
    return summary


def how_to_resume(summary_id: str, calls: SummaryCalls) -> str:
    """Says what to type."""
    return f"What is done is kept. To go on: precis summarize --resume {summary_id}{calls.flags}"


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
