"""What `precis judge` reads: one pair of texts, a directory of pairs, or JSON Lines."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.rpc import code_pb2
from precis.v1 import common_pb2

from server.cli.errors import InputError
from server.cli.files import STDIN, decode, parse_object, read_lines, read_text

SOURCE_SUFFIX, SUMMARY_SUFFIX = ".source.txt", ".summary.txt"


@dataclass(frozen=True, slots=True)
class Item:
    """A summary with its source."""

    id: str
    source: str
    summary: str

    def sha256(self, *terms: str) -> str:
        """Hashes the item and the terms under which it is judged, in hexadecimal."""
        return hashlib.sha256(json.dumps([self.id, self.source, self.summary, *terms]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class BadItem:
    """Something in the place of an item that cannot be judged."""

    id: str
    error: common_pb2.ItemError


def read_summaries(source: Path, summaries: Sequence[Path]) -> list[Item]:
    """Reads a source and its summaries; one of them may come from standard input. Raises InputError."""
    if [source, *summaries].count(STDIN) > 1:
        raise InputError("only one of --source and --summary can be standard input")
    text = read_text(source)
    return [Item("stdin" if path == STDIN else to_id(path.name), text, read_text(path)) for path in summaries]


def read_items(path: Path) -> Iterator[Item | BadItem]:
    """Yields the items of a directory, by name, or of JSON Lines, in order. Raises InputError for an unusable path."""
    if path.is_dir():
        yield from read_directory(path)
        return
    for number, line in read_lines(path):
        place = f"line {number}"
        try:
            yield parse_item(line, place)
        except InputError as error:
            yield BadItem(place, refusal(error))


def read_directory(path: Path) -> Iterator[Item | BadItem]:
    """Yields the pairs of a directory; half a pair is a bad item."""
    names = list_names(path)
    if not names:
        raise InputError(f"{path} holds no NAME{SOURCE_SUFFIX} with its NAME{SUMMARY_SUFFIX}")
    for name in names:
        try:
            source, summary = (read_text(path / f"{name}{suffix}") for suffix in (SOURCE_SUFFIX, SUMMARY_SUFFIX))
        except InputError as error:
            yield BadItem(to_id(name), refusal(error))
        else:
            yield Item(to_id(name), source, summary)


def to_id(name: str) -> str:
    """Makes a file's name a text that can be written; on Linux it may be any bytes."""
    return os.fsencode(name).decode(errors="replace")


def list_names(path: Path) -> list[str]:
    """Lists the names that have a source or a summary, sorted. Raises InputError."""
    try:
        files = [entry.name for entry in path.iterdir()]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    suffixes = (SOURCE_SUFFIX, SUMMARY_SUFFIX)
    return sorted({file.removesuffix(suffix) for file in files for suffix in suffixes if file.endswith(suffix)})


def parse_item(line: bytes, place: str) -> Item:
    """Parses one line; fields besides id, source and summary are left alone. Raises InputError."""
    fields = parse_object(decode(line, place), place)
    fields["id"] = str(fields.get("id", place))
    return Item(*(text_of(fields, name, place) for name in ("id", "source", "summary")))


def text_of(fields: dict[str, Any], name: str, place: str) -> str:
    """Returns a text that must be there. Raises InputError."""
    value = fields.get(name)
    if not isinstance(value, str):
        found = type(value).__name__ if name in fields else "nothing"
        raise InputError(f"{place}: {name}: expected a text, got {found}")
    if any("\ud800" <= char <= "\udfff" for char in value):  # JSON can write half a character; nothing can send it
        raise InputError(f"{place}: {name}: not Unicode: a lone surrogate")
    return value


def refusal(error: InputError) -> common_pb2.ItemError:
    """Gives the error of an item that was never sent."""
    return common_pb2.ItemError(code=code_pb2.INVALID_ARGUMENT, message=str(error))
