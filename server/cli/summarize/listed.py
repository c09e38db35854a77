"""What `precis summaries` does: one function for each of its commands. Errors are CliErrors."""

import sys
from collections.abc import Sequence
from pathlib import Path

from precis.calls import get_summary
from precis.v1 import summarize_pb2 as pb
from precis.words import word_of

from server.cli.connection import CommandClient
from server.cli.console import Grid, output_console, print_json, shown
from server.cli.files import to_json_fields
from server.cli.options import BudgetOptions, SummaryOptions, TargetOptions
from server.cli.summarize.run import follow, to_budget, to_options, write_summary
from server.cli.summarize.source import read_document
from server.cli.summarize.view import flawed, print_warnings

_NAME_CHARS = 60
_MOST_OF_A_PAGE = 1_000


async def submit_each(
    client: CommandClient, paths: Sequence[Path], options: SummaryOptions, budget: BudgetOptions
) -> None:
    """Queues a summary of each path; a folder is one document. Prints ids and names."""
    asked, bounds = to_options(options), to_budget(budget)
    documents = [read_document([path]) for path in paths]  # all are read before the first is sent
    for document in documents:
        queued = await client.submit_summary(document, options=asked, budget=bounds)
        sys.stdout.write(f"{queued.summary_id}  {shown(document.name, limit=_NAME_CHARS)}\n")


async def list_summaries(client: CommandClient, most: int, *, as_json: bool) -> None:
    """Prints the newest summaries."""
    entries: list[pb.SummaryEntry] = []
    token = ""
    while len(entries) < most and (token or not entries):
        page = await client.list_summaries(min(most - len(entries), _MOST_OF_A_PAGE), token)
        entries += page.summaries
        token = page.next_page_token
        if not token:
            break
    if as_json:
        print_json(to_json_fields(pb.ListSummariesResponse(summaries=entries, next_page_token=token)))
        return
    times = [f"{one.created.ToDatetime():%Y-%m-%d %H:%M}" if one.HasField("created") else "-" for one in entries]
    rows = [(one.summary_id, status_of(one), at, one.document_name) for one, at in zip(entries, times, strict=True)]
    output_console().print(Grid(("id", "status", "asked for", "document"), rows, _NAME_CHARS).to_table())


def status_of(entry: pb.SummaryEntry) -> str:
    """Says where a summary stands, and whether it is flawed: for example "done, flawed in 2 places"."""
    if entry.status == pb.SUMMARY_STATUS_RUNNING and not entry.is_running:
        return "interrupted"
    status = word_of(pb.SummaryStatus, entry.status)
    return f"{status}, {flawed(entry.flaw_count)}" if entry.flaw_count else str(status)


async def show_summary(client: CommandClient, summary_id: str, target: TargetOptions) -> None:
    """Writes a summary as far as it is."""

    async def found() -> pb.Summary:
        summary = (await client.send(get_summary(summary_id))).summary
        print_warnings(summary)
        return summary

    await write_summary(found(), client, target)


async def watch_summary(client: CommandClient, summary_id: str, target: TargetOptions) -> None:
    """Shows how far a summary is until it ends, then writes it."""
    await write_summary(follow(client.watch_summary(summary_id), client, is_ours=False), client, target)
