"""Rules of training the NLI head."""

import json
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from inference.compile.head import load_linear_head
from scripts.head_training.calibration import accuracy, expected_calibration_error, fit_temperature, log_softmax
from scripts.head_training.examples import TRAINING_WEIGHTS, read_training_examples
from scripts.head_training.fit import fit_linear_head, held_out_logits


def _write_pool(path: Path, sources: list[str]) -> None:
    labels = cycle(("contradiction", "entailment", "neutral"))
    rows = [
        {"premise": "p", "hypothesis": "h", "label": label, "source": source}
        for source, label in zip(sources, labels, strict=False)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _blobs(count: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping clusters on scales that differ a thousandfold."""
    random = np.random.default_rng(0)
    labels = np.arange(count) % 3
    states = random.normal(size=(count, 4)) + 2 * np.eye(3, 4)[labels]
    return (states * [1, 1000, 0.001, 1] + [5, 0, 0, 0]).astype(np.float32), labels


def test_only_parts_whose_licence_allows_it_are_trained_on(tmp_path: Path) -> None:
    forbidden = ["litl_base_train", "joci_train", "sick_train", "help_conj_disj"]
    _write_pool(tmp_path / "pool.jsonl", [*TRAINING_WEIGHTS, *forbidden])
    examples = read_training_examples(tmp_path / "pool.jsonl")
    assert set(examples.sources) == set(TRAINING_WEIGHTS)
    assert examples.labels.tolist() == [(2, 0, 1)[at % 3] for at in range(len(TRAINING_WEIGHTS))]  # the head's columns
    assert not set(TRAINING_WEIGHTS) & set(forbidden)


def test_a_pool_that_lacks_a_part_is_refused(tmp_path: Path) -> None:
    _write_pool(tmp_path / "pool.jsonl", ["mnli_train_20k"])
    with pytest.raises(ValueError, match="snli_train_small"):
        read_training_examples(tmp_path / "pool.jsonl")


def test_calibration_groups_weigh_the_same(tmp_path: Path) -> None:
    _write_pool(tmp_path / "pool.jsonl", [*TRAINING_WEIGHTS, "mnli_train_20k", "mnli_train_20k"])
    examples = read_training_examples(tmp_path / "pool.jsonl")
    weights = dict(zip(examples.sources, examples.calibration_weights(), strict=True))
    assert weights["mnli_train_20k"] == pytest.approx(1 / 3)
    assert weights["snli_train_small"] == 1
    assert weights["cad_revised_premise_train"] == weights["cad_revised_hypothesis_train"] == 0.5
    assert weights["cad_original_train"] == 0


def test_the_head_reads_states_as_they_come_whatever_their_scale() -> None:
    states, labels = _blobs()
    head = fit_linear_head(states, labels, np.ones(len(labels)), regularization=1e-3)
    assert accuracy(head.logits(states), labels) > 0.8
    weight, bias = head.weight.astype(np.float32), head.bias.astype(np.float32)  # as it is saved
    assert np.abs(states @ weight + bias - head.logits(states)).max() < 1e-3


def test_the_fit_is_the_minimum_of_its_loss() -> None:
    states, labels = _blobs(300)
    weights = np.linspace(0.5, 1.5, len(labels))
    head = fit_linear_head(states, labels, weights, regularization=1e-2)
    deviation = states.astype(np.float64).std(axis=0)[:, np.newaxis]

    def loss(weight: np.ndarray, bias: np.ndarray) -> float:
        chosen = log_softmax(states.astype(np.float64) @ weight + bias)[np.arange(len(labels)), labels]
        return float(-(weights @ chosen) / weights.sum() + 1e-2 * ((weight * deviation) ** 2).sum())

    best = loss(head.weight, head.bias)
    random = np.random.default_rng(1)
    for _ in range(50):
        nudge = 1e-3 * random.normal(size=head.weight.shape) / deviation
        assert loss(head.weight + nudge, head.bias) > best
        assert loss(head.weight, head.bias + 1e-3 * np.eye(3)[random.integers(3)]) > best


def test_the_same_examples_give_the_same_bytes_which_come_back_as_they_went_in(tmp_path: Path) -> None:
    states, labels = _blobs()
    head, again = (fit_linear_head(states, labels, np.ones(len(labels)), regularization=1e-3) for _ in range(2))
    head.save(tmp_path / "first")
    again.save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    (layer,) = load_linear_head(tmp_path / "first")
    assert np.array_equal(layer.weight, head.weight.astype(np.float32))
    assert np.array_equal(layer.bias, head.bias.astype(np.float32))
    assert layer.activation == "identity"


def test_examples_of_two_labels_make_no_head() -> None:
    states, labels = _blobs(30)
    with pytest.raises(ValueError, match="all three"):
        fit_linear_head(states, np.minimum(labels, 1), np.ones(30), regularization=1e-3)


def test_held_out_logits_are_no_better_than_those_of_a_head_that_saw_all() -> None:
    states, labels = _blobs(60)
    weights = np.ones(len(labels))
    seen = fit_linear_head(states, labels, weights, regularization=1e-6).logits(states)
    held_out = held_out_logits(states, labels, weights, regularization=1e-6)
    assert np.isfinite(held_out).all()
    assert accuracy(held_out, labels) < accuracy(seen, labels)


def test_temperature_undoes_overconfidence() -> None:
    random = np.random.default_rng(0)
    honest = random.normal(size=(20_000, 3)) * 2
    chances = np.exp(honest) / np.exp(honest).sum(axis=1, keepdims=True)
    labels = (random.random((20_000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    overconfident = 1.7 * honest
    temperature = fit_temperature(overconfident, labels, np.ones(len(labels)))
    assert temperature == pytest.approx(1.7, rel=0.03)
    assert expected_calibration_error(honest, labels) < 0.015
    assert expected_calibration_error(overconfident, labels) > 0.05
