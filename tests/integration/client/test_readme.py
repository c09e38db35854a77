"""What READMEs and pages show is run as it stands there, at the address of a test's server."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from server.app import App

ROOT = Path(__file__).resolve().parents[3]
FIRST_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "document", ["README.md", "protos/README.md", "docs/start/serve.md", "docs/start/summarize.md"]
)
async def test_the_first_program_of_a_document_works(app: App, document: str) -> None:
    found = FIRST_PYTHON.search((ROOT / document).read_text(encoding="utf-8"))
    assert found is not None
    code = found.group(1)
    assert "127.0.0.1:50051" in code
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-W", "error", "-c", code.replace("127.0.0.1:50051", app.address)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout
