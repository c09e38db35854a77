"""`precis summaries`: summaries that run without a reader, and those that were made."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import (
    BudgetOptions,
    CitePagesOption,
    Connection,
    FailFlawedOption,
    JsonOption,
    ReportOption,
    SummaryOptions,
    check_outputs,
    with_options,
)

app = typer.Typer(
    no_args_is_help=True, help="Submit summaries that run without this program; list, watch, get, stop them."
)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Of a summary.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write here, not on stdout: JSON if it ends in .json."),
]


@app.command()
@with_options
def submit(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE|DIR...", help="Each is a document and a summary of its own.")
    ],
    *,
    urgent: Annotated[bool, typer.Option("--urgent", help="Before those that are not.")] = False,
    options: SummaryOptions,
    budget: BudgetOptions,
    connection: Connection,
) -> None:
    """Queue a summary of each document; prints id and name, one a line.

    The server goes on when this program has ended, and after its own restart.

    [bold]Example[/]

      precis summaries submit a.pdf b.docx docs/ --words 300 --form bullets
    """
    from server.cli.summarize.listed import submit_each
    from server.cli.summarize.ordered import Ordered

    asyncio.run(submit_each(files, Ordered(options, budget), connection, is_urgent=urgent))


@app.command("list")
@with_options
def list_(
    *,
    most: Annotated[int, typer.Option("--most", "-n", min=1, help="So many, the newest first.")] = 50,
    as_json: JsonOption = False,
    connection: Connection,
) -> None:
    """List your summaries, the newest first."""
    from server.cli.summarize.listed import list_summaries

    asyncio.run(list_summaries(most, connection, as_json=as_json))


@app.command()
@with_options
def show(
    summary_id: IdArgument,
    *,
    output: OutputOption = None,
    as_json: JsonOption = False,
    report: ReportOption = None,
    cite_pages: CitePagesOption = False,
    fail_flawed: FailFlawedOption = False,
    connection: Connection,
) -> None:
    """Write a summary, as far as it is.

    [bold]Exit codes[/]  0 it is done; 1 done and flawed, with --fail-flawed; 4 it is not.
    """
    from server.cli.summarize.listed import show_summary
    from server.cli.summarize.run import Target

    check_outputs([], output, report)
    target = Target(output, as_json, None, report, cite_pages, fail_flawed)
    asyncio.run(show_summary(summary_id, target, connection))


@app.command()
@with_options
def watch(
    summary_id: IdArgument,
    *,
    output: OutputOption = None,
    as_json: JsonOption = False,
    fail_flawed: FailFlawedOption = False,
    connection: Connection,
) -> None:
    """Follow a summary to its end and write it. Ctrl+C stops watching and nothing else.

    [bold]Exit codes[/]  as of `show`.
    """
    from server.cli.summarize.listed import watch_summary
    from server.cli.summarize.run import Target

    asyncio.run(watch_summary(summary_id, Target(output, as_json, fails_flawed=fail_flawed), connection))


@app.command()
@with_options
def cancel(summary_id: IdArgument, *, connection: Connection) -> None:
    """Stop a summary, wherever it runs; `precis summarize --resume ID` goes on with it."""
    from server.cli.summarize.listed import cancel_summary

    asyncio.run(cancel_summary(summary_id, connection))


@app.command()
@with_options
def delete(summary_id: IdArgument, *, connection: Connection) -> None:
    """Delete a summary that does not run, and what only it needed."""
    from server.cli.summarize.listed import delete_summary

    asyncio.run(delete_summary(summary_id, connection))
