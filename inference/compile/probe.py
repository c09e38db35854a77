"""Runs a finished model directory as the server will, and refuses one that answers wrongly.

A swapped label column, a broken tokenizer or a graph whose rows depend on their neighbours would pass every check of
file contents. These few texts show it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from inference.backend import Backend, Float32
from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows
from inference.compile.errors import VerificationError
from inference.front_doors import Item
from inference.models.directory import ModelDirectory
from inference.models.manifest import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI_LABELS
from inference.models.model import output_of
from inference.models.session import OrtBackend, check_arithmetic
from inference.tokens.tokenization import TextEncoder

MAX_NEIGHBOUR_DELTA = 1e-4  # how far a score may move with the company it is computed in
_MAX_NORM_ERROR = 1e-3

_PREMISE = "The board approved the merger on Tuesday after two hours of debate."
# Pairs and texts whose right answer nobody disputes.
PROBE_PAIRS = {
    (_PREMISE, "The merger was approved."): ENTAILMENT,
    (_PREMISE, "The chairman had opposed the merger for years."): NEUTRAL,
    (_PREMISE, "The board rejected the merger."): CONTRADICTION,
}
PROBE_TEXTS = (
    "The cat sleeps on the sofa.",
    "A cat is asleep on a couch in the living room, as it is every afternoon.",
    "Interest rates rose by half a point.",
)
LONG_PROBE_TEXT = " ".join([*PROBE_TEXTS, _PREMISE] * 6)  # about 250 words: far and near positions differ


def probe(directory: ModelDirectory, *, must_agree: bool = True) -> dict[str, float]:
    """Runs a model on a few texts, alone and together; `neighbour_delta` is the largest change of a score between them.

    With `must_agree` the answers themselves must be right; a model with random weights has none.

    Raises:
        CorruptModelError: graph or tokenizer cannot be loaded.
        InexactArithmeticError: this CPU cannot compute it.
        VerificationError: a wrong answer, one that is not finite, or one that depends on its neighbours.
    """
    run = ProbeRunner(directory)
    is_nli = directory.manifest.task == "nli"
    answers = run.answers(tuple(PROBE_PAIRS) if is_nli else PROBE_TEXTS)
    if not np.isfinite(answers).all():
        raise VerificationError(f"{directory.manifest.name}: the model returns values that are not finite")
    if run.neighbour_delta > MAX_NEIGHBOUR_DELTA:
        raise VerificationError(
            f"{directory.manifest.name}: a score moves by {run.neighbour_delta:.1e} with its neighbours in the batch, "
            f"more than {MAX_NEIGHBOUR_DELTA:.0e}; graphs that quantize activations do so, compile in fp32"
        )
    if must_agree:
        check = _check_labels if is_nli else _check_similarities
        check(directory, answers)
    return {"neighbour_delta": run.neighbour_delta}


class ProbeRunner:
    """Tokenizer and session of one directory. Runs every item alone and in company and notes the difference."""

    def __init__(self, directory: ModelDirectory, backend: Backend | None = None) -> None:
        """Takes another backend than the graph's session, if given."""
        check_arithmetic(directory)
        self.neighbour_delta = 0.0
        self._manifest = manifest = directory.manifest
        encoder = TextEncoder(directory.tokenizer_path, max_tokens=manifest.max_tokens)
        self._encode: Callable[[Sequence[Any]], list[Encoded]] = (
            encoder.encode_pairs if manifest.task == "nli" else encoder.encode_texts
        )
        self._dimension, self.finish = output_of(manifest)
        self._backend = backend or OrtBackend(directory.model_path, "cpu")

    def fitting(self, items: Sequence[Item]) -> list[Item]:
        """Returns the texts or pairs that the model reads whole."""
        return [item for item, row in zip(items, self._encode(items), strict=True) if not row.is_truncated]

    def answers(self, items: Sequence[str] | Sequence[tuple[str, str]]) -> Float32:
        """Returns probabilities (pairs, 3), or embeddings (texts, dimension)."""
        rows = self._encode(items)
        together, alone = self._run(rows), [self._run([row])[0] for row in rows]
        # Alone there are no columns for the padding's marks.
        changes = [np.abs(together[at, : len(row)] - row).max() for at, row in enumerate(alone)]
        self.neighbour_delta = float(np.max(changes))
        return together[:, : self._dimension]

    def _run(self, rows: Sequence[Encoded]) -> Float32:
        return self.finish(self._backend.run(pad_rows(rows, self._manifest.inputs, self._manifest.pad_token_id)))


def _check_labels(directory: ModelDirectory, answers: Float32) -> None:
    for (pair, expected), row in zip(PROBE_PAIRS.items(), answers, strict=True):
        found = NLI_LABELS[int(row.argmax())]
        if found != expected:
            raise VerificationError(
                f"{directory.manifest.name}: {pair[1]!r} after {pair[0]!r} should be {expected}, "
                f"the model says {found} ({row.max():.2f}); check id2label"
            )


def _check_similarities(directory: ModelDirectory, answers: Float32) -> None:
    norms = np.linalg.norm(answers, axis=1)
    if directory.manifest.normalized and np.abs(norms - 1).max() > _MAX_NORM_ERROR:
        raise VerificationError(f"{directory.manifest.name}: embeddings should have norm 1, found {norms.tolist()}")
    similar, other = float(answers[0] @ answers[1]), float(answers[0] @ answers[2])
    if similar <= other:
        raise VerificationError(
            f"{directory.manifest.name}: two texts that say the same have similarity {similar:.2f}, "
            f"unrelated ones {other:.2f}"
        )
