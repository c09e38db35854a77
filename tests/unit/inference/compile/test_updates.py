"""Rules of folding trained updates into an encoder, and of the file that holds a head."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from inference.compile.deberta import build_deberta_classifier
from inference.compile.errors import WeightsError
from inference.compile.install import NLI_HEAD_FILE
from inference.compile.updates import UpdatedEncoder, fold_updates
from scripts.head_training.head import load_linear_head
from tests.unit.inference.compile.graph_runner import GraphRunner, random_items
from tests.unit.inference.compile.random_weights import (
    DEBERTA,
    VOCABULARY,
    RandomUpdates,
    deberta_weights,
    random_updates,
)
from tests.unit.inference.compile.reference import deberta_first_token

ITEMS = random_items(8, longest=24, vocabulary=VOCABULARY)
WEIGHTS = deberta_weights()
UPDATES = random_updates(WEIGHTS, DEBERTA)


def _folded(path: Path) -> UpdatedEncoder:
    return fold_updates(UPDATES.write(path / "updates"), WEIGHTS, DEBERTA)


def _logits(states: NDArray[np.float64], updates: RandomUpdates, head: str) -> NDArray[np.float64]:
    return states @ updates.arrays[f"{head}.weight"].T.astype(np.float64) + updates.arrays[f"{head}.bias"]


def test_folded_weights_say_what_products_and_their_updates_say(tmp_path: Path) -> None:
    updated = _folded(tmp_path)
    found = GraphRunner(build_deberta_classifier(updated.weights, DEBERTA, (updated.label_head,))).run(ITEMS)
    beside = UPDATES.beside(WEIGHTS)
    expected = [_logits(deberta_first_token(beside, DEBERTA, ids), UPDATES, "label_head") for ids in ITEMS]
    np.testing.assert_allclose(found, expected, atol=5e-5)


def test_a_checkpoint_inside_another_module_is_updated_alike(tmp_path: Path) -> None:
    inside = {f"m.deberta.{name}": value for name, value in WEIGHTS.items()}
    folded = fold_updates(UPDATES.write(tmp_path / "updates"), inside, DEBERTA).weights
    assert folded.keys() == inside.keys()
    for name, value in _folded(tmp_path).weights.items():
        np.testing.assert_array_equal(folded[f"m.deberta.{name}"], value)


def test_folding_leaves_the_checkpoint_and_its_words_as_they_are(tmp_path: Path) -> None:
    before = {name: value.copy() for name, value in WEIGHTS.items()}
    words = "embeddings.word_embeddings.weight"
    assert _folded(tmp_path).weights[words] is WEIGHTS[words]
    for name, value in before.items():
        np.testing.assert_array_equal(WEIGHTS[name], value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"layers__1__widen__up": None}, r"has no layers\.1\.widen\.up"),
        ({"token_head__bias": None}, r"has no token_head\.bias"),
        ({"layers__3__key__bias": np.zeros(24, np.float16)}, r"layers\.3\.key\.bias belongs to no part"),
        ({"relative_norm__weight": np.ones(25, np.float16)}, r"relative_norm\.weight is float16\(25,\)"),
        ({"layers__0__query__down": np.zeros((3, 24), np.float16)}, r"layers\.0\.query\.up is float16\(24, 4\)"),
        ({"label_head__weight": np.zeros((2, 24), np.float16)}, r"label_head\.weight .* expected floats of \(3, 24\)"),
        ({"label_head__bias": np.full(3, np.nan, np.float16)}, r"label_head\.bias has values that are not finite"),
        ({"embedding_norm__bias": np.zeros(24, np.int8)}, r"embedding_norm\.bias is int8"),
    ],
)
def test_a_file_that_does_not_fit_the_encoder_is_refused(
    tmp_path: Path, change: dict[str, NDArray[np.float16] | None], problem: str
) -> None:
    with pytest.raises(WeightsError, match=problem):
        fold_updates(UPDATES.write(tmp_path / "updates", **change), WEIGHTS, DEBERTA)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no updates")
    for name in ("absent", "text"):
        with pytest.raises(WeightsError, match="holds no updates"):
            fold_updates(tmp_path / name, WEIGHTS, DEBERTA)


WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_a_file_that_is_no_head_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no head")
    save_file({"weight": WEIGHT}, tmp_path / "no-bias")
    save_file({"weight": WEIGHT, "bias": np.zeros(4, np.float32)}, tmp_path / "wrong-shape")
    for name in ("absent", "text", "no-bias", "wrong-shape"):
        with pytest.raises(WeightsError, match="is not a head"):
            load_linear_head(tmp_path / name)


def test_the_committed_head_fits_the_encoder() -> None:
    (layer,) = load_linear_head(NLI_HEAD_FILE)
    assert layer.weight.shape == (384, 3)
