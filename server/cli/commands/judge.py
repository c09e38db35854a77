"""`precis judge`: the command's options and help. The work is in `judge_document` and `judge_bulk`."""

import asyncio
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from server.cli.errors import InputError
from server.cli.judge.floors import (
    CLAIMS_SHOWN,
    FrameworkChoice,
    JudgeTerms,
    check_floors,
    chosen_frameworks,
    parse_claims,
    parse_floor,
)
from server.cli.options import Connection, NoLanguageModelOption, RunOptions, check_run, with_options


def print_schema(is_asked: bool) -> None:  # noqa: FBT001 - typer passes the option's value
    """Prints the JSON Schema of the frameworks' objects, and ends the command."""
    if is_asked:
        schema = files("pipeline.judge").joinpath("objects.schema.json").read_text(encoding="utf-8")
        print(schema, end="")  # noqa: T201 - asked for
        raise typer.Exit


@with_options
def judge(
    items: Annotated[
        Path | None,
        typer.Argument(metavar="DIR|FILE.jsonl|FILE.parquet|-", help="Many items, in place of --source and --summary."),
    ] = None,
    *,
    source: Annotated[
        Path | None, typer.Option("--source", metavar="TXT|PDF", help="The source; - reads stdin.")
    ] = None,
    summary: Annotated[
        list[Path] | None,
        typer.Option("--summary", "-s", metavar="TXT|PDF", help="Its summary. Repeatable; - reads stdin."),
    ] = None,
    framework: Annotated[
        list[FrameworkChoice] | None, typer.Option("--framework", "-f", help="Repeatable (default ultra).")
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="[FRAMEWORK:]METRIC=SCORE", help="Exit with 1 when a score is under this. Repeatable."),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Add probability and verdict, as precis calibrate learned."),
    ] = None,
    any_models: Annotated[
        bool, typer.Option("--any-models", help="Use the calibration for judgements by other models too.")
    ] = False,
    max_claims: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Check at most N claims of a summary; its scores are then partial."),
    ] = None,
    claims: Annotated[
        str, typer.Option(metavar="N|all", help="List so many of the claims that are not supported.")
    ] = str(CLAIMS_SHOWN),
    no_llm: NoLanguageModelOption = False,
    _schema: Annotated[
        bool,
        typer.Option("--schema", is_eager=True, callback=print_schema, help="Print the JSON Schema of objects_json."),
    ] = False,
    options: RunOptions,
    connection: Connection,
) -> None:
    """Judge summaries against their source: five scores, and what the source says.

    Scores go from 0 to 10; 10 is best. Every score names its reasons, the limits
    that held it down, and the passages that decided. All claims of a summary are
    checked, up to --max-claims or a limit of the server: scores from a part of
    them say [bold]partial[/] and of how many.

    [bold]DIR[/] holds pairs NAME.source.txt and NAME.summary.txt. [bold]FILE.jsonl[/] holds
    {"id": ..., "source": ..., "summary": ...} a line; - reads such lines;
    FILE.parquet has them as columns. [bold]--engine ray[/] has the actors of a Ray
    cluster judge them, in place of a server.
    A bad item is one error and does not stop the others. After Ctrl+C, or when
    items failed, the same command with --resume does what is missing.

    [bold]--report[/] writes one file that needs no network: the scores as a chart, each
    claim of the summary coloured by label, and the passage of the source that
    supports or contradicts it. Of many items the 500 worst are shown whole, and
    scores are broken down by the "category" of their lines, if they have one.

    [bold]--calibration[/] adds the probability that people call a summary good, and
    pass or fail, as [bold]precis calibrate[/] learned from your own labels.

    [bold]Examples[/]

      precis judge --source article.txt --summary summary.txt --report out.html

      precis judge --source a.txt -s one.txt -s two.txt

      precis judge --source a.txt -s s.txt --json | jq '.results[0].result.frameworks'

      precis judge nightly/ --output results.jsonl --fail-under hallucination=7

      precis judge items.jsonl -f ultra --fail-under ultra:coverage=5 --report r.html

    [bold]Exit codes[/]  0 done; 1 a score is under --fail-under, or there is none, or a
    summary does not pass --calibration; 2 the input has to change; 3 the server cannot be reached, is full or too slow;
    4 anything else, such as items that failed; 130 Ctrl+C.
    """
    floors = tuple(map(parse_floor, fail_under or ()))
    terms = JudgeTerms(
        frameworks=chosen_frameworks(framework or (), floors),
        use_language_model=False if no_llm else None,
        max_claims=max_claims,
        shown_claims=parse_claims(claims),
        floors=floors,
        calibration=calibration,
        takes_other_models=any_models,
    )
    check_floors(terms.floors, terms.frameworks)
    inputs = [path for path in (items, source, calibration, *(summary or ())) if path]
    check_run(options, inputs, is_bulk=items is not None)
    if items is None and (source is None or not summary):
        raise InputError("nothing to judge: give --source FILE and --summary FILE, or DIR or FILE.jsonl")
    if items is not None and (source or summary):
        raise InputError("give --source and --summary, or DIR or FILE.jsonl, not both")
    from server.cli.judge.run import judge_bulk, judge_document

    if items is not None:
        asyncio.run(judge_bulk(items, connection, terms, options))
    elif source is not None:
        asyncio.run(judge_document(source, summary or [], connection, terms, options))
