"""What a server answers, without what differs from run to run, and the file that keeps it."""

import base64
import gzip
import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline.rule_identity import rules_of
from tests.golden.case import Case

FILE = Path(__file__).parent / "answers.jsonl.gz"
_CPU_FLAGS = re.compile(r"(?:avx2|fma|avx512\w*|avx_\w+|amx_\w+|asimd\w*|sve\w*|i8mm|bf16)")


@dataclass(frozen=True, slots=True)
class Answer:
    """All that came back for one request."""

    responses: tuple[bytes, ...]  # wire bytes, deterministic
    code: str = "OK"  # name of the status code
    message: str = ""  # of the status
    details: bytes = b""  # wire bytes of google.rpc.Status, empty without one


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request and its answer."""

    case: Case
    answer: Answer


def arithmetic() -> dict[str, Any]:
    """Describes what decides over the last bits of a float: instructions of the CPU and versions of libraries."""
    cpuinfo = Path("/proc/cpuinfo")
    words = set(cpuinfo.read_text(encoding="utf-8").split()) if cpuinfo.exists() else set()
    flags = sorted(word for word in words if _CPU_FLAGS.fullmatch(word))
    versions = {name: version(name) for name in ("onnxruntime", "numpy")}
    return {"machine": platform.machine(), "flags": flags, **versions}


def write_answers(recorded: Sequence[Recorded]) -> None:
    """Writes the file, the same for the same answers and rules."""
    lines = [{"arithmetic": arithmetic(), "rules": rules_of()}, *(_to_line(one) for one in recorded)]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    FILE.write_bytes(gzip.compress(data, 9, mtime=0))


def read_answers() -> tuple[Mapping[str, Any], tuple[Recorded, ...]]:
    """Returns on what and by which rules the answers were recorded, and the answers."""
    header, *lines = [json.loads(line) for line in gzip.decompress(FILE.read_bytes()).splitlines()]
    return header, tuple(_from_line(line) for line in lines)


def _to_line(recorded: Recorded) -> dict[str, Any]:
    case, answer = recorded.case, recorded.answer
    return {
        "name": case.name,
        "server": case.server,
        "rpc": case.rpc,
        "requests": [_encoded(one) for one in case.requests],
        "follows": case.follows,
        "is_unordered": case.is_unordered,
        "responses": [_encoded(one) for one in answer.responses],
        "code": answer.code,
        "message": answer.message,
        "details": _encoded(answer.details),
    }


def _from_line(line: Mapping[str, Any]) -> Recorded:
    requests = tuple(base64.b64decode(one) for one in line["requests"])
    case = Case(line["name"], line["server"], line["rpc"], requests, line["follows"], line["is_unordered"])
    responses = tuple(base64.b64decode(one) for one in line["responses"])
    return Recorded(case, Answer(responses, line["code"], line["message"], base64.b64decode(line["details"])))


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
