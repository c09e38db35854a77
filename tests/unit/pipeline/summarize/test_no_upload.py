"""No document leaves the process because of a variable in a server's environment."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import pipeline.summarize.graph.graph
from langsmith.utils import tracing_is_enabled
print(tracing_is_enabled())
"""


@pytest.mark.parametrize("name", ["LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2"])
def test_tracing_to_a_hosted_service_stays_off(name: str) -> None:
    environment = os.environ | {name: "true"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "False\n"
