"""What `precis judge` reads, one pair of texts, a directory of pairs, or JSON Lines; and how it is sent."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from precis.calls import JUDGE, Call, rpc_path
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.bulk import BadItem, Items, read_json_lines
from server.cli.connection import CommandClient
from server.cli.documents.read import document_name, read_document_text
from server.cli.errors import InputError
from server.cli.files import STDIN, read_text, to_id
from server.cli.judge.calibration import AppliedCalibration
from server.cli.judge.floors import FrameworkChoice, JudgeOptions
from server.cli.results import Answer, Work, category_field

SOURCE_SUFFIX, SUMMARY_SUFFIX = ".source.txt", ".summary.txt"


@dataclass(frozen=True, slots=True)
class Item:
    """A summary with its source; `category` is the caller's, and goes into the results."""

    id: str
    source: str
    summary: str
    category: str = ""

    def sha256(self, *terms: str) -> str:
        """Hashes the item and the terms under which it is judged, in hexadecimal."""
        return hashlib.sha256(json.dumps([self.id, self.source, self.summary, *terms]).encode()).hexdigest()


JudgeAnswer = Answer[Item, pb.JudgeResult]


def read_summaries(source: Path, summaries: Sequence[Path]) -> list[Item]:
    """Reads a source and its summaries; one of them may come from standard input. Raises InputError."""
    if [source, *summaries].count(STDIN) > 1:
        raise InputError("only one of --source and --summary can be standard input")
    text = read_document_text(source)
    return [Item(document_name(path), text, read_document_text(path)) for path in summaries]


def read_items(path: Path) -> Items[Item]:
    """Reads the items of a directory, by name, or of JSON Lines, in order. Raises InputError for an unusable path.

    Half a pair of a directory is a bad item.
    """
    if not path.is_dir():
        return read_json_lines(path, to_item)
    try:
        files = [entry.name for entry in path.iterdir()]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    suffixes = (SOURCE_SUFFIX, SUMMARY_SUFFIX)
    names = sorted({file.removesuffix(suffix) for file in files for suffix in suffixes if file.endswith(suffix)})
    if not names:
        raise InputError(f"{path} holds no NAME{SOURCE_SUFFIX} with its NAME{SUMMARY_SUFFIX}")

    def read_pair(name: str) -> Item | BadItem:
        try:
            return Item(to_id(name), *(read_text(path / f"{name}{suffix}") for suffix in suffixes))
        except InputError as error:
            return BadItem(to_id(name), error.message)

    return Items(map(read_pair, names), len(names))


def to_item(fields: dict[str, Any], place: str) -> Item:
    """Takes an item out of plain data; fields that it does not have are left alone. Raises InputError."""
    category = fields.get("category")
    named = {**fields, "id": str(fields.get("id", place)), "category": category if isinstance(category, str) else ""}
    return Item(*(text_of(named, name) for name in ("id", "source", "summary", "category")))


def text_of(fields: dict[str, Any], name: str) -> str:
    """Returns a text that must be there. Raises InputError."""
    value = fields.get(name)
    if not isinstance(value, str):
        found = type(value).__name__ if name in fields else "nothing"
        raise InputError(f"{name}: expected a text, got {found}")
    if any("\ud800" <= char <= "\udfff" for char in value):  # JSON can write half a character; nothing can send it
        raise InputError(f"{name}: not Unicode: a lone surrogate")
    return value


def to_work(
    options: JudgeOptions, priority: common_pb2.Priority.ValueType, applied: AppliedCalibration | None = None
) -> Work[Item, pb.JudgeResult]:
    """Describes how items are judged, by the framework of a calibration too; what is not set is left to the server."""
    frameworks = options.frameworks
    if applied is not None:
        asked = {*frameworks, applied.calibration.framework}
        frameworks = tuple(choice for choice in FrameworkChoice if choice in asked)
    common = pb.JudgeRequest(
        frameworks=[pb.JudgeFramework.Value(f"JUDGE_FRAMEWORK_{choice.name}") for choice in frameworks],
        options=pb.JudgeOptions(use_language_model=options.use_language_model, max_claims=options.max_claims),
        priority=priority,
        view=common_pb2.RESULT_VIEW_FULL,  # for --output, --report and what the tables show
    )

    async def send(client: CommandClient, item: Item) -> pb.JudgeResult:
        request = pb.JudgeRequest(source=item.source, summary=item.summary)
        request.MergeFrom(common)
        call = Call(rpc_path(JUDGE, "Judge"), request, pb.JudgeResponse.FromString)
        return (await client.send(call)).result

    def more_fields(item: Item, result: pb.JudgeResult) -> dict[str, Any]:
        calibrated = {"calibrated": applied.verdict_of(result).to_fields()} if applied else {}
        return category_field(item, result) | calibrated

    decisive = (*frameworks, str(options.use_language_model), str(options.max_claims))
    return Work("judging", "result", pb.JudgeResult, send, decisive, more_fields)
