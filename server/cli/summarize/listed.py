"""What `precis summaries` does: one function for each of its commands. Errors are CliErrors."""

import sys
from collections.abc import Sequence
from pathlib import Path

from precis.v1 import summarize_pb2 as pb
from precis.words import Priority, word_of

from server.cli.connection import open_client
from server.cli.console import new_table, output_console, print_json, print_note, shown
from server.cli.errors import CliError
from server.cli.files import result_file, to_json_fields
from server.cli.options import Connection
from server.cli.progress import Progress
from server.cli.summarize.ordered import Ordered, to_options
from server.cli.summarize.run import (
    BEGIN_TWICE,
    PLAN_TIMEOUT_S,
    Target,
    check_flaws,
    events_of,
    remote_summaries,
    written,
)
from server.cli.summarize.source import read_document
from server.cli.summarize.view import ProgressView, ending, flawed, print_warnings

_NAME_CHARS = 60
_MOST_OF_A_PAGE = 1_000


async def submit_each(paths: Sequence[Path], asked: Ordered, connection: Connection, *, is_urgent: bool) -> None:
    """Queues a summary of each path; a folder is one document. Prints ids and names."""
    options, budget = to_options(asked.options), asked.budget_message
    documents = [read_document([path]) for path in paths]  # all are read before the first is sent
    async with open_client(connection, PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        for document in documents:
            priority: Priority = "interactive" if is_urgent else "bulk"
            queued = await client.submit_summary(document, options=options, budget=budget, priority=priority)
            sys.stdout.write(f"{queued.summary_id}  {shown(document.name, limit=_NAME_CHARS)}\n")


async def list_summaries(most: int, connection: Connection, *, as_json: bool) -> None:
    """Prints the newest summaries."""
    entries: list[pb.SummaryEntry] = []
    token = ""
    async with open_client(connection, PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        while len(entries) < most and (token or not entries):
            page = await client.list_summaries(min(most - len(entries), _MOST_OF_A_PAGE), token)
            entries += page.summaries
            token = page.next_page_token
            if not token:
                break
    if as_json:
        fields = to_json_fields(pb.ListSummariesResponse(summaries=entries, next_page_token=token))
        print_json(fields)
        return
    table = new_table("id", "status", "asked for", "document")
    for entry in entries:
        asked = f"{entry.created.ToDatetime():%Y-%m-%d %H:%M}" if entry.HasField("created") else "-"
        name = shown(entry.document_name, limit=_NAME_CHARS)
        table.add_row(entry.summary_id, status_of(entry), asked, name)
    output_console().print(table)


def status_of(entry: pb.SummaryEntry) -> str:
    """Says where a summary stands, and whether it is flawed: for example "done, flawed in 2 places"."""
    if entry.status == pb.SUMMARY_STATUS_RUNNING and not entry.is_running:
        return "interrupted"
    status = word_of(pb.SummaryStatus, entry.status)
    return f"{status}, {flawed(entry.flaw_count)}" if entry.flaw_count else str(status)


async def show_summary(summary_id: str, target: Target, connection: Connection) -> None:
    """Writes a summary as far as it is."""
    async with remote_summaries(connection, None) as calls:
        found = await calls.get(pb.GetSummaryRequest(summary_id=summary_id, include_document=target.report is not None))
    print_warnings(found.summary)
    print_note(ending(found.summary))
    _write(found.summary, target, found.document)


async def watch_summary(summary_id: str, target: Target, connection: Connection) -> None:
    """Shows how far a summary is until it ends, then writes it."""
    async with open_client(connection, PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        summary = pb.Summary()
        with Progress() as progress:
            view = ProgressView(progress)
            async for event in events_of(client.watch_summary(summary_id), connection):
                view.show(event)
                if event.HasField("summary"):
                    summary = event.summary
    print_note(ending(summary))
    _write(summary, target)


async def cancel_summary(summary_id: str, connection: Connection) -> None:
    """Stops a summary."""
    async with open_client(connection, PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        await client.cancel_summary(summary_id)


async def delete_summary(summary_id: str, connection: Connection) -> None:
    """Deletes a summary."""
    async with open_client(connection, PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        await client.delete_summary(summary_id)


def _write(summary: pb.Summary, target: Target, document: pb.Document | None = None) -> None:
    with result_file(target.file) as file, result_file(target.report) as page:
        (file or sys.stdout).write(written(summary, target))
        if page is not None and document is not None:
            from server.cli.summarize.report import render_summary

            page.write(render_summary(summary, document))
    if summary.status != pb.SUMMARY_STATUS_DONE:
        raise CliError(
            f"the summary is {word_of(pb.SummaryStatus, summary.status)}: {summary.failure.message or 'not done'}"
        )
    check_flaws(summary, target)
