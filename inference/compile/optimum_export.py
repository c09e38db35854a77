"""Exports a checkpoint with Optimum, for architectures without a writer here.

Needs the extra `export`; nothing else imports this module.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
from optimum.exporters.onnx import main_export

from inference.compile.checkpoint_files import CheckpointFiles
from inference.compile.errors import UnsupportedModelError
from inference.manifest import Task

_OPTIMUM_TASKS: dict[Task, str] = {"nli": "text-classification", "embedding": "feature-extraction"}


def export_with_optimum(files: CheckpointFiles, task: Task) -> onnx.ModelProto:
    """Returns Optimum's graph, as it comes: `logits`, or `last_hidden_state` that is not pooled yet.

    Raises:
        UnsupportedModelError: Optimum cannot export this architecture.
    """
    with TemporaryDirectory(prefix="precis-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing warns of every shape that Python code reads
        try:
            main_export(
                str(files.folder),
                output=folder,
                task=_OPTIMUM_TASKS[task],
                library_name="transformers",
                do_validation=False,  # the finished directory is compared with torch instead
            )
        except (ValueError, KeyError, NotImplementedError) as error:  # how Optimum says that it has no exporter
            raise UnsupportedModelError(f"Optimum cannot export {files.name}: {error}") from error
        return onnx.load(Path(folder) / "model.onnx")
