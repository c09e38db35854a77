"""Results as JSON, on stdout or in a file that is never half written."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from google.protobuf import json_format
from google.protobuf.message import Message

from server.cli.errors import CliError


def to_json_fields(response: Message) -> dict[str, Any]:
    """Gives a response as plain data: the proto's field names, and zeros written out."""
    return json_format.MessageToDict(
        response, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def to_json_document(fields: dict[str, Any]) -> str:
    """Gives plain data as indented JSON."""
    return json.dumps(fields, ensure_ascii=False, indent=2) + "\n"


def to_json_line(fields: dict[str, Any]) -> str:
    """Gives plain data as one line of JSON."""
    return json.dumps(fields, ensure_ascii=False) + "\n"


@contextmanager
def result_file(path: Path | None) -> Iterator[TextIO | None]:
    """Opens the file for the results, or nothing for None.

    It is written beside its final name and moved there at the end, so an older result survives a failure. What was
    written before the failure, if anything, stays in FILE.partial.
    """
    if path is None:
        yield None
        return
    partial = partial_of(path)
    try:
        with partial.open("w", encoding="utf-8") as file:
            yield file
        partial.replace(path)
    except BrokenPipeError:
        raise  # stdout's, from the block: its reader has gone
    except OSError as error:
        raise CliError(f"cannot write {path}: {error.strerror}") from error
    finally:
        if partial.is_file() and not partial.stat().st_size:
            partial.unlink()


def partial_of(path: Path) -> Path:
    """Names the file in which results are until they are complete."""
    return path.with_name(path.name + ".partial")
