"""The terminal: what is written where, and how foreign text is made safe to show.

Results go to stdout, everything else (errors, progress, hints) to stderr, so that output can be piped.
Rich leaves out colours by itself when the stream is not a terminal.
"""

import os
import sys
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPED_WIDTH = 120  # columns; rich would assume 80 and cut the evidence of a table that goes to a file


def plain(text: str) -> str:
    """Folds white space and replaces control characters, so that foreign text cannot drive the terminal."""
    folded = " ".join(text.split())
    return "".join(char if char.isprintable() else "�" for char in folded)


def shown(text: str, *, limit: int = 0, style: str = "") -> Text:
    """Makes foreign text a renderable: no markup, no control characters, at most `limit` characters if that is set."""
    safe = plain(text)
    if limit and len(safe) > limit:
        safe = safe[: limit - 1] + "…"
    return Text(safe, style=style)


def new_table(*headings: str, title: str = "") -> Table:
    """Builds an empty table; a column of numbers, which are set to the right, has a ">" before its heading."""
    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left")
    for heading in headings:
        table.add_column(heading.removeprefix(">"), justify="right" if heading.startswith(">") else "left")
    return table


def new_list() -> Table:
    """Builds an empty list: what a row is about, and what is said of it."""
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column()
    return table


def output_console(stream: TextIO | None = None) -> Console:
    """Builds the console for results; to stdout unless `stream` is given."""
    target = stream or sys.stdout
    width = None if target.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    return Console(file=target, width=width, highlight=False)


def error_console() -> Console:
    """Builds the console for everything that is not a result."""
    return Console(stderr=True, highlight=False)


def print_error(message: str) -> None:
    """Writes one line on stderr. Plain text: it must look the same in a log."""
    print(f"precis: {plain(message)}", file=sys.stderr)  # noqa: T201 - the error line of a program


def print_note(message: str) -> None:
    """Writes one line on stderr that is not an error."""
    print(plain(message), file=sys.stderr)  # noqa: T201 - the message line of a program
