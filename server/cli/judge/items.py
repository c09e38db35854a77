"""What `precis judge` reads, a source with its summaries or JSON Lines; and how it is sent."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from precis.calls import JUDGE, Call, rpc_path
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.commands.judge import FrameworkChoice, JudgeOptions
from server.cli.connection import CommandClient
from server.cli.documents.read import document_name, read_document_text
from server.cli.errors import InputError
from server.cli.files import STDIN
from server.cli.judge.calibration import AppliedCalibration
from server.cli.results import Answer, Work, category_field


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
        options=pb.JudgeOptions(use_language_model=options.use_language_model),
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

    decisive = (*frameworks, str(options.use_language_model))
    return Work("judging", "result", pb.JudgeResult, send, decisive, more_fields)
