"""What commands read: UTF-8 texts, JSON objects and lines, from files or standard input."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from server.cli.errors import InputError

STDIN = Path("-")


def parse_object(text: str, place: str) -> dict[str, Any]:
    """Parses a JSON object. Raises InputError."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{place}: not JSON: {error}") from error
    except RecursionError as error:
        raise InputError(f"{place}: nested too deeply") from error
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected a JSON object, got {type(value).__name__}")
    return value


def read_text(path: Path) -> str:
    """Reads a whole UTF-8 file, or standard input for "-". Raises InputError."""
    try:
        data = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    return decode(data, str(path))


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields number, from 1, and bytes of every line that is not blank; never holds the whole file.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with open_bytes(path) as file:
            for number, data in enumerate(file, start=1):
                if data.strip():
                    yield number, data
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def open_bytes(path: Path) -> BinaryIO:
    """Opens a file, or standard input for "-".

    Standard input gets a reader of its own: at exit Python closes `sys.stdin`, and aborts when a thread still reads it.
    """
    return os.fdopen(os.dup(sys.stdin.fileno()), "rb") if path == STDIN else path.open("rb")


def decode(data: bytes, place: str) -> str:
    """Decodes UTF-8, with or without a byte order mark. Raises InputError."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: not UTF-8 at byte {error.start}") from error
