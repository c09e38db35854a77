"""Rules of training the NLI head."""

import json
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from scripts.head_training.calibration import expected_calibration_error, fit_temperature, log_softmax
from scripts.head_training.examples import TRAINING_WEIGHTS, read_training_examples
from scripts.head_training.fit import fit_linear_head


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
