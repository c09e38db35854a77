"""The real small language model behind a real llama.cpp server, `scripts/local_llm`, for tests marked `llm`."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODEL = "SmolLM2-135M-Instruct.Q4_1"


@contextmanager
def served_model(context_tokens: int) -> Iterator[str]:
    """Runs the server and yields its address; it ends when it is asked to. The first use may fetch the model."""
    command = (sys.executable, "-m", "scripts.local_llm_server", "--context-tokens", str(context_tokens))
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
            assert server.wait() == 0
