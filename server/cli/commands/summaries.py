"""`precis summaries`: summaries that run without a reader, and those that were made."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from server.cli.options import (
    BudgetOptions,
    Connection,
    JsonOption,
    SummaryOptions,
    TargetOptions,
    check_outputs,
    command,
)

if TYPE_CHECKING:
    from server.cli.connection import CommandClient

app = typer.Typer(
    no_args_is_help=True, help="Submit summaries that run without this program; list, watch, get, stop them."
)

IdArgument = Annotated[str, Argument(metavar="ID", help="Of a summary.")]
SHOWN = "0 it is done; 1 done and flawed, with --fail-flawed; 4 it is not."


def call(connection: Connection, work: "Callable[[CommandClient], Awaitable[object]]") -> None:
    """Runs what needs a client."""
    from server.cli.summarize.run import open_summaries

    async def run() -> None:
        async with open_summaries(connection) as client:
            await work(client)

    asyncio.run(run())


@app.command()
@command("precis summaries submit a.pdf b.docx docs/ --words 300 --form bullets")
def submit(
    files: Annotated[list[Path], Argument(metavar="FILE|DIR...", help="Each is a document and a summary of its own.")],
    *,
    options: SummaryOptions,
    budget: BudgetOptions,
    connection: Connection,
) -> None:
    """Queue a summary of each document; prints id and name, one a line.

    The server goes on when this program has ended, and after its own restart.
    """
    from server.cli.summarize.listed import submit_each

    call(connection, lambda client: submit_each(client, files, options, budget))


@app.command("list")
@command()
def list_(
    *,
    most: Annotated[int, Option("--most", "-n", min=1, help="So many, the newest first.")] = 50,
    as_json: JsonOption = False,
    connection: Connection,
) -> None:
    """List your summaries, the newest first."""
    from server.cli.summarize.listed import list_summaries

    call(connection, lambda client: list_summaries(client, most, as_json=as_json))


@app.command()
@command(exits=SHOWN)
def show(summary_id: IdArgument, *, target: TargetOptions, connection: Connection) -> None:
    """Write a summary, as far as it is."""
    from server.cli.summarize.listed import show_summary

    check_outputs([], target.output, target.report)
    call(connection, lambda client: show_summary(client, summary_id, target))


@app.command()
@command(exits=SHOWN)
def watch(summary_id: IdArgument, *, target: TargetOptions, connection: Connection) -> None:
    """Follow a summary to its end and write it. Ctrl+C stops watching and nothing else."""
    from server.cli.summarize.listed import watch_summary

    check_outputs([], target.output, target.report)
    call(connection, lambda client: watch_summary(client, summary_id, target))


@app.command()
@command()
def cancel(summary_id: IdArgument, *, connection: Connection) -> None:
    """Stop a summary, wherever it runs; `precis summarize --resume ID` goes on with it."""
    call(connection, lambda client: client.cancel_summary(summary_id))


@app.command()
@command()
def delete(summary_id: IdArgument, *, connection: Connection) -> None:
    """Delete a summary that does not run, and what only it needed."""
    call(connection, lambda client: client.delete_summary(summary_id))
