"""A request walks through no more doors between files than it did (`python -m scripts.walk --lower`)."""

import json
import subprocess
import sys

import pytest

from scripts.walk import BUDGETS, ROOT

JITTER = 2  # doors that are walked through or not, by what runs at the time


@pytest.mark.models
@pytest.mark.timeout(400)
def test_no_request_walks_through_more_doors() -> None:
    """In a process of its own: it watches every call."""
    command = [sys.executable, "-m", "scripts.walk"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    doors = {line[:24].strip(): int(line.split()[-2]) for line in run.stdout.splitlines()}
    budgets = json.loads(BUDGETS.read_text("utf-8"))
    assert doors.keys() == budgets.keys()
    assert {name: count for name, count in doors.items() if count > budgets[name] + JITTER} == {}
