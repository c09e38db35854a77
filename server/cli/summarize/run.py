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

from precis import AsyncSummaryStream, RetryPolicy, cite_pages
from precis.calls import get_summary, plan_summary
from precis.errors import SummaryIncomplete
from precis.v1 import summarize_pb2 as pb

from server.cli.connection import open_client, server_errors
from server.cli.console import output_console, print_note, to_json_document
from server.cli.errors import CliError, InputError, NegativeAnswer
from server.cli.files import result_file, to_json_fields
from server.cli.options import DEFAULT_ADDRESS, Connection
from server.cli.progress import Progress, is_live
from server.cli.summarize.ordered import Ordered, to_options
from server.cli.summarize.source import read_document
from server.cli.summarize.view import ProgressView, ending, flawed, print_plan


@dataclass(frozen=True)
class SummaryCalls:
    """The calls of one command. Errors are CliErrors.

    Attributes:
        flags: to add to a command so that it calls the same; begins with a space, or is empty.
        summarize: begins a summary.
        resume: goes on with the summary of an id, perhaps with another budget.
        plan: counts calls.
        get: asks for all that there is of a summary.
    """

    flags: str
    summarize: Callable[[pb.SummarizeRequest], AsyncIterator[pb.SummaryEvent]]
    resume: Callable[[str, pb.SummaryBudget | None], AsyncIterator[pb.SummaryEvent]]
    plan: Callable[[pb.PlanSummaryRequest], Awaitable[pb.SummaryPlan]]
    get: Callable[[pb.GetSummaryRequest], Awaitable[pb.GetSummaryResponse]]


LAYER_FILES = ("overview.md", "summary.md", "extraction.md")
_FILE_WORD = re.compile(r"[a-z0-9]{1,20}")
_MOST_FILE_WORDS = 6
_SECTION_FILE = re.compile(r"section-\d{2,}(-[a-z0-9]{1,20}){0,6}\.md")
PLAN_TIMEOUT_S = 600.0  # without --timeout
BEGIN_TWICE = RetryPolicy(max_attempts=2)
"""A stream that breaks is resumed as often as the client likes; a server that is not there is said to be so at once."""


