"""A graph is the same to the last bit, in whatever order the processor that compiles it adds."""

from __future__ import annotations

import os
import subprocess
import sys

_COMPILE = """
from dataclasses import replace
from hashlib import sha256
import numpy as np
from inference.compile.config import DEBERTA_V3_XSMALL
from inference.compile.deberta import build_deberta_classifier
from inference.compile.head import DenseLayer
from tests.unit.inference.compile.random_weights import deberta_weights
config = replace(DEBERTA_V3_XSMALL, layer_count=2)
head = DenseLayer(np.ones((config.hidden_size, 3), np.float32), np.zeros(3, np.float32))
print(sha256(build_deberta_classifier(deberta_weights(config), config, (head,)).SerializeToString()).hexdigest())
"""


def _compiled(**environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", _COMPILE], env=os.environ | environment, check=True, capture_output=True, text=True
    ).stdout


def test_processors_of_two_kinds_compile_the_same_graph() -> None:
    assert _compiled() == _compiled(OPENBLAS_CORETYPE="Prescott"), "sums of two kernels of OpenBLAS"
