import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from inference.models.session import OrtBackend
from tests.unit.inference.tiny_models import write_tiny_embedder

INPUTS = {"input_ids": np.array([[2, 5, 3]], np.int64), "attention_mask": np.ones((1, 3), np.int64)}


def test_a_session_adds_no_threads_of_its_own_and_an_interrupted_run_ends_with_an_error(tmp_path: Path) -> None:
    write_tiny_embedder(tmp_path / "m")
    backend = OrtBackend(tmp_path / "m" / "model.onnx", "cpu")
    tasks = Path("/proc/self/task")
    before = len(list(tasks.iterdir()))
    backend.run(INPUTS)
    assert len(list(tasks.iterdir())) == before
    backend.interrupt()
    with pytest.raises(Exception, match=r"[Tt]erminat"):
        backend.run(INPUTS)


def test_onnx_runtime_leaves_no_telemetry_behind(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    root = Path(__file__).parents[4]
    subprocess.run([sys.executable, "-c", "import inference.models.session"], env=environment, cwd=root, check=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
