"""What READMEs and pages show is run as it stands there, at the address of a test's server."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.outputs import differences, is_in
from server.app import App

ROOT = Path(__file__).resolve().parents[3]
FIRST_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "document", ["README.md", "protos/README.md", "docs/start/serve.md", "docs/start/summarize.md"]
)
async def test_the_first_program_of_a_document_works(app: App, document: str) -> None:
    ended = await run_first_program((ROOT / document).read_text(encoding="utf-8"), app.address)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout


@pytest.mark.models
@pytest.mark.timeout(600)
def test_the_pages_show_what_their_programs_print() -> None:
    assert differences() == {}


def test_another_number_word_or_line_is_a_difference() -> None:
    printed = "E   scores\n    a   0.125\n  ─────\n\n    b   2.5, of 3 items\n"
    assert is_in("a 0.12\nb 2.5, of 3", printed)
    assert not any(is_in(shown, printed) for shown in ("a 0.2", "c 0.125", "b 2.5\na 0.125", "b 2.5, of 4"))


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
