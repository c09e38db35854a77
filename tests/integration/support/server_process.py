"""A server in a process of its own, with its output as lines to wait for."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class ServerProcess:
    """A running process. Standard error is collected as it comes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.errors: list[str] = []
        self._more = asyncio.Event()
        self._reader = asyncio.ensure_future(self._read_errors())

    async def line(self) -> str:
        """Returns the next line of standard output; an empty string at its end."""
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode().strip()

    async def command(self, word: str) -> None:
        """Sends a command and waits until it is carried out."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n".encode())
        assert await self.line() == word

    async def logged(self, part: str) -> str:
        """Waits for a line of standard error that holds `part`."""
        while True:
            for line in self.errors:
                if part in line:
                    return line
            assert not self._reader.done(), f"no {part!r} in {self.errors}"
            self._more.clear()
            await self._more.wait()

    async def ended(self) -> int:
        """Waits for the end of the process and returns its exit code."""
        code = await self.process.wait()
        await self._reader
        return code

    async def _read_errors(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.errors.append(line.decode().rstrip("\n"))
            self._more.set()
        self._more.set()


@asynccontextmanager
async def gated_server(models: Path, *arguments: str, **settings: str | Path) -> AsyncIterator[ServerProcess]:
    """Starts the server of `gated_server.py` on a free port; its grace is as long as a test may take."""
    own = {"LISTEN__PORT": "0", "LISTEN__GRACE_S": "3600", "METRICS__ENABLED": "false"}
    quick = {"INFERENCE__RUNTIME__WARMUP_S": "0.05", "INFERENCE__RUNTIME__WORKERS": "1"}
    all_settings = {"MODELS_DIR": models, **own, **quick, **settings}
    async with server_process("tests.integration.support.gated_server", *arguments, **all_settings) as server:
        yield server


@asynccontextmanager
async def server_process(*arguments: str, **settings: str | Path) -> AsyncIterator[ServerProcess]:
    """Starts `python -m ARGUMENTS` with settings in the environment; kills it if the test leaves it running."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRECIS_")}
    summaries = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    environment["PRECIS_SUMMARY_STORAGE__DIRECTORY"] = summaries.name
    environment |= {f"PRECIS_{name}": str(value) for name, value in settings.items()}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=ROOT,
    )
    server = ServerProcess(process)
    try:
        yield server
    finally:
        if process.returncode is None:
            process.kill()
        await server.ended()
        if process.stdin is not None:
            process.stdin.close()
        summaries.cleanup()
