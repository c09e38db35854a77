"""The plug-ins of the client, as the examples use them, against the real packages.

A package may want other versions of what it shares with this project: name an interpreter that has it and the client,
as RAGAS_PYTHON. Where the package is missing its test is skipped.
"""

import ast
import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from precis import AsyncClient

from server.app import App
from tests.unit.inference.tiny_models import DIMENSION

ROOT = Path(__file__).resolve().parents[3]
Run = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]
SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."


QUIET = {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "RAGAS_DO_NOT_TRACK": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}
QUIET |= {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}


@pytest.fixture
def run(app: App, tmp_path: Path) -> Run:
    """Runs Python with the client, as a user has it, in a folder that may be written to."""
    environment = {**os.environ, **QUIET, "PYTHONPATH": str(ROOT / "protos"), "PRECIS_ADDRESS": app.address}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the plug-in is named
    environment |= {"PROMPTFOO_CONFIG_DIR": str(tmp_path), "PROMPTFOO_PYTHON": sys.executable}

    async def ended(*arguments: str | Path, program: str = sys.executable) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(
            subprocess.run,
            [program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            cwd=tmp_path,
        )

    return ended


WANTED = "import importlib.util, sys; sys.exit(importlib.util.find_spec('{}') is None)"


def python_with(package: str) -> str:
    """Returns an interpreter that has a package, or skips the test."""
    python = os.environ.get(f"{package.upper()}_PYTHON", sys.executable)
    found = subprocess.run([python, "-c", WANTED.format(package)], check=False)
    if found.returncode:
        pytest.skip(f"needs {package}: name an interpreter that has it with {package.upper()}_PYTHON")
    return python


EXAMPLES = [
    ("deepeval", "deepeval_metric.py"),
    ("ragas", "ragas_metric.py"),
    ("llama_index", "llama_index_check.py"),
    ("haystack", "haystack_check.py"),
    ("phoenix", "phoenix_evaluator.py"),
    ("inspect_ai", "inspect_ai_task.py"),
    pytest.param("mlflow", "mlflow_scorer.py", marks=[pytest.mark.mlflow, pytest.mark.timeout(300)]),  # starts slowly
]


@pytest.mark.parametrize(("package", "example"), EXAMPLES)
async def test_the_plug_in_scores_what_the_server_scores(app: App, run: Run, package: str, example: str) -> None:
    ended = await run(ROOT / "examples" / example, program=python_with(package))
    assert ended.returncode == 0, ended.stderr
    async with AsyncClient(app.address) as client:
        judgement = await client.judge(SOURCE, SUMMARY)
    assert float(ended.stdout.splitlines()[-1].split()[0]) == pytest.approx(judgement.hallucination / 10)


async def test_a_chain_stops_at_what_its_source_does_not_support(run: Run) -> None:
    ended = await run(ROOT / "examples" / "langchain_check.py", program=python_with("langchain_core"))
    assert ended.returncode == 0, ended.stderr
    dimension, outcome = ended.stdout.splitlines()
    assert dimension == f"{DIMENSION} numbers"
    assert outcome.startswith("stopped: faithfulness is ")
    assert "Repairs cost 42 million dollars." in outcome


CHECK = f"""
from precis.integrations.promptfoo import get_assert
variables = {{"text": {SOURCE!r}}}
for config in [{{"source_key": "text", "threshold": 0}}, {{}}]:
    print(get_assert({SUMMARY!r}, {{"vars": variables, "config": config}}))
"""


async def test_an_assertion_of_promptfoo_needs_a_source(run: Run) -> None:
    ended = await run("-c", CHECK)
    assert ended.returncode == 0, ended.stderr
    passed, failed = (ast.literal_eval(line) for line in ended.stdout.splitlines())
    assert passed["pass"]
    assert passed["reason"].startswith("Unsupported: ")
    assert "Repairs cost 42 million dollars." in passed["reason"]
    assert failed == {"pass": False, "score": 0, "reason": "expected the source in the variable 'source'"}


async def test_promptfoo_fails_an_answer_that_its_source_does_not_support(run: Run, tmp_path: Path) -> None:
    program = os.environ.get("PROMPTFOO", "promptfoo")
    if shutil.which(program) is None:
        pytest.skip("needs promptfoo: name the program with PROMPTFOO")
    written = tmp_path / "results.json"
    config = ROOT / "examples" / "promptfoo" / "promptfooconfig.yaml"
    await run("eval", "-c", config, "-o", written, "--no-cache", "--no-table", "--no-progress-bar", program=program)
    [result] = json.loads(written.read_text())["results"]["results"]
    assert not result["success"]
    assert result["gradingResult"]["reason"].startswith("Unsupported: ")


async def test_the_example_of_triton_prints_three_probabilities(run: Run) -> None:
    ended = await run(ROOT / "examples" / "tritonclient_nli.py", program=python_with("tritonclient"))
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("{'entailment': 0.")


@pytest.mark.parametrize(("minimum", "code", "part"), [(0, 0, "1 passed"), (10.5, 1, "of 10, expected 10.5")])
async def test_the_fixture_fails_a_test_whose_summary_is_not_faithful(
    run: Run, tmp_path: Path, minimum: float, code: int, part: str
) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(f"def test_it(assert_faithful):\n    assert_faithful({SOURCE!r}, {SUMMARY!r}, minimum={minimum})\n")
    ended = await run("-m", "pytest", "-q", "-p", "precis.integrations.pytest_plugin", "--rootdir", tmp_path, file)
    assert ended.returncode == code, ended.stderr
    assert part in ended.stdout
