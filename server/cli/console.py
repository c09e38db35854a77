"""The terminal: what is written where, how foreign text is made safe to show, and the tables of all commands.

Results go to stdout, everything else (errors, progress, hints) to stderr, so that output can be piped.
Rich leaves out colours by itself when the stream is not a terminal.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, TypeVar

from rich import box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

T = TypeVar("T")

PIPED_WIDTH = 120  # columns; rich would assume 80 and cut the evidence of a table that goes to a file
SHOWN_ITEMS = 10  # of the worst, of the failed, of any list whose rest is counted


def plain(text: str) -> str:
    """Folds white space and replaces control characters, so that foreign text cannot drive the terminal."""
    return "".join(char if char.isprintable() else "�" for char in " ".join(text.split()))


def shown(text: str, *, limit: int = 0, style: str = "") -> Text:
    """Makes foreign text a renderable: no markup, no control characters, at most `limit` characters if that is set."""
    safe = plain(text)
    if limit and len(safe) > limit:
        safe = safe[: limit - 1] + "…"
    return Text(safe, style=style)


def number(value: float | None, digits: int = 2) -> str:
    """Writes a number; a dash for none and for one that is not defined."""
    return "-" if value is None or value != value else f"{value:.{digits}f}"  # noqa: PLR0124 - only NaN differs from itself


def counted(count: int, noun: str, plural: str = "") -> str:
    """Writes for example "1 item" or "1,200 items"."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


@dataclass(frozen=True)
class Grid:
    """A table of texts, which the terminal and a page show alike."""

    headings: Sequence[str]  # of the columns; one of numbers, which are set to the right, has a ">" before its heading
    rows: Sequence[Sequence[str | Text]]  # their cells; one with a style is a Text
    limit: int = 80  # characters of a cell on the terminal

    def to_table(self, *, title: str = "") -> Table:
        """Builds the table of the terminal."""
        table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left")
        for heading in self.headings:
            side: JustifyMethod = "right" if heading.startswith(">") else "left"
            table.add_column(shown(heading.removeprefix(">")), justify=side, overflow="fold")
        for row in self.rows:
            table.add_row(*(cell if isinstance(cell, Text) else shown(cell, limit=self.limit) for cell in row))
        return table


def to_list(rows: Iterable[tuple[str | Text, Text]]) -> Table:
    """Builds a list: what a row is about, and what is said of it."""
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for about, text in rows:
        table.add_row(about, text)
    return table


def print_grids(console: Console, said: str, remarks: Iterable[str], *grids: Grid) -> None:
    """Prints a line, the tables that have rows, and below them what else a reader should know."""
    console.print(said, markup=False)
    for grid in grids:
        if grid.rows:
            console.print(grid.to_table())
    for line in remarks:
        console.print(shown(line, style="dim"))


def titled_list(title: str, rows: Sequence[tuple[str | Text, Text]], limit: int) -> Group:
    """Builds a list of at most so many rows under a heading."""
    lines: list[RenderableType] = [Text(title, style="bold"), indented(to_list(rows[:limit]))]
    if len(rows) > limit:
        lines.append(Text(f"  and {len(rows) - limit:,} more; --json has all", style="dim"))
    return Group(*lines, Text())


def indented(what: RenderableType, below: int = 0) -> Padding:
    """Sets something in by two columns, with blank lines below."""
    return Padding(what, (0, 0, below, 2), expand=False)


def output_console(stream: TextIO | None = None) -> Console:
    """Builds the console for results; to stdout unless `stream` is given."""
    target = stream or sys.stdout
    width = None if target.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    return Console(file=target, width=width, highlight=False)


def error_console() -> Console:
    """Builds the console for everything that is not a result."""
    return Console(stderr=True, highlight=False)


def to_json_document(fields: Any) -> str:  # noqa: ANN401 - plain data
    """Gives plain data as indented JSON."""
    return json.dumps(fields, ensure_ascii=False, indent=2) + "\n"


def write(text: str, file: TextIO | None = None) -> None:
    """Writes a result into a file, else on stdout; a terminal gets no control characters, for foreign ones drive it."""
    if file is None and sys.stdout.isatty():
        text = "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)
    print(text, end="", file=file or sys.stdout, flush=True)  # another program may be following it


def print_json(fields: Any, file: TextIO | None = None) -> None:  # noqa: ANN401 - plain data
    """Writes plain data into a file, else on stdout."""
    write(to_json_document(fields), file)


def print_result(
    result: T,
    to_fields: Callable[[T], Any],
    show: Callable[[Console, T], None],
    *,
    as_json: bool,
    file: TextIO | None = None,
) -> None:
    """Writes a result into a file, else on stdout: as JSON, or as tables for people."""
    if as_json:
        print_json(to_fields(result), file)
    else:
        show(output_console(file), result)


def print_error(message: str) -> None:
    """Writes one line on stderr. Plain text: it must look the same in a log."""
    print(f"precis: {plain(message)}", file=sys.stderr)  # noqa: T201 - the error line of a program


def print_note(message: str) -> None:
    """Writes one line on stderr that is not an error."""
    print(plain(message), file=sys.stderr)  # noqa: T201 - the message line of a program


def note_files(**paths: object) -> None:
    """Says where the files are that were asked for, by what they hold."""
    for name, path in paths.items():
        if path is not None:
            print_note(f"{name}: {path}")
