"""What READMEs and pages show is run as it stands there, at the address of a test's server."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from server.app import App
from server.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
FIRST_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FIRST_OUTPUT = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "document", ["README.md", "protos/README.md", "docs/start/serve.md", "docs/start/summarize.md"]
)
async def test_the_first_program_of_a_document_works(app: App, document: str) -> None:
    ended = await run_first_program((ROOT / document).read_text(encoding="utf-8"), app.address)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout


@pytest.mark.models
async def test_the_front_page_shows_what_its_program_prints(tiny_settings: dict[str, Any]) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = FIRST_OUTPUT.search(page)
    assert shown is not None
    async with App(Settings(**{**tiny_settings, "models_dir": ROOT / "models"})) as app:
        ended = await run_first_program(page, app.address)
    assert (ended.stdout, ended.stderr) == (shown.group(1), "")


async def run_first_program(page: str, address: str) -> subprocess.CompletedProcess[str]:
    """Runs the first Python of a page against a server at `address`."""
    found = FIRST_PYTHON.search(page)
    assert found is not None
    code = found.group(1)
    assert "127.0.0.1:50051" in code
    return await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-W", "error", "-c", code.replace("127.0.0.1:50051", address)],
        capture_output=True,
        text=True,
        check=False,
    )
