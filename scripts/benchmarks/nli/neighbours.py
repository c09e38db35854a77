"""Does the score of a pair depend on what shares its batch?"""

import random
from collections.abc import Iterator, Sequence

import numpy as np
from tokenizers import Encoding

from scripts.benchmarks.shared.plans import ONE_BY_ONE
from scripts.benchmarks.shared.raw_model import Float32, RawModel

MAX_COMPANY = 16
SEED = 5


def scores_alone(model: RawModel, encodings: Sequence[Encoding]) -> Float32:
    """Scores every pair in a batch of its own; shape (pairs, labels), in the columns of the graph."""
    return probabilities(model.run_all(model.feeds(encodings, ONE_BY_ONE)))


def max_neighbour_delta(model: RawModel, encodings: Sequence[Encoding], alone: Float32, passes: int) -> float:
    """Scores every pair in random company of random size; returns the largest change of a probability."""
    chooser = random.Random(SEED)
    largest = 0.0
    for _ in range(passes):
        order = chooser.sample(range(len(encodings)), len(encodings))
        batches = list(_cut(order, chooser))
        feeds = [model.feed([encodings[index] for index in batch]) for batch in batches]
        largest = max(largest, float(np.abs(probabilities(model.run_all(feeds)) - alone[order]).max()))
    return largest


def _cut(order: list[int], chooser: random.Random) -> Iterator[list[int]]:
    first = 0
    while first < len(order):
        size = chooser.randint(2, MAX_COMPANY)
        yield order[first : first + size]
        first += size


def probabilities(logits: Float32) -> Float32:
    """Softmax over the last axis; shape (rows, labels), float32."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float32)
