"""`precis evaluate`: the command's options and help. The work is in `evaluate_document` and `evaluate_bulk`.

`precis gold`: proposes a golden reference. `precis target`: how long a summary should be, done here.
"""

import math
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pipeline.compression import get_target_summary_length
from server.cli.console import Grid, output_console
from server.cli.errors import InputError
from server.cli.options import Connection, ItemTimeoutOption, RunOptions, check_files, check_run, command, exit_codes

MANY_ITEMS_SUFFIXES = {".jsonl", ".ndjson", ".parquet"}
TOKENS_PER_WORD = 1.3  # of the embedder's tokenizer: news 1.3, a plain report 1.2, manuals with code and tables 1.5
TABLE_TOKENS = (500, 1_500, 5_000, 15_000, 50_000, 100_000)
"""Lengths that are listed when none is given: at least one for each tier of the schedule."""
MOST_DIGITS = 12


@command(
    "precis evaluate datum.json",
    "precis evaluate gold.json -s first.txt -s second.txt --brief",
    "precis evaluate datum.json --json | jq '.results[0].response.loss'",
    "precis evaluate gold.json -s summary.txt --report out.html",
    "precis evaluate nightly.jsonl --output results.jsonl --fail-over 0.4",
    exits=exit_codes("a loss is over --fail-over", "items that failed"),
)
async def evaluate(
    file: Annotated[Path, Argument(metavar="FILE.json|FILE.jsonl|FILE.parquet|-", help="To evaluate; - reads stdin.")],
    *,
    summary: Annotated[
        list[Path] | None, Option("--summary", "-s", metavar="TXT|PDF", help="A summary to score. Repeatable.")
    ] = None,
    jsonl: Annotated[bool, Option("--jsonl", help="FILE is JSON Lines; implied by .jsonl and .ndjson.")] = False,
    fail_over: Annotated[float | None, Option(min=0, max=1, metavar="LOSS", help="Exit with 1 over this.")] = None,
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
    FILE.parquet has their fields as columns. A bad line is one error and does not stop
    the others. Results are broken down by the "category" of their documents.
    """
    is_bulk = jsonl or file.suffix.lower() in MANY_ITEMS_SUFFIXES
    check_run(options, [file, *(summary or ())], is_bulk=is_bulk)
    if is_bulk and summary:
        raise InputError("--summary and JSON Lines exclude each other: put the summaries into the lines")
    from server.cli.bulk import read_json_lines, run_items
    from server.cli.evaluate import evaluations as work

    otherwise = "one request, over several lines, is FILE.json"
    items = read_json_lines(file, work.parse_line, otherwise) if is_bulk else work.read_candidates(file, summary or [])
    await run_items(work.to_work(is_bulk=is_bulk), items, connection, options, work.EvaluateTally(fail_over))


@command("precis gold report.pdf -o gold.json", "precis evaluate gold.json -s summary.txt", exits=exit_codes())
async def gold(
    file: Annotated[Path, Argument(metavar="FILE", help="The document: PDF, HTML, DOCX, EPUB, PPTX, CSV or text.")],
    *,
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="FILE.json", help="Write here, and list it on stdout.")
    ] = None,
    timeout_s: ItemTimeoutOption = 300.0,
    connection: Connection,
) -> None:
    """Propose a golden reference of a document: theme, summary, facts, outline, entities.

    Every sentence of the proposal is one that the server's NLI model found
    supported by the document. What it did not is left out and listed. The server's
    language model writes, if there is one; else sentences of the document are
    chosen. Correct the file by hand before you measure with it.
    """
    check_files([file], output)
    from server.cli.evaluate.gold import propose_gold

    await propose_gold(file, output, connection, timeout_s)


@command("precis target 15000", "precis target report.pdf", "precis target")
def target(
    length: Annotated[
        str | None, Argument(metavar="TOKENS|FILE", help="Length of the document, or the document; left out: a table.")
    ] = None,
) -> None:
    """Tell how long a summary should be, by the compression schedule of the evaluation.

    Its length component scores 1 there, and loses half at 65 % more or less. One word
    is taken for 1.3 tokens; the evaluation counts exactly. Asks no server.
    """
    rows = []
    for tokens in TABLE_TOKENS if length is None else [read_length(length)]:
        goal = min(tokens, get_target_summary_length(tokens))  # never longer than the document
        numbers = (tokens, round(tokens / TOKENS_PER_WORD), goal, round(goal / TOKENS_PER_WORD))
        rows.append([*(f"{one:,}" for one in numbers), f"{goal / tokens:.1%}"])
    headings = (">document, tokens", ">about words", ">summary, tokens", ">about words", ">share")
    output_console().print(Grid(headings, rows).to_table())


def read_length(length: str) -> int:
    """Reads a number of tokens, or counts those of the document of that name, roughly. Raises InputError."""
    digits = length.replace(",", "").replace("_", "")
    if digits.isdecimal():
        if len(digits) > MOST_DIGITS or not int(digits):
            raise InputError(f"expected a length from 1 to {10**MOST_DIGITS:,}, got {length[:40]}")
        return int(digits)
    from server.cli.documents.read import read_document_text
    from server.cli.files import not_empty

    words = not_empty(read_document_text(Path(length)), Path(length)).split()
    return math.ceil(len(words) * TOKENS_PER_WORD)
