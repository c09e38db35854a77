"""Folds constants and removes what does nothing, with ONNX Runtime's own basic optimizations."""

from __future__ import annotations

import tempfile
from pathlib import Path

import onnx

from inference.compile.errors import CompileError
from inference.native import ort


def fold_constants(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns an equivalent graph with shape arithmetic on constants, identities and dead branches gone.

    The basic level rewrites within standard ONNX, so the result runs on any machine; the higher levels, which may
    pick layouts for this one, are left to the session that serves the graph.

    Raises:
        CompileError: ONNX Runtime refuses the graph.
    """
    with tempfile.TemporaryDirectory(prefix="precis-") as folder:
        folded = Path(folder) / "folded.onnx"
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(folded)
        options.log_severity_level = 3
        try:
            ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library raises a dozen types without a common base
            raise CompileError(f"ONNX Runtime refuses the graph: {str(error).splitlines()[0]}") from error
        return onnx.load(folded)
