"""Tells how long the summary of a document should be, by the compression schedule: in tokens and, roughly, in words."""

import math
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from pipeline.reading.compression import get_target_summary_length
from server.cli.console import Grid, output_console, print_json
from server.cli.documents.read import read_document_text
from server.cli.errors import InputError

TOKENS_PER_WORD = 1.3  # of the embedder's tokenizer: news 1.3, a plain report 1.2, manuals with code and tables 1.5
TABLE_TOKENS = (500, 1_500, 5_000, 15_000, 50_000, 100_000)
"""Lengths that are listed when none is given: at least one for each tier of the schedule."""
MOST_DIGITS = 12


@dataclass(frozen=True, slots=True)
class LengthRow:
    """A document and the length of its summary.

    Attributes:
        input_tokens: of the document.
        input_words: likewise.
        target_tokens: of the summary; at most the document's own.
        target_words: likewise.
    """

    input_tokens: int
    input_words: int
    target_tokens: int
    target_words: int


def print_targets(length: str | None, *, counts_words: bool, as_json: bool) -> None:
    """Prints the target of one length, or a table of several. Raises InputError."""
    rows = [to_row(length, counts_words=counts_words)] if length is not None else [row_of(n) for n in TABLE_TOKENS]
    if as_json:
        print_json({"targets": [asdict(row) for row in rows]})
        return
    headings = (">document, tokens", ">about words", ">summary, tokens", ">about words", ">share")
    cells = [[*(f"{one:,}" for one in astuple(row)), f"{row.target_tokens / row.input_tokens:.1%}"] for row in rows]
    output_console().print(Grid(headings, cells).to_table())


def to_row(length: str, *, counts_words: bool) -> LengthRow:
    """Reads a number of tokens or words, or the document of that name. Raises InputError."""
    digits = length.replace(",", "").replace("_", "")
    if digits.isdecimal():
        if len(digits) > MOST_DIGITS or not int(digits):
            raise InputError(f"expected a length from 1 to {10**MOST_DIGITS:,}, got {length[:40]}")
        return row_of(math.ceil(int(digits) * TOKENS_PER_WORD) if counts_words else int(digits))
    if length.startswith("-") and length != "-":
        raise InputError(f"expected a length from 1, or a file, got {length}")
    words = len(read_document_text(Path(length)).split())
    if not words:
        raise InputError(f"{length} holds no text")
    return row_of(math.ceil(words * TOKENS_PER_WORD))


def row_of(tokens: int) -> LengthRow:
    """Applies the schedule to a document of so many tokens."""
    target = min(tokens, get_target_summary_length(tokens))
    return LengthRow(tokens, round(tokens / TOKENS_PER_WORD), target, round(target / TOKENS_PER_WORD))
