"""Rules of the file that holds a head."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from inference.compile.errors import WeightsError
from inference.compile.head import load_linear_head
from inference.compile.install import NLI_HEAD_FILE

WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_a_file_that_is_no_head_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no head")
    save_file({"weight": WEIGHT}, tmp_path / "no-bias")
    save_file({"weight": WEIGHT, "bias": np.zeros(4, np.float32)}, tmp_path / "wrong-shape")
    for name in ("absent", "text", "no-bias", "wrong-shape"):
        with pytest.raises(WeightsError, match="is not a head"):
            load_linear_head(tmp_path / name)


def test_the_committed_head_fits_the_encoder_and_its_record_meets_the_goal() -> None:
    (layer,) = load_linear_head(NLI_HEAD_FILE)
    assert layer.weight.shape == (384, 3)
    measured = json.loads(NLI_HEAD_FILE.with_suffix(".json").read_text())["measured"]
    assert measured["snli_dev"]["accuracy"] >= 0.895
    assert measured["mnli_matched_dev"]["accuracy"] >= 0.855