@asynccontextmanager
async def remote_summaries(connection: Connection, timeout_s: float | None) -> AsyncIterator[SummaryCalls]:
    """Opens a client for one command."""
    async with open_client(connection, timeout_s or PLAN_TIMEOUT_S, BEGIN_TWICE) as client:

        def summarize(request: pb.SummarizeRequest) -> AsyncIterator[pb.SummaryEvent]:
            stream = client.summarize(
                request.document,
                options=request.options,
                idempotency_key=request.idempotency_key,
                budget=request.budget if request.HasField("budget") else None,
                include_draft=request.include_draft,
                timeout_s=timeout_s,
            )
            return events_of(stream, connection)

        def resume(summary_id: str, budget: pb.SummaryBudget | None) -> AsyncIterator[pb.SummaryEvent]:
            stream = client.resume_summary(summary_id, budget=budget, include_draft=is_live(), timeout_s=timeout_s)
            return events_of(stream, connection)

        yield SummaryCalls(
            flags="" if connection.address == DEFAULT_ADDRESS else f" --address {connection.address}",
            summarize=summarize,
            resume=resume,
            plan=lambda request: client.send(plan_summary(request.document, request.options)),
            get=lambda request: client.send(get_summary(request.summary_id, include_document=request.include_document)),
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


@dataclass(frozen=True)
class Target:
    """Where the summary goes.

    Attributes:
        file: None for stdout.
        as_json: JSON with all measurements, whatever the file is called.
        layers: folder for the layers, each in a file; None for none.
        report: page of summary and source; None for none.
        cites_pages: whether the pages that a sentence stands on are written behind it.
        fails_flawed: whether a flawed summary ends the command with an error once it is written.
    """

    file: Path | None
    as_json: bool
    layers: Path | None = None
    report: Path | None = None
    cites_pages: bool = False
    fails_flawed: bool = False

    @property
    def is_json(self) -> bool:
        """Whether all measurements are written."""
        return self.as_json or (self.file is not None and self.file.suffix.lower() == ".json")


async def plan_document(paths: Sequence[Path], asked: Ordered, calls: SummaryCalls, target: Target) -> None:
    """Counts the calls and prints them. Raises CliError."""
    options = to_options(asked.options)
    plan = await calls.plan(pb.PlanSummaryRequest(document=read_document(paths), options=options))
    with result_file(target.file) as file:
        if target.is_json:
            (file or sys.stdout).write(to_json_document(to_json_fields(plan)))
        else:
            print_plan(output_console(file), plan)


async def summarize_document(paths: Sequence[Path], asked: Ordered, calls: SummaryCalls, target: Target) -> None:
    """Reads, summarizes, writes. Raises CliError."""
    to_options(asked.options)  # what excludes each other is refused before anything is read
    request = asked.request(read_document(paths))
    request.include_draft = is_live()
    await write_summary(calls.summarize(request), calls, target, request.document)


async def write_summary(
    events: AsyncIterator[pb.SummaryEvent], calls: SummaryCalls, target: Target, document: pb.Document | None = None
) -> None:
    """Follows a summary to its end and writes it, also a partial one; that is a CliError then.

    Args:
        document: the source, for a report; None: the server is asked for it.
    """
    # Opened first: hours of work must not end at a folder that is not there.
    with result_file(target.file) as file, result_file(target.report) as page:
        summary = await follow(events, calls)
        (file or sys.stdout).write(written(summary, target))
        if page is not None:
            page.write(await report_page(summary, document, calls))
        if target.layers is not None:
            found = await calls.get(pb.GetSummaryRequest(summary_id=summary.summary_id))
            write_layers(target.layers, found.summary, cites_pages=target.cites_pages)
    print_note(ending(summary))
    if summary.status != pb.SUMMARY_STATUS_DONE:
        print_note(how_to_resume(summary.summary_id, calls))
        raise CliError(f"the summary is partial: {summary.failure.message}")
    check_flaws(summary, target)


def check_flaws(summary: pb.Summary, target: Target) -> None:
    """Raises NegativeAnswer for a flawed summary, where that is asked for."""
    if target.fails_flawed and summary.trust.flaw_count:
        raise NegativeAnswer(f"the summary is {flawed(summary.trust.flaw_count)}")


async def report_page(summary: pb.Summary, document: pb.Document | None, calls: SummaryCalls) -> str:
    """Renders summary and source."""
    from server.cli.summarize.report import render_summary

    if document is None:
        request = pb.GetSummaryRequest(summary_id=summary.summary_id, include_document=True)
        document = (await calls.get(request)).document
    return render_summary(summary, document)


def write_layers(folder: Path, summary: pb.Summary, *, cites_pages: bool = False) -> None:
    """Writes overview, sections, summary and full extraction as files, and deletes those of an earlier one there.

    Raises:
        InputError: the folder cannot be written to.
    """
    extractions = [one.text for one in summary.intermediate_summaries if one.level == 0]
    layers = (summary.overview, to_markdown(summary, cites_pages=cites_pages), "\n\n".join(extractions))
    texts = dict(zip(LAYER_FILES, layers, strict=True))
    for number, section in enumerate(summary.sections, 1):
        words = "-".join(_FILE_WORD.findall(section.title.lower())[:_MOST_FILE_WORDS])  # a title is no path
        texts[f"section-{number:02d}{words and '-'}{words}.md"] = f"# {section.title}\n\n{section.text}"
    texts = {name: text for name, text in texts.items() if text.strip()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in folder.iterdir():
            if file.name not in texts and (file.name in LAYER_FILES or _SECTION_FILE.fullmatch(file.name)):
                file.unlink()
        for name, text in texts.items():
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


def written(summary: pb.Summary, target: Target) -> str:
    """Gives a summary in the form that is asked for."""
    if summary.json and not target.as_json:
        return summary.json.rstrip() + "\n"
    if target.is_json:
        return to_json_document(to_json_fields(summary))
    if target.cites_pages and not any(place.page_number for one in summary.citations for place in one.places):
        print_note("The document has no pages: none are cited.")
    return to_markdown(summary, cites_pages=target.cites_pages)


def to_markdown(summary: pb.Summary, *, cites_pages: bool = False) -> str:
    """Gives the text, and the topics as a list below it."""
    text = cite_pages(summary) if cites_pages else summary.text
    topics = "".join(f"- {' '.join(topic.split())}\n" for topic in summary.topics)
    return text.rstrip() + "\n" + (f"\n## Key topics\n\n{topics}" if topics else "")
