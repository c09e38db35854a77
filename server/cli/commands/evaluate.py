"""`precis evaluate`: the command's options and help. The work is in `evaluate_document` and `evaluate_bulk`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from server.cli.errors import InputError
from server.cli.options import (
    DEFAULT_ADDRESS,
    AddressOption,
    ApiKeyFileOption,
    Connection,
    OutputOptions,
    TlsCaOption,
    TlsCertOption,
    TlsKeyOption,
)

JSON_LINES_SUFFIXES = {".jsonl", ".ndjson"}
DEFAULT_TIMEOUT_S = 300.0  # a long pair of summaries takes a minute on two busy cores


def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE.json|FILE.jsonl|-", help="What to evaluate; - reads stdin.")],
    *,
    summary: Annotated[
        list[Path] | None,
        typer.Option("--summary", "-s", metavar="TXT|JSON", help="A summary to score. Repeatable."),
    ] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="FILE is JSON Lines; implied by .jsonl and .ndjson.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    brief: Annotated[bool, typer.Option("--brief", help="Print the scores, not what was missed.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also write the results here, as JSON.")
    ] = None,
    fail_over: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="LOSS", help="Exit with 1 when a loss is over this.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout", "-t", min=0.001, metavar="SECONDS", help="Longest wait (default 300; for JSON Lines none)."
        ),
    ] = None,
    address: AddressOption = DEFAULT_ADDRESS,
    tls_ca: TlsCaOption = None,
    tls_cert: TlsCertOption = None,
    tls_key: TlsKeyOption = None,
    api_key_file: ApiKeyFileOption = None,
) -> None:
    """Score summaries against a golden reference: the loss, and what was missed.

    [bold]FILE.json[/] holds one request, with the field names of evaluate.proto:

      {"datum": {"entry": {"text": ...}, "summary": {"summary": ...,
        "key_facts": [10 to 20 texts], "logical_outline": [...],
        "entity_list": [...]}}, "generated": {"text": ...}}

    Put "candidates": [{"name": ..., "text": ...}, ...] in the place of
    "generated" to compare several summaries side by side.

    [bold]FILE.jsonl[/] holds one such request a line, with an "id" if you like.
    Lines are evaluated concurrently, as fast as the server takes them; a bad
    line is one error and does not stop the others.

    [bold]Examples[/]

      precis evaluate datum.json

      precis evaluate gold.json -s first.txt -s summarized.json --brief

      precis evaluate datum.json --json | jq '.results[0].response.loss'

      precis evaluate nightly.jsonl --output results.jsonl --fail-over 0.4

    [bold]Exit codes[/]  0 done; 1 a loss is over --fail-over; 2 the input has to
    change; 3 the server cannot be reached, is full or too slow; 4 anything
    else, such as items that failed; 130 Ctrl+C.
    """
    connection = Connection(address, tls_ca, tls_cert, tls_key, api_key_file)
    options = OutputOptions(as_json, output, fail_over, is_brief=brief)
    if jsonl or file.suffix.lower() in JSON_LINES_SUFFIXES:
        if summary:
            raise InputError("--summary and JSON Lines exclude each other: put the summaries into the lines")
        from server.cli.evaluate.run import evaluate_bulk

        asyncio.run(evaluate_bulk(file, connection, options, timeout_s=timeout))
    else:
        from server.cli.evaluate.run import evaluate_document

        document = evaluate_document(file, summary or [], connection, options, timeout_s=timeout or DEFAULT_TIMEOUT_S)
        asyncio.run(document)
