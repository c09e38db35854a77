"""What commands read: UTF-8 texts, JSON objects and lines, from files or standard input.

Results as JSON, on stdout or in a file that is never half written.

A blocking iterator, such as the lines of stdin, read from an event loop.
"""

import asyncio
import json
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message
from pydantic_core import from_json

from server.cli.errors import CliError, InputError
from server.cli.parquet import PARQUET, write_parquet

STDIN = Path("-")
PARTIAL = ".partial"  # behind the name of a file until it is complete
MAX_ROWS = 20_000  # of a file that is held whole
MAX_LINE_BYTES = 64 << 20  # of a row in it
_QUOTES = str.maketrans("", "", "\"'[]")  # around the fields that protobuf lists


@contextmanager
def naming(place: object) -> Iterator[None]:
    """Lets an InputError of the block begin with the place where it arose."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{shown_path(place)}: {error.message}") from error


def shown_path(path: object) -> str:
    """Names a file, or another place, as a message does."""
    return "standard input" if path == STDIN else str(path)


def not_empty(text: str, path: Path) -> str:
    """Returns what a file holds. Raises InputError for white space."""
    if not text.strip():
        raise InputError(f"{shown_path(path)} holds no text")
    return text


def parse_object(text: str) -> dict[str, Any]:
    """Parses a JSON object; refuses what nothing can show or send, such as 200 levels or a lone surrogate.

    Raises:
        InputError: it is none.
    """
    try:
        value = from_json(text)
    except ValueError as error:
        raise InputError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"expected a JSON object, got {type(value).__name__}")
    return value


M = TypeVar("M", bound=Message)
T = TypeVar("T")


def parse_message(fields: dict[str, Any], message: M, *, ignores_unknown: bool = False) -> M:
    """Fills a message of the contract from plain data. Raises InputError for an unknown field or a wrong value."""
    try:
        return json_format.ParseDict(fields, message, ignore_unknown_fields=ignores_unknown)
    except (json_format.ParseError, ArithmeticError, SystemError, TypeError, ValueError) as error:  # 1e999 as an enum
        problem, _, known = str(error).partition("\n Available Fields(except extensions): ")
        place = []
        while problem.startswith("Failed to parse "):
            name, _, problem = problem.removeprefix("Failed to parse ").partition(" field: ")
            place.append(name)
        if known:
            place.append(problem.partition(' has no field named "')[2].partition('"')[0])
            names = "".join(f"_{one.lower()}" if one.isupper() else one for one in known.translate(_QUOTES))
            problem = f"no such field; there are {names}"
        raise InputError(": ".join(filter(None, (".".join(place), problem.rstrip("."))))) from error


def read_bytes(path: Path) -> bytes:
    """Reads a whole file, or standard input for "-". Raises InputError."""
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {shown_path(path)}: {error.strerror}") from error


def read_text(path: Path) -> str:
    """Reads a whole UTF-8 file, or standard input for "-". Raises InputError."""
    data = read_bytes(path)
    with naming(path):
        return decode(data)


def read_object(path: Path) -> dict[str, Any]:
    """Reads a file that is one JSON object. Raises InputError."""
    text = read_text(path)
    try:
        return parse_object(text)
    except InputError as error:
        raise InputError(f"{shown_path(path)}: {error.message}; --help shows what it should hold") from error


def read_lines(path: Path, *, max_line_bytes: int = -1) -> Iterator[tuple[int, bytes]]:
    """Yields number, from 1, and bytes of every line that is not blank; never holds the whole file.

    Raises:
        InputError: the file cannot be read, or a line is longer than `max_line_bytes`, if that is not negative.
    """
    limit = max_line_bytes + 1 if max_line_bytes >= 0 else -1
    try:
        # Standard input gets a reader of its own: at exit Python closes `sys.stdin`, and aborts when a thread reads it.
        with os.fdopen(os.dup(sys.stdin.fileno()), "rb") if path == STDIN else path.open("rb") as file:
            for number, data in enumerate(iter(lambda: file.readline(limit), b""), start=1):
                if len(data) == limit:
                    raise InputError(f"{path}: line {number} is longer than {max_line_bytes:,} bytes")
                if data.strip():
                    yield number, data
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def parse_rows(
    lines: Iterable[tuple[int, bytes]], parse: Callable[[dict[str, Any], str], T], *, are_named: bool = True
) -> Iterator[tuple[str, T | InputError]]:
    """Yields of every line of JSON its place, for example "line 3", and its row, or why it is none.

    Args:
        lines: number and bytes of each.
        parse: makes a row of fields and place. Raises InputError.
        are_named: every row needs an id of its own: nothing could pair the results of two. That of one without
                an id is its place.
    """
    places: dict[str, str] = {}
    for number, line in lines:
        place = f"line {number}"
        try:
            fields = parse_object(decode(line))
            if fields.get("id", place) is None:
                del fields["id"]
            name = str(fields.get("id", place)) if are_named else place
            row = parse(fields, place)
        except InputError as error:
            yield place, error
            continue
        first = places.setdefault(name, place)
        yield place, row if first == place else InputError(f"id: the same as in {first}; every row needs its own")


def read_rows(path: Path, parse: Callable[[dict[str, Any], str], T], *, are_named: bool = True) -> list[T]:
    """Reads at most 20,000 rows. Raises InputError for none, or one that is wrong; file and line are named."""
    rows: list[T] = []
    for place, row in parse_rows(read_lines(path, max_line_bytes=MAX_LINE_BYTES), parse, are_named=are_named):
        with naming(f"{path}: {place}"):
            if isinstance(row, InputError):
                raise row
            if len(rows) >= MAX_ROWS:
                raise InputError(f"more than {MAX_ROWS:,} rows: split the file")
        rows.append(row)
    if not rows:
        raise InputError(f"{path} holds no rows")
    return rows


def text_of(fields: dict[str, Any], name: str) -> str:
    """Returns a text that must be there. Raises InputError."""
    value = fields.get(name)
    if not isinstance(value, str):
        found = type(value).__name__ if name in fields else "nothing"
        raise InputError(f"{name}: expected a text, got {found}")
    return value


def to_id(name: str) -> str:
    """Makes a file's name a text that can be written; on Linux it may be any bytes."""
    return os.fsencode(name).decode(errors="replace")


