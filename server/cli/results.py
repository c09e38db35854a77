"""The results of many items as JSON Lines: written as they come, and read again to go on after an interruption.

A line is {"id", "item_sha256", NAME} or {"id", "item_sha256", "error"}. The hash is of the item and of the terms on
which it was sent, so that --resume keeps what has not changed and sends the rest again.
"""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message
from precis.v1 import common_pb2

from server.cli.connection import CommandClient
from server.cli.errors import CliError, InputError
from server.cli.files import partial_of, to_json_fields, to_json_line
from server.cli.options import RunOptions
from server.cli.parquet import PARQUET, write_lines


class NamedItem(Protocol):
    """What is sent to the server, with a name of the caller's choice."""

    @property
    def id(self) -> str:
        """Names it."""

    @property
    def category(self) -> str:
        """The caller's word for its kind; empty for none."""

    def sha256(self, *terms: str) -> str:
        """Hashes it, and the terms on which it is sent, in hexadecimal."""


I = TypeVar("I", bound=NamedItem)  # noqa: E741 - an item
R = TypeVar("R", bound=Message)


def category_field(item: NamedItem, _result: Message) -> dict[str, Any]:
    """Repeats the category of an item that has one."""
    return {"category": item.category} if item.category else {}


@dataclass(frozen=True, slots=True)
class Work(Generic[I, R]):
    """What a command does with its items.

    Attributes:
        verb: for the progress, for example "judging".
        name: of a result in its line.
        result_type: the message of a result.
        send: gets the result of one item. Raises PrecisError.
        terms: what decides the result beside the item.
        more_fields: gives further fields of a result's line; asked again for one that is kept. Raises CliError.
    """

    verb: str
    name: str
    result_type: type[R]
    send: Callable[[CommandClient, I], Awaitable[R]]
    terms: tuple[str, ...] = ()
    more_fields: Callable[[I, R], dict[str, Any]] = category_field

    def fields(self, item: I, result: R) -> dict[str, Any]:
        """Gives a result, and what stands beside it, as plain data."""
        return {self.name: to_json_fields(result), **self.more_fields(item, result)}


@dataclass(frozen=True)
class Answer(Generic[I, R]):
    """What became of one item.

    Attributes:
        id: the item's.
        item: None for one that could not be read.
        result: None for one that failed.
        error: why it failed.
        line: its line in the results.
        is_kept: it comes from an earlier run.
    """

    id: str
    item: I | None
    result: R | None
    error: common_pb2.ItemError | None
    line: str
    is_kept: bool = False


def to_answer(
    work: Work[I, R], item_id: str, item: I | None, sha256: str, outcome: R | common_pb2.ItemError
) -> Answer[I, R]:
    """Builds the answer to an item from its result or its error."""
    error, result = (outcome, None) if isinstance(outcome, common_pb2.ItemError) else (None, outcome)
    answer = work.fields(item, result) if item and result is not None else {"error": to_json_fields(outcome)}
    line = to_json_line({"id": item_id, "item_sha256": sha256, **answer})
    return Answer(item_id, item, result, error, line)


@dataclass
class EarlierResults(Generic[I, R]):
    """The results of an earlier run, found by the hash of their item. Failed items are not among them."""

    work: Work[I, R]
    file: BinaryIO | None = None
    offsets: dict[str, list[int]] = field(default_factory=dict)

    def take(self, item: I, sha256: str) -> Answer[I, R] | None:
        """Returns the answer to an item, once for each time that it was worked on."""
        offsets = self.offsets.get(sha256)
        if self.file is None or not offsets:
            return None
        self.file.seek(offsets.pop(0))
        fields = json.loads(self.file.readline())
        kept = {name: fields[name] for name in ("id", "item_sha256", self.work.name)}
        result = json_format.ParseDict(kept[self.work.name], self.work.result_type(), ignore_unknown_fields=True)
        line = to_json_line({**kept, **self.work.more_fields(item, result)})
        return Answer(item.id, item, result, None, line, is_kept=True)


@contextmanager
def earlier_results(options: RunOptions, work: Work[I, R]) -> Iterator[EarlierResults[I, R]]:
    """Opens what an interrupted run left, or else the results of one that ended; nothing without --resume.

    What an interrupted run left is put into FILE.earlier, because FILE.partial is about to be written anew, and stays
    there until a run has ended.

    Raises:
        InputError: a file is there but does not hold results.
    """
    output = options.output
    if output is None:
        yield EarlierResults(work)
        return
    earlier = output.with_name(output.name + ".earlier")
    try:
        if options.resume:
            if output.suffix == PARQUET and output.exists() and not earlier.exists():
                write_lines(output, earlier)
            set_aside(partial_of(output), earlier)
            path = earlier if earlier.exists() else output
            with path.open("rb") if path.exists() else nullcontext() as file:
                yield EarlierResults(work, file, index_lines(file, path, work.name) if file else {})
        else:
            yield EarlierResults(work)
        earlier.unlink(missing_ok=True)
    except BrokenPipeError:
        raise  # stdout's, from the block: its reader has gone
    except OSError as error:
        raise CliError(f"cannot go on with {output}: {error.strerror}") from error


def set_aside(partial: Path, earlier: Path) -> None:
    """Adds the complete lines of an interrupted run to those of the runs before it."""
    if not partial.exists():
        return
    with partial.open("rb") as left, earlier.open("ab") as kept:
        for line in left:
            if line.endswith(b"\n"):  # else the run ended while it was written
                kept.write(line)
    partial.unlink()


def index_lines(file: BinaryIO, path: Path, name: str) -> dict[str, list[int]]:
    """Finds where the line of each result begins. Raises InputError."""
    offsets: dict[str, list[int]] = {}
    start = 0
    for number, line in enumerate(file, start=1):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            fields = None
        is_named = isinstance(fields, dict) and isinstance(fields.get("item_sha256"), str)
        if not is_named or not (name in fields or "error" in fields):
            raise InputError(
                f"{path}: line {number} is no result of this command; to do all items again, leave out --resume"
            )
        if name in fields:
            offsets.setdefault(fields["item_sha256"], []).append(start)
        start += len(line)
    return offsets
