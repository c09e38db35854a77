"""Rules of probing a finished model directory."""

from pathlib import Path

import onnx
import pytest

from inference.compile.errors import VerificationError
from inference.compile.graph import GraphBuilder
from inference.compile.probe import probe
from inference.errors import CorruptModelError
from inference.models.directory import load_model_directory
from tests.unit.inference.tiny_models import (
    NLI_FIELDS,
    write_directory,
    write_model_directory,
    write_tiny_embedder,
    write_tiny_nli,
)


def test_a_sound_model_passes_whatever_it_answers(tmp_path: Path) -> None:
    write_tiny_nli(tmp_path / "nli")
    write_tiny_embedder(tmp_path / "embedding")
    for role in ("nli", "embedding"):
        measured = probe(load_model_directory(tmp_path / role), must_agree=False)
        assert 0 <= measured["neighbour_delta"] <= 1e-4


def test_a_random_classifier_does_not_know_the_answers(tmp_path: Path) -> None:
    write_tiny_nli(tmp_path / "nli")
    with pytest.raises(VerificationError, match="check id2label"):
        probe(load_model_directory(tmp_path / "nli"))


def test_a_graph_that_lets_rows_meet_is_refused(tmp_path: Path) -> None:
    graph = GraphBuilder("meeting rows")
    ids = graph.node("Cast", graph.input("input_ids", ["batch", "length"]), to=onnx.TensorProto.FLOAT)
    graph.input("attention_mask", ["batch", "length"])
    own = graph.node("ReduceSum", ids, graph.ints(1))
    share = graph.node("Div", own, graph.node("ReduceSum", own, graph.ints(0, 1)))
    zero = graph.node("Sub", own, own)
    model = graph.build(graph.node("Concat", share, zero, zero, axis=1), "logits", ["batch", 3])
    write_directory(tmp_path / "nli", model, NLI_FIELDS)
    with pytest.raises(VerificationError, match="with its neighbours in the batch"):
        probe(load_model_directory(tmp_path / "nli"), must_agree=False)


def test_a_graph_that_is_none_is_a_corrupt_model(tmp_path: Path) -> None:
    write_model_directory(tmp_path / "nli")
    with pytest.raises(CorruptModelError):
        probe(load_model_directory(tmp_path / "nli"))
