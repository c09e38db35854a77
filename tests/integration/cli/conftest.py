"""A scripted judge, and commands that run while a test looks on."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.integration.cli.scripted_judge import ScriptedJudge, scripted_judge
from tests.integration.support.programs import ROOT


@pytest.fixture
async def judge() -> AsyncIterator[ScriptedJudge]:
    async with scripted_judge() as servicer:
        yield servicer


class Running:
    """A command that has been started."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.process, self.out, self.err = process, process.stdout, process.stderr


async def started(*arguments: object, stdin: int = asyncio.subprocess.DEVNULL, **variables: str) -> Running:
    """Starts the program `precis` and leaves it running."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRECIS_")}
    piped: dict[str, Any] = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE, "stdin": stdin}
    command = (sys.executable, "-m", "precis", *map(str, arguments))
    return Running(await asyncio.create_subprocess_exec(*command, env=environment | variables, cwd=ROOT, **piped))
