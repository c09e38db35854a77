"""Runs compiled graphs on lists of token ids, padded to whatever length a test wants."""

from collections.abc import Sequence

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray

PADDING_ID = 13  # any id will do: padding must not matter


class GraphRunner:
    """An ONNX Runtime session of a model in memory."""

    def __init__(self, model: onnx.ModelProto) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def run(
        self, items: Sequence[Sequence[int]], *, length: int | None = None, token_types: Sequence[int] | None = None
    ) -> NDArray[np.float32]:
        """Runs one batch, padded to `length` or to its longest item."""
        width = length or max(len(ids) for ids in items)
        feed = {
            "input_ids": np.full((len(items), width), PADDING_ID, np.int64),
            "attention_mask": np.zeros((len(items), width), np.int64),
        }
        for row, ids in enumerate(items):
            feed["input_ids"][row, : len(ids)] = ids
            feed["attention_mask"][row, : len(ids)] = 1
        if token_types is not None:
            feed["token_type_ids"] = np.array([token_types], np.int64)
        (result,) = self._session.run(None, feed)
        return np.asarray(result, dtype=np.float32)

    def run_alone(self, items: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Runs every item in a batch of its own."""
        return np.concatenate([self.run([ids]) for ids in items])


def neighbour_delta(runner: GraphRunner, items: Sequence[Sequence[int]]) -> float:
    """Returns how far an output moves when its item is computed in random company instead of alone."""
    alone, random, largest = runner.run_alone(items), np.random.default_rng(0), 0.0
    for _ in range(3):
        order = random.permutation(len(items))
        for start in range(0, len(items), 8):
            chosen = order[start : start + 8]
            together = runner.run([items[index] for index in chosen])
            largest = max(largest, float(np.abs(together - alone[chosen]).max()))
    return largest


def random_items(count: int, *, longest: int, vocabulary: int) -> list[list[int]]:
    """Makes `count` lists of token ids with lengths from 1 to `longest`."""
    random = np.random.default_rng(3)
    lengths = random.integers(1, longest + 1, size=count)
    return [random.integers(0, vocabulary, size=length).tolist() for length in lengths]
