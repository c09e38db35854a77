"""What `precis summaries` does: one function for each of its commands. Errors are CliErrors."""

import sys
from collections.abc import Sequence
from pathlib import Path

from precis.v1 import summarize_pb2 as pb
from precis.words import word_of

from server.cli.connection import open_client
from server.cli.console import new_table, output_console, print_note, shown
from server.cli.errors import CliError
from server.cli.files import result_file, to_json_document, to_json_fields
from server.cli.options import Connection
from server.cli.progress import Progress
from server.cli.summarize.run import BEGIN_TWICE, PLAN_TIMEOUT_S, events_of, to_markdown
from server.cli.summarize.source import read_document
from server.cli.summarize.view import ProgressView, ending

_NAME_CHARS = 60
_MOST_OF_A_PAGE = 1_000


async def submit_each(paths: Sequence[Path], connection: Connection, *, is_urgent: bool) -> None:
    """Queues a summary of each path; a folder is one document. Prints ids and names."""
    documents = [read_document([path]) for path in paths]  # all are read before the first is sent
    async with open_client(connection, PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        for document in documents:
            queued = await client.submit_summary(document, priority="interactive" if is_urgent else "bulk")
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
        sys.stdout.write(to_json_document(fields))
        return
    table = new_table("id", "status", "asked for", "document")
    for entry in entries:
        asked = f"{entry.created.ToDatetime():%Y-%m-%d %H:%M}" if entry.HasField("created") else "-"
        status = word_of(pb.SummaryStatus, entry.status)
        is_lost = entry.status == pb.SUMMARY_STATUS_RUNNING and not entry.is_running
        name = shown(entry.document_name, limit=_NAME_CHARS)
        table.add_row(entry.summary_id, "interrupted" if is_lost else status, asked, name)
    output_console().print(table)


async def show_summary(summary_id: str, output: Path | None, connection: Connection, *, as_json: bool) -> None:
    """Writes a summary as far as it is."""
    async with open_client(connection, PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        summary = (await client.get_summary(summary_id)).summary
    _write(summary, output, as_json=as_json)


async def watch_summary(summary_id: str, output: Path | None, connection: Connection, *, as_json: bool) -> None:
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
    _write(summary, output, as_json=as_json)


async def cancel_summary(summary_id: str, connection: Connection) -> None:
    """Stops a summary."""
    async with open_client(connection, PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        await client.cancel_summary(summary_id)


async def delete_summary(summary_id: str, connection: Connection) -> None:
    """Deletes a summary."""
    async with open_client(connection, PLAN_TIMEOUT_S, BEGIN_TWICE) as client:
        await client.delete_summary(summary_id)


def _write(summary: pb.Summary, output: Path | None, *, as_json: bool) -> None:
    is_json = as_json or (output is not None and output.suffix.lower() == ".json")
    with result_file(output) as file:
        text = to_json_document(to_json_fields(summary)) if is_json else to_markdown(summary)
        (file or sys.stdout).write(text)
    if summary.status != pb.SUMMARY_STATUS_DONE:
        raise CliError(
            f"the summary is {word_of(pb.SummaryStatus, summary.status)}: {summary.failure.message or 'not done'}"
        )
