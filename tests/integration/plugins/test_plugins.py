"""The plug-ins of the client, as the examples use them, against the real packages.

A package may want other versions of what it shares with this project: name an interpreter that has it and the client,
as DEEPEVAL_PYTHON. Where the package is missing its test is skipped.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from precis import AsyncClient

from server.app import App

ROOT = Path(__file__).resolve().parents[3]
SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."


async def run(app: App, *arguments: str | Path, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Runs Python with the client, as a user has it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "protos"), "PRECIS_ADDRESS": app.address}
    environment |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # the plug-in is named
    return await asyncio.to_thread(
        subprocess.run,
        [python, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


def python_with(package: str) -> str:
    """Returns an interpreter that has a package, or skips the test."""
    python = os.environ.get(f"{package.upper()}_PYTHON", sys.executable)
    found = subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"needs {package}: name an interpreter that has it with {package.upper()}_PYTHON")
    return python


EXAMPLES = {
    "deepeval": "deepeval_metric.py",
}


@pytest.mark.parametrize("package", EXAMPLES)
async def test_the_plug_in_scores_what_the_server_scores(app: App, package: str) -> None:
    ended = await run(app, ROOT / "examples" / EXAMPLES[package], python=python_with(package))
    assert ended.returncode == 0, ended.stderr
    async with AsyncClient(app.address) as client:
        judgement = await client.judge(SOURCE, SUMMARY)
    assert float(ended.stdout.splitlines()[-1].split()[0]) == pytest.approx(judgement.hallucination / 10)


@pytest.mark.parametrize(("minimum", "code", "part"), [(0, 0, "1 passed"), (10.5, 1, "of 10, expected 10.5")])
async def test_the_fixture_fails_a_test_whose_summary_is_not_faithful(
    app: App, tmp_path: Path, minimum: float, code: int, part: str
) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(f"def test_it(assert_faithful):\n    assert_faithful({SOURCE!r}, {SUMMARY!r}, minimum={minimum})\n")
    ended = await run(app, "-m", "pytest", "-q", "-p", "precis.integrations.pytest_plugin", "--rootdir", tmp_path, file)
    assert ended.returncode == code, ended.stderr
    assert part in ended.stdout
