"""Summarizes a document: sends it, follows the events, writes the result.

What `precis summarize` calls is a server, or (in `local`) the same service in this process.
"""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from precis import AsyncSummaryStream, RetryPolicy, cite_pages
from precis.calls import get_summary, plan_summary
from precis.errors import SummaryIncomplete
from precis.v1 import summarize_pb2 as pb

from server.cli.connection import open_client, server_errors
from server.cli.console import output_console, print_note
from server.cli.errors import CliError, InputError
from server.cli.files import result_file, to_json_document, to_json_fields
from server.cli.options import DEFAULT_ADDRESS, Connection, SummaryOptions
from server.cli.progress import Progress
from server.cli.summarize.source import read_document
from server.cli.summarize.view import ProgressView, ending, print_plan


@dataclass(frozen=True)
class SummaryCalls:
    """The calls of one command. Errors are CliErrors.

    Attributes:
        flags: to add to a command so that it calls the same; begins with a space, or is empty.
        summarize: begins a summary.
        resume: goes on with the summary of an id.
        plan: counts calls.
        get: asks for all that there is of a summary.
    """

    flags: str
    summarize: Callable[[pb.SummarizeRequest], AsyncIterator[pb.SummaryEvent]]
    resume: Callable[[str], AsyncIterator[pb.SummaryEvent]]
    plan: Callable[[pb.PlanSummaryRequest], Awaitable[pb.SummaryPlan]]
    get: Callable[[str], Awaitable[pb.GetSummaryResponse]]


LAYER_FILES = ("overview.md", "summary.md", "extraction.md")
_FILE_WORD = re.compile(r"[a-z0-9]{1,20}")
_MOST_FILE_WORDS = 6
PLAN_TIMEOUT_S = 600.0  # without --timeout
BEGIN_TWICE = RetryPolicy(max_attempts=2)
"""A stream that breaks is resumed as often as the client likes; a server that is not there is said to be so at once."""


@asynccontextmanager
async def remote_summaries(connection: Connection, timeout_s: float | None) -> AsyncIterator[SummaryCalls]:
    """Opens a client for one command."""
    async with open_client(connection, timeout_s or PLAN_TIMEOUT_S, BEGIN_TWICE) as client:

        def summarize(request: pb.SummarizeRequest) -> AsyncIterator[pb.SummaryEvent]:
            key = request.idempotency_key
            stream = client.summarize(
                request.document, options=request.options, idempotency_key=key, timeout_s=timeout_s
            )
            return events_of(stream, connection)

        yield SummaryCalls(
            flags="" if connection.address == DEFAULT_ADDRESS else f" --address {connection.address}",
            summarize=summarize,
            resume=lambda summary_id: events_of(client.resume_summary(summary_id, timeout_s=timeout_s), connection),
            plan=lambda request: client.send(plan_summary(request.document, request.options)),
            get=lambda summary_id: client.send(get_summary(summary_id)),
        )


async def events_of(stream: AsyncSummaryStream, connection: Connection) -> AsyncIterator[pb.SummaryEvent]:
    """Yields the events of a summary; the last one is the summary itself, also when it is partial."""
    with server_errors(connection):
        async with stream:
            async for step in stream:
                yield step.message
            try:
                summary = await stream.result()
            except SummaryIncomplete as error:
                summary = error.summary
    yield pb.SummaryEvent(summary=summary)


AUDIENCES = {"technical": pb.SUMMARY_TYPE_TECHNICAL, "operator": pb.SUMMARY_TYPE_OPERATOR}


@dataclass(frozen=True)
class Target:
    """Where the summary goes.

    Attributes:
        file: None for stdout.
        as_json: JSON in place of Markdown.
        layers: folder for the layers, each in a file; None for none.
        report: page of summary and source; None for none.
        cites_pages: whether the pages that a sentence stands on are written behind it.
    """

    file: Path | None
    as_json: bool
    layers: Path | None = None
    report: Path | None = None
    cites_pages: bool = False


