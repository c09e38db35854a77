"""Pruned mode: of each hypothesis' premises, only those that the embedder finds closest are scored."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from pipeline.evaluate.comparison import Comparison
from pipeline.evaluate.embeddings import Embeddings


def compared_texts(comparisons: Iterable[Comparison]) -> dict[str, None]:
    """Returns what must be embedded to prune: hypotheses and premises, in order, as keys."""
    texts: dict[str, None] = {}
    seen: set[int] = set()
    for comparison in comparisons:
        texts[comparison.hypothesis.text] = None
        if id(comparison.premises) not in seen:
            seen.add(id(comparison.premises))
            texts.update(dict.fromkeys(premise.text for premise in comparison.premises))
    return texts


def prune(comparisons: Sequence[Comparison], embeddings: Embeddings, top_k: int) -> tuple[Comparison, ...]:
    """Keeps, for each hypothesis, the `top_k` premises with the highest cosine; the first ones on a tie."""
    return tuple(
        replace(comparison, chosen=_closest(comparison, embeddings, top_k))
        if len(comparison.premises) > top_k
        else comparison
        for comparison in comparisons
    )


def _closest(comparison: Comparison, embeddings: Embeddings, top_k: int) -> list[int]:
    premises = [premise.text for premise in comparison.premises]
    cosines = embeddings.cosines([comparison.hypothesis.text], premises)[0]
    ranked = np.argsort(-cosines, kind="stable")[:top_k]
    return sorted(int(index) for index in ranked)  # in text order, so that "the first one on a tie" means the same