def decode(data: bytes) -> str:
    """Decodes UTF-8, with or without a byte order mark. Raises InputError."""
    if b"\0" in data:  # UTF-8 in name only: a program's data, or UTF-16 without its mark
        raise InputError(f"no text: a zero byte at {data.index(0)}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}") from error


def to_json_fields(response: Message) -> dict[str, Any]:
    """Gives a response as plain data: the proto's field names, and zeros written out."""
    return json_format.MessageToDict(
        response, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def to_json_line(fields: dict[str, Any]) -> str:
    """Gives plain data as one line of JSON."""
    return json.dumps(fields, ensure_ascii=False) + "\n"


@contextmanager
def result_file(path: Path | None) -> Iterator[TextIO | None]:
    """Opens the file for the results, or nothing for None.

    It is written beside its final name and moved there at the end, so an older result survives a failure. What was
    written before the failure, if anything, stays in FILE.partial. A device or a pipe is written to as it is.
    """
    if path is None:
        yield None
        return
    is_stream = path.exists() and not path.is_file()
    real = path if is_stream else path.resolve()  # a link stays one
    partial = real if is_stream else real.with_name(real.name + PARTIAL)
    try:
        with partial.open("w", encoding="utf-8") as file:
            yield file
        if path.suffix == PARQUET:
            write_parquet(partial, real)
            partial.unlink()
        elif not is_stream:
            partial.replace(real)
    except BrokenPipeError:
        raise  # stdout's, from the block: its reader has gone
    except OSError as error:
        raise CliError(f"cannot write {path}: {error.strerror}") from error
    finally:
        if partial.is_file() and not partial.stat().st_size:
            partial.unlink()


def write_result(path: Path | None, make: Callable[[], str]) -> None:
    """Writes what `make` returns; nothing for None. Raises CliError."""
    with result_file(path) as file:
        if file is not None:
            file.write(make())


async def feed(items: Iterator[T]) -> AsyncGenerator[T, None]:
    """Iterates `items` on threads, one item each, so that the loop goes on. An error of the iterator is raised here.

    The threads are daemons: a read from a terminal or pipe cannot be interrupted, and must not keep Ctrl+C waiting.
    """
    loop, end = asyncio.get_running_loop(), object()

    def read(into: asyncio.Future[Any]) -> None:
        try:
            found, settle = next(items, end), into.set_result
        except Exception as error:  # noqa: BLE001 - handed over whole
            found, settle = error, into.set_exception
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(lambda: into.done() or settle(found))

    try:
        while True:
            coming = loop.create_future()
            threading.Thread(target=read, args=(coming,), name="precis-line-feed", daemon=True).start()
            if (item := await coming) is end:
                return
            yield item
    finally:
        if isinstance(items, Generator):
            with suppress(ValueError):  # a thread still reads
                items.close()
