"""`precis evaluate`: the command's options and help. The work is in `evaluate_document` and `evaluate_bulk`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from server.cli.errors import InputError
from server.cli.options import Connection, RunOptions, check_run, with_options

MANY_ITEMS_SUFFIXES = {".jsonl", ".ndjson", ".parquet"}


@with_options
def evaluate(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.json|FILE.jsonl|FILE.parquet|-", help="What to evaluate; - reads stdin.")
    ],
    *,
    summary: Annotated[
        list[Path] | None,
        typer.Option("--summary", "-s", metavar="TXT|JSON", help="A summary to score. Repeatable."),
    ] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="FILE is JSON Lines; implied by .jsonl and .ndjson.")] = False,
    fail_over: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="LOSS", help="Exit with 1 when a loss is over this.")
    ] = None,
    options: RunOptions,
    connection: Connection,
) -> None:
    """Score summaries against a golden reference: the loss, and what was missed.

    [bold]FILE.json[/] holds one request, with the field names of evaluate.proto:

      {"datum": {"entry": {"text": ...}, "summary": {"summary": ...,
        "key_facts": [10 to 20 texts], "logical_outline": [...],
        "entity_list": [...]}}, "generated": {"text": ...}}

    Put "candidates": [{"name": ..., "text": ...}, ...] in the place of
    "generated" to compare several summaries side by side.

    [bold]FILE.jsonl[/] holds one such request a line, with an "id" if you like;
    FILE.parquet has their fields as columns. [bold]--engine ray[/] has the actors of a
    Ray cluster work on them, in place of a server.
    A bad line is one error and does not stop the others. After Ctrl+C, or when
    items failed, the same command with --resume does what is missing.

    [bold]Examples[/]

      precis evaluate datum.json

      precis evaluate gold.json -s first.txt -s summarized.json --brief

      precis evaluate datum.json --json | jq '.results[0].response.loss'

      precis evaluate nightly.jsonl --output results.jsonl --fail-over 0.4

    [bold]Exit codes[/]  0 done; 1 a loss is over --fail-over; 2 the input has to
    change; 3 the server cannot be reached, is full or too slow; 4 anything
    else, such as items that failed; 130 Ctrl+C.
    """
    is_bulk = jsonl or file.suffix.lower() in MANY_ITEMS_SUFFIXES
    check_run(options, [file, *(summary or ())], options.output, is_bulk=is_bulk)
    if is_bulk and summary:
        raise InputError("--summary and JSON Lines exclude each other: put the summaries into the lines")
    from server.cli.evaluate.run import evaluate_bulk, evaluate_document

    if is_bulk:
        asyncio.run(evaluate_bulk(file, connection, options, fail_over=fail_over))
    else:
        asyncio.run(evaluate_document(file, summary or [], connection, options, fail_over=fail_over))
