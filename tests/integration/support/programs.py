"""Runs the program `precis` as a user does: in a process of its own, with its output piped."""

import asyncio
import json
import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from precis.v1 import evaluate_pb2 as pb

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Ended:
    """A process that has ended."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line on standard error. Fails when there is a traceback or more than one line."""
        [line] = self.err.splitlines()
        return line


async def precis(*arguments: object, stdin: bytes | None = None, **variables: str) -> Ended:
    """Runs one command until it ends."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRECIS_")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", "-m", "server.cli", *map(str, arguments)),
        stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment | variables,
        cwd=ROOT,
    )
    out, err = await process.communicate(stdin)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


def fields_of(request: pb.EvaluateRequest) -> dict[str, Any]:
    """Gives a request as the JSON that a file holds."""
    fields: dict[str, Any] = json_format.MessageToDict(request, preserving_proto_field_name=True)
    return fields


def written(path: Path, fields: object) -> Path:
    """Writes a file of JSON."""
    path.write_text(json.dumps(fields), encoding="utf-8")
    return path


def unused_port() -> int:
    """Finds a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