async def plan_document(paths: Sequence[Path], options: SummaryOptions, calls: SummaryCalls, target: Target) -> None:
    """Counts the calls and prints them. Raises CliError."""
    plan = await calls.plan(pb.PlanSummaryRequest(document=read_document(paths), options=to_options(options)))
    with result_file(target.file) as file:
        if target.as_json:
            (file or sys.stdout).write(to_json_document(to_json_fields(plan)))
        else:
            print_plan(output_console(file), plan)


async def summarize_document(
    paths: Sequence[Path], options: SummaryOptions, calls: SummaryCalls, target: Target
) -> None:
    """Reads, summarizes, writes. Raises CliError."""
    request = pb.SummarizeRequest(
        document=read_document(paths), options=to_options(options), idempotency_key=options.idempotency_key
    )
    await write_summary(calls.summarize(request), calls, target, request.document)


async def write_summary(
    events: AsyncIterator[pb.SummaryEvent], calls: SummaryCalls, target: Target, document: pb.Document | None = None
) -> None:
    """Follows a summary to its end and writes it, also a partial one; that is a CliError then.

    Args:
        document: the source, for a report.
    """
    # Opened first: hours of work must not end at a folder that is not there.
    with result_file(target.file) as file, result_file(target.report) as page:
        summary = await follow(events, calls)
        (file or sys.stdout).write(_written(summary, target))
        if page is not None and document is not None:
            from server.cli.summarize.report import render_summary

            page.write(render_summary(summary, document))
        if target.layers is not None:
            write_layers(target.layers, (await calls.get(summary.summary_id)).summary)
    print_note(ending(summary))
    if summary.status != pb.SUMMARY_STATUS_DONE:
        print_note(how_to_resume(summary.summary_id, calls))
        raise CliError(f"the summary is partial: {summary.failure.message}")


def write_layers(folder: Path, summary: pb.Summary) -> None:
    """Writes overview, sections, summary and full extraction as files. Raises InputError."""
    extractions = [one.text for one in summary.intermediate_summaries if one.level == 0]
    layers = (summary.overview, to_markdown(summary), "\n\n".join(extractions))
    texts = dict(zip(LAYER_FILES, layers, strict=True))
    for number, section in enumerate(summary.sections, 1):
        words = "-".join(_FILE_WORD.findall(section.title.lower())[:_MOST_FILE_WORDS])  # a title is no path
        texts[f"section-{number:02d}{words and '-'}{words}.md"] = f"# {section.title}\n\n{section.text}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            if text.strip():
                (folder / name).write_text(text.rstrip() + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error


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


def how_to_resume(summary_id: str, calls: SummaryCalls) -> str:
    """Says what to type."""
    return f"What is done is kept. To go on: precis summarize --resume {summary_id}{calls.flags}"


def to_options(options: SummaryOptions) -> pb.SummarizeOptions:
    """Gives the options as a message; what is not set is left to the server."""
    shape = options.shape
    chosen: dict[str, Any] = {
        "max_iterations": options.max_iterations,
        "target_words": shape.words,
        "target_tokens": shape.tokens,
        "target_share": shape.share,
        "detail": shape.detail and pb.SummaryDetail.Value(f"SUMMARY_DETAIL_{shape.detail.name}"),
        "focus": shape.focus,
        "language": shape.language,
        "instructions": shape.instructions,
        "form": shape.form and pb.SummaryForm.Value(f"SUMMARY_FORM_{shape.form.name}"),
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    message = pb.SummarizeOptions(summary_type=AUDIENCES[options.audience], **chosen)
    if options.wave == 0:
        message.wave_all = True
    elif options.wave is not None:
        message.wave_batches = options.wave
    return message


def _written(summary: pb.Summary, target: Target) -> str:
    if target.as_json:
        return to_json_document(to_json_fields(summary))
    if target.cites_pages and not any(place.page_number for one in summary.citations for place in one.places):
        print_note("The document has no pages: none are cited.")
    return to_markdown(summary, cites_pages=target.cites_pages)


def to_markdown(summary: pb.Summary, *, cites_pages: bool = False) -> str:
    """Gives the text, and the topics as a list below it."""
    text = cite_pages(summary) if cites_pages else summary.text
    topics = "".join(f"- {' '.join(topic.split())}\n" for topic in summary.topics)
    return text.rstrip() + "\n" + (f"\n## Key topics\n\n{topics}" if topics else "")
