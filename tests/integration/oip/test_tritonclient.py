"""Triton's own client, unchanged, against a running server."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.app import App
from tests.unit.inference.tiny_models import DIMENSION

PYTHON = os.environ.get("TRITONCLIENT_PYTHON", sys.executable)
"""An interpreter that has tritonclient, which may want other versions of what it shares with this project."""

CHECKS = Path(__file__).parent / "triton_checks.py"


def has_tritonclient() -> bool:
    return subprocess.run([PYTHON, "-c", "import tritonclient.grpc"], capture_output=True, check=False).returncode == 0


@pytest.mark.triton
async def test_every_check_with_the_client_of_triton_passes(app: App) -> None:
    if not has_tritonclient():
        pytest.skip("needs tritonclient: name an interpreter that has it with TRITONCLIENT_PYTHON")
    process = await asyncio.create_subprocess_exec(
        *(PYTHON, CHECKS, app.address, str(DIMENSION)), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    outcome = json.loads(output)
    assert outcome["failed"] == []
    assert outcome["passed"] >= 50
