"""Summarizes one document: sends it, follows the events, writes the result.

What `precis summarize` calls is a server, or (in `local`) the same service in this process.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from precis import AsyncSummaryStream, RetryPolicy
from precis.calls import plan_summary
from precis.errors import SummaryIncomplete
from precis.v1 import summarize_pb2 as pb

from pipeline.summarize.packing import split_by_tokens
from server.cli.connection import CommandClient, open_client, server_errors
from server.cli.console import output_console, print_note
from server.cli.documents import document_name, read_document_pages
from server.cli.errors import CliError, InputError
from server.cli.files import result_file, to_json_document, to_json_fields
from server.cli.options import DEFAULT_ADDRESS, Connection, SummaryOptions
from server.cli.progress import Progress
from server.cli.summarize.view import ProgressView, ending, print_plan


class SummaryCalls(Protocol):
    """The calls of one command. Errors are CliErrors."""

    @property
    def flags(self) -> str:
        """What to add to a command so that it calls the same; begins with a space, or is empty."""

    def summarize(self, request: pb.SummarizeRequest) -> AsyncIterator[pb.SummaryEvent]:
        """Begins a summary."""

    def resume(self, summary_id: str) -> AsyncIterator[pb.SummaryEvent]:
        """Goes on with one."""

    async def plan(self, request: pb.PlanSummaryRequest) -> pb.SummaryPlan:
        """Counts calls."""


class RemoteSummaries:
    """Calls a server."""

    def __init__(self, client: CommandClient, connection: Connection, timeout_s: float | None) -> None:
        self._client = client
        self._connection = connection
        self._timeout_s = timeout_s

    @property
    def flags(self) -> str:
        """See SummaryCalls."""
        address = self._connection.address
        return "" if address == DEFAULT_ADDRESS else f" --address {address}"

    def summarize(self, request: pb.SummarizeRequest) -> AsyncIterator[pb.SummaryEvent]:
        """See SummaryCalls."""
        return self._events(
            self._client.summarize(
                request.document,
                options=request.options,
                idempotency_key=request.idempotency_key,
                timeout_s=self._timeout_s,
            )
        )

    def resume(self, summary_id: str) -> AsyncIterator[pb.SummaryEvent]:
        """See SummaryCalls."""
        return self._events(self._client.resume_summary(summary_id, timeout_s=self._timeout_s))

    async def plan(self, request: pb.PlanSummaryRequest) -> pb.SummaryPlan:
        """See SummaryCalls."""
        return await self._client.send(plan_summary(request.document, request.options))

    async def _events(self, stream: AsyncSummaryStream) -> AsyncIterator[pb.SummaryEvent]:
        with server_errors(self._connection):
            async with stream:
                async for step in stream:
                    yield step.message
                try:
                    summary = await stream.result()
                except SummaryIncomplete as error:
                    summary = error.summary
        yield pb.SummaryEvent(summary=summary)


PLAN_TIMEOUT_S = 600.0  # without --timeout
BEGIN_TWICE = RetryPolicy(max_attempts=2)
"""A stream that breaks is resumed as often as the client likes; a server that is not there is said to be so at once."""


@asynccontextmanager
async def remote_summaries(connection: Connection, timeout_s: float | None) -> AsyncIterator[SummaryCalls]:
    """Opens a client for one command."""
    async with open_client(connection, timeout_s or PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        yield RemoteSummaries(client, connection, timeout_s)


CHUNK_CHARS = 1_000  # about 250 tokens
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
    plan = await calls.plan(pb.PlanSummaryRequest(document=read_document(path), options=to_options(options)))
    with result_file(target.file) as file:
        if target.as_json:
            (file or sys.stdout).write(to_json_document(to_json_fields(plan)))
        else:
            print_plan(output_console(file), plan)


async def summarize_document(path: Path, options: SummaryOptions, calls: SummaryCalls, target: Target) -> None:
    """Reads, summarizes, writes. Raises CliError."""
    request = pb.SummarizeRequest(
        document=read_document(path), options=to_options(options), idempotency_key=options.idempotency_key
    )
    await write_summary(calls.summarize(request), calls, target)


async def resume_summary(summary_id: str, calls: SummaryCalls, target: Target) -> None:
    """Goes on with a summary and writes it. Raises CliError."""
    await write_summary(calls.resume(summary_id), calls, target)


async def write_summary(events: AsyncIterator[pb.SummaryEvent], calls: SummaryCalls, target: Target) -> None:
    """Follows a summary to its end and writes it, also a partial one; that is a CliError then."""
    with result_file(target.file) as file:  # opened first: hours of work must not end at a folder that is not there
        summary = await follow(events, calls)
        (file or sys.stdout).write(
            to_json_document(to_json_fields(summary)) if target.as_json else to_markdown(summary)
        )
    print_note(ending(summary))
    if summary.status != pb.SUMMARY_STATUS_DONE:
        print_note(how_to_resume(summary.summary_id, calls))
        raise CliError(f"the summary is partial: {summary.failure.message}")


async def follow(events: AsyncIterator[pb.SummaryEvent], calls: SummaryCalls) -> pb.Summary:
    """Shows the events and returns the summary. Says how to go on when that is not to be."""
    summary_id, summary = "", None
    try:
        with Progress() as progress:
            view = ProgressView(progress)
            async for event in events:
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


def read_document(path: Path) -> pb.Document:
    """Reads a document; the long pages of a PDF are cut where sentences end, a text is left to the server."""
    name, pages = document_name(path), read_document_pages(path)
    if isinstance(pages, str):
        if not pages.strip():
            raise InputError(f"{path} holds no text")
        return pb.Document(document_id=name, name=name, text=pages)
    chunks = [
        pb.DocumentChunk(text=part, page_number=number)
        for number, page in enumerate(pages, 1)
        for part in split_by_tokens(page, CHUNK_CHARS, len)
        if part.strip()
    ]
    return pb.Document(document_id=name, name=name, chunks=chunks, total_pages=len(pages))


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
