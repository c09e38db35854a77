"""Tells how long the summary of a document should be, by the compression schedule: in tokens and, roughly, in words."""

import math
from pathlib import Path

from pipeline.compression import get_target_summary_length
from server.cli.console import Grid, output_console
from server.cli.documents.read import read_document_text
from server.cli.errors import InputError

TOKENS_PER_WORD = 1.3  # of the embedder's tokenizer: news 1.3, a plain report 1.2, manuals with code and tables 1.5
TABLE_TOKENS = (500, 1_500, 5_000, 15_000, 50_000, 100_000)
"""Lengths that are listed when none is given: at least one for each tier of the schedule."""
MOST_DIGITS = 12


def print_targets(length: str | None) -> None:
    """Prints the target of one length, or a table of several. Raises InputError."""
    headings = (">document, tokens", ">about words", ">summary, tokens", ">about words", ">share")
    rows = []
    for tokens in TABLE_TOKENS if length is None else [read_length(length)]:
        target = target_of(tokens)
        numbers = (tokens, round(tokens / TOKENS_PER_WORD), target, round(target / TOKENS_PER_WORD))
        rows.append([*(f"{one:,}" for one in numbers), f"{target / tokens:.1%}"])
    output_console().print(Grid(headings, rows).to_table())


def target_of(tokens: int) -> int:
    """Applies the schedule to a document of so many tokens; a summary is never longer than that."""
    return min(tokens, get_target_summary_length(tokens))


def read_length(length: str) -> int:
    """Reads a number of tokens, or counts those of the document of that name, roughly. Raises InputError."""
    digits = length.replace(",", "").replace("_", "")
    if digits.isdecimal():
        if len(digits) > MOST_DIGITS or not int(digits):
            raise InputError(f"expected a length from 1 to {10**MOST_DIGITS:,}, got {length[:40]}")
        return int(digits)
    if length.startswith("-") and length != "-":
        raise InputError(f"expected a length from 1, or a file, got {length}")
    words = len(read_document_text(Path(length)).split())
    if not words:
        raise InputError(f"{length} holds no text")
    return math.ceil(words * TOKENS_PER_WORD)
