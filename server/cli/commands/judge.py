"""`precis judge`: the command's options and help. The work is in `judge_document` and `judge_bulk`."""

import asyncio
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from server.cli.errors import InputError
from server.cli.judge.floors import JudgeOptions
from server.cli.options import Connection, RunOptions, check_run, command, exit_codes


def print_schema(is_asked: bool) -> None:  # noqa: FBT001 - typer passes the option's value
    """Prints the JSON Schema of the frameworks' objects, and ends the command."""
    if is_asked:
        schema = files("pipeline.judge").joinpath("objects.schema.json").read_text(encoding="utf-8")
        print(schema, end="")  # noqa: T201 - asked for
        raise typer.Exit


@command(
    "precis judge --source article.txt --summary summary.txt --report out.html",
    "precis judge --source a.txt -s one.txt -s two.txt",
    "precis judge --source a.txt -s s.txt --json | jq '.results[0].result.frameworks'",
    "precis judge nightly.jsonl --output results.jsonl --fail-under hallucination=7",
    "precis judge items.jsonl -f ultra --fail-under ultra:coverage=5 --report r.html",
    exits=exit_codes(
        "a score is under --fail-under, or there is none, or a summary does not pass --calibration", "items that failed"
    ),
)
def judge(
    items: Annotated[
        Path | None,
        Argument(metavar="FILE.jsonl|FILE.parquet|-", help="Many items, in place of --source and --summary."),
    ] = None,
    *,
    source: Annotated[Path | None, Option("--source", metavar="TXT|PDF", help="The source; - reads stdin.")] = None,
    summary: Annotated[
        list[Path] | None, Option("--summary", "-s", metavar="TXT|PDF", help="Its summary. Repeatable; - reads stdin.")
    ] = None,
    options: JudgeOptions,
    _schema: Annotated[
        bool, Option("--schema", is_eager=True, callback=print_schema, help="Print the JSON Schema of objects_json.")
    ] = False,
    run: RunOptions,
    connection: Connection,
) -> None:
    """Judge summaries against their source: five scores, and what the source says.

    Scores go from 0 to 10; 10 is best. Every score names its reasons, the limits
    that held it down, and the passages that decided. All claims of a summary are
    checked, up to a limit of the server: scores from a part of them say [bold]partial[/]
    and of how many.

    [bold]FILE.jsonl[/] holds {"id": ..., "source": ..., "summary": ...} a line; - reads
    such lines; FILE.parquet has them as columns. [bold]--engine ray[/] has the actors of a Ray
    cluster judge them, in place of a server.
    A bad item is one error and does not stop the others. After Ctrl+C, or when
    items failed, the same command with --resume does what is missing.

    [bold]--report[/] writes one file that needs no network: the scores as a chart, each
    claim of the summary coloured by label, and the passage of the source that
    supports or contradicts it. Of many items the 500 worst are shown whole, and
    scores are broken down by the "category" of their lines, if they have one.

    [bold]--calibration[/] adds the probability that people call a summary good, and
    pass or fail, as [bold]precis calibrate[/] learned from your own labels.
    """
    _ = options.floors  # what is wrong with them is said before anything is read
    inputs = [path for path in (items, source, options.calibration, *(summary or ())) if path]
    check_run(run, inputs, is_bulk=items is not None)
    if items is None and (source is None or not summary):
        raise InputError("nothing to judge: give --source FILE and --summary FILE, or FILE.jsonl")
    if items is not None and (source or summary):
        raise InputError("give --source and --summary, or FILE.jsonl, not both")
    from server.cli.judge.judgements import judge_bulk, judge_document

    if items is not None:
        asyncio.run(judge_bulk(items, connection, options, run))
    elif source is not None:
        asyncio.run(judge_document(source, summary or [], connection, options, run))
