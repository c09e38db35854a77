"""The results of a bulk run as JSON Lines: written as they come, and read again to go on after an interruption.

A line is {"id", "item_sha256", "result"} or {"id", "item_sha256", "error"}. The hash is of id, texts and terms, so that
a changed item is judged again.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from google.protobuf import json_format
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.errors import CliError, InputError
from server.cli.judge_items import Item
from server.cli.result_file import partial_of, to_json_fields, to_json_line


@dataclass(frozen=True, slots=True)
class Answer:
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
    item: Item | None
    result: pb.JudgeResult | None
    error: common_pb2.ItemError | None
    line: str
    is_kept: bool = False


def to_answer(item_id: str, item: Item | None, sha256: str, outcome: pb.JudgeResult | common_pb2.ItemError) -> Answer:
    """Builds the answer to an item from its judgement or its error."""
    error, result = (outcome, None) if isinstance(outcome, common_pb2.ItemError) else (None, outcome)
    fields = {"id": item_id, "item_sha256": sha256, "error" if error else "result": to_json_fields(outcome)}
    return Answer(item_id, item, result, error, to_json_line(fields))


@dataclass
class EarlierResults:
    """The judgements of an earlier run, found by the hash of their item. Failed items are not among them."""

    file: BinaryIO | None = None
    offsets: dict[str, list[int]] = field(default_factory=dict)

    def take(self, item: Item, sha256: str) -> Answer | None:
        """Returns the judgement of an item, once for each time that it was judged."""
        offsets = self.offsets.get(sha256)
        if self.file is None or not offsets:
            return None
        self.file.seek(offsets.pop(0))
        line = self.file.readline().decode()
        result = json_format.ParseDict(json.loads(line)["result"], pb.JudgeResult(), ignore_unknown_fields=True)
        return Answer(item.id, item, result, None, line, is_kept=True)


@contextmanager
def earlier_results(output: Path | None, *, resume: bool) -> Iterator[EarlierResults]:
    """Opens what an interrupted run left, or else the results of one that ended; nothing without `resume`.

    What an interrupted run left is put into FILE.earlier, because FILE.partial is about to be written anew, and stays
    there until a run has ended.

    Raises:
        InputError: a file is there but does not hold results.
    """
    if output is None:
        yield EarlierResults()
        return
    earlier = output.with_name(output.name + ".earlier")
    try:
        if resume:
            set_aside(partial_of(output), earlier)
            path = earlier if earlier.exists() else output
            with path.open("rb") if path.exists() else nullcontext() as file:
                yield EarlierResults(file, index_lines(file, path) if file else {})
        else:
            yield EarlierResults()
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


def index_lines(file: BinaryIO, path: Path) -> dict[str, list[int]]:
    """Finds where the judgement of each item begins."""
    offsets: dict[str, list[int]] = {}
    start = 0
    for number, line in enumerate(file, start=1):
        fields = parse_result_line(line, f"{path}: line {number}")
        if "result" in fields:
            offsets.setdefault(fields["item_sha256"], []).append(start)
        start += len(line)
    return offsets


def parse_result_line(line: bytes, place: str) -> dict[str, Any]:
    """Reads a line of results. Raises InputError."""
    try:
        fields = json.loads(line)
        if isinstance(fields["item_sha256"], str) and ("result" in fields or "error" in fields):
            return dict(fields)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InputError(f"{place} is no result of precis judge; to judge all items again, leave out --resume")
