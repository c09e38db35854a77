"""Summarizes documents: sends them, follows the events, writes, lists and shows the results."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path

from precis import AsyncSummaryStream, RetryPolicy, cite_pages
from precis.calls import get_summary
from precis.errors import SummaryIncomplete
from precis.summarization import summarize_options
from precis.v1 import summarize_pb2 as pb
from precis.words import word_of
from rich.console import Console

from server.cli.commands.summarize import ENDPOINT_FLAGS, LAYER_FILES, BudgetOptions, SummaryOptions, TargetOptions
from server.cli.connection import CommandClient, open_client
from server.cli.console import Grid, print_note, to_json_document, write
from server.cli.errors import CliError, InputError, NegativeAnswer
from server.cli.files import read_text, result_file, to_json_fields
from server.cli.options import Connection
from server.cli.progress import Progress
from server.cli.summarize.report import render_summary
from server.cli.summarize.view import ProgressView, ending, flawed, print_warnings

NAME_CHARS = 60
PLAN_TIMEOUT_S = 600.0  # without --timeout
BEGIN_TWICE = RetryPolicy(max_attempts=2)
"""A stream that breaks is resumed as often as the client likes; a server that is not there is said to be so at once."""


@asynccontextmanager
async def open_summaries(
    connection: Connection, timeout_s: float | None = None, endpoint: Mapping[str, object] | None = None
) -> AsyncIterator[CommandClient]:
    """Opens a server that writes summaries; errors of calls inside the block become CliErrors.

    For an endpoint it is one in this process. A server that called whatever address its callers name, with whatever
    key, could be sent anywhere inside its network. Nor does the key of another endpoint ever go to the one named here.
    An empty one leaves the endpoint to the settings of that server.
    """
    local, flags = None, ""
    if endpoint is not None:
        named = {"llm": endpoint} if endpoint else {}
        local = {**named, "summary_storage": {}}  # the latter: it outlives this process
        given = ((flag, endpoint[name]) for name, flag in ENDPOINT_FLAGS.items() if endpoint.get(name))
        flags = "".join(f" {flag} {shlex.quote(str(value))}" for flag, value in given) or " --local"
    async with open_client(connection, timeout_s or PLAN_TIMEOUT_S, BEGIN_TWICE, local=local) as client:
        client.flags = flags or client.flags
        yield client


def to_budget(options: BudgetOptions) -> pb.SummaryBudget | None:
    """Gives the bounds as a message; None without any."""
    budget = pb.SummaryBudget(**asdict(options))
    return budget if budget.ListFields() else None


def to_options(options: SummaryOptions) -> pb.SummarizeOptions:
    """Gives the options as a message. Raises InputError for what excludes each other."""
    if sum(choice is not None for choice in (options.words, options.tokens, options.share, options.detail)) > 1:
        raise InputError("give one of --words, --tokens, --share and --detail")
    schema = read_text(options.json_schema) if options.json_schema else None
    return summarize_options(**{**vars(options), "json_schema": schema})


async def write_summary(
    get: Callable[[], Awaitable[pb.Summary]],
    client: CommandClient,
    target: TargetOptions,
    document: pb.Document | None = None,
) -> None:
    """Waits for a summary and writes it, also a partial one; that is a CliError then.

    A flawed one is a NegativeAnswer, where that is asked for.

    Args:
        get: waits for it, once the files are open.
        client: of the server that has it.
        target: where it goes.
        document: the source, for a report; None: the server is asked for it.
    """
    # Opened first: hours of work must not end at a folder that is not there.
    with result_file(target.output) as file, result_file(target.report) as page:
        summary = await get()
        write(written(summary, target), file)
        if page is not None or target.layers is not None:
            found = await client.send(get_summary(summary.summary_id, include_document=document is None))
            if target.layers is not None:
                write_layers(target.layers, found.summary, cites_pages=target.cite_pages)
            if page is not None:
                page.write(render_summary(summary, found.document if document is None else document))
    print_note(ending(summary))
    if summary.status != pb.SUMMARY_STATUS_DONE:
        print_note(how_to_resume(summary.summary_id, client))
        raise CliError(f"the summary is partial: {summary.failure.message or 'it is not done'}")
    if target.fail_flawed and summary.trust.flaw_count:
        raise NegativeAnswer(f"the summary is {flawed(summary.trust.flaw_count)}")


def write_layers(folder: Path, summary: pb.Summary, *, cites_pages: bool = False) -> None:
    """Writes overview, sections, summary and full extraction as files, and deletes those of an earlier one there.

    Raises:
        InputError: the folder cannot be written to.
    """
    extractions = [one.text for one in summary.intermediate_summaries if one.level == 0]
    layers = (summary.overview, to_markdown(summary, cites_pages=cites_pages), "\n\n".join(extractions))
    texts = dict(zip(LAYER_FILES, layers, strict=True))
    for number, section in enumerate(summary.sections, 1):
        plain = "".join(char if char.isascii() and char.isalnum() else " " for char in section.title.lower())
        words = (word[:20] for word in plain.split()[:6])  # a title is no path
        texts["-".join(["section", f"{number:02d}", *words]) + ".md"] = f"# {section.title}\n\n{section.text}"
    texts = {name: text for name, text in texts.items() if text.strip()}
    try:
        for file in (*map(folder.joinpath, LAYER_FILES), *folder.glob("section-[0-9][0-9]*.md")):
            file.unlink(missing_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text.rstrip() + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error


async def follow(stream: AsyncSummaryStream, client: CommandClient, *, is_ours: bool = True) -> pb.Summary:
    """Shows how a summary goes on and returns it, also when it is partial.

    Says how to go on when that is not to be; not for one that goes on without us.
    """
    summary_id = ""
    try:
        with Progress() as progress:
            view = ProgressView(progress)
            async with stream:
                async for step in stream:
                    view.show(step.message)
                    summary_id = summary_id or step.message.accepted.summary_id
                try:
                    summary = await stream.result()
                except SummaryIncomplete as error:
                    summary = error.summary
            view.show(pb.SummaryEvent(summary=summary))
            return summary
    # Ctrl+C reaches us as CancelledError; all else is the call's own error, which goes its way.
    except (Exception, asyncio.CancelledError):
        if summary_id and is_ours:
            print_note(how_to_resume(summary_id, client))
        raise


def how_to_resume(summary_id: str, client: CommandClient) -> str:
    """Says what to type."""
    return f"What is done is kept. To go on: precis summarize --resume {summary_id}{client.flags}"


def written(summary: pb.Summary, target: TargetOptions) -> str:
    """Gives a summary in the form that is asked for."""
    if summary.json and not target.as_json:
        return summary.json.rstrip() + "\n"
    if target.is_json:
        return to_json_document(to_json_fields(summary))
    if target.cite_pages and not any(place.page_number for one in summary.citations for place in one.places):
        print_note("The document has no pages: none are cited.")
    return to_markdown(summary, cites_pages=target.cite_pages)


def to_markdown(summary: pb.Summary, *, cites_pages: bool = False) -> str:
    """Gives the text, and the topics as a list below it."""
    text = cite_pages(summary) if cites_pages else summary.text
    topics = "".join(f"- {' '.join(topic.split())}\n" for topic in summary.topics)
    return text.rstrip() + "\n" + (f"\n## Key topics\n\n{topics}" if topics else "")


def print_entries(console: Console, page: pb.ListSummariesResponse) -> None:
    """Prints the table of summaries."""
    rows = []
    for one in page.summaries:
        asked_for = f"{one.created.ToDatetime():%Y-%m-%d %H:%M}" if one.HasField("created") else "-"
        rows.append((one.summary_id, status_of(one), asked_for, one.document_name))
    console.print(Grid(("id", "status", "asked for", "document"), rows, NAME_CHARS).to_table())


def status_of(entry: pb.SummaryEntry) -> str:
    """Says where a summary stands, and whether it is flawed: for example "done, flawed in 2 places"."""
    if entry.status == pb.SUMMARY_STATUS_RUNNING and not entry.is_running:
        return "interrupted"
    status = word_of(pb.SummaryStatus, entry.status)
    return f"{status}, {flawed(entry.flaw_count)}" if entry.flaw_count else str(status)


async def read_summary(summary_id: str, client: CommandClient) -> pb.Summary:
    """Returns a summary as far as it is, and prints its warnings."""
    summary = (await client.send(get_summary(summary_id))).summary
    print_warnings(summary)
    return summary
