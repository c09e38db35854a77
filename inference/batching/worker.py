"""Computes batches: pads the token ids to a rectangle, runs the model, hands the rows back.

When a batch fails, the item at fault is looked for, so that its neighbours are answered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inference.backend import Backend, Float32, Int64
from inference.batching.batch import Batch, ComputeModel
from inference.batching.in_flight import Encoded
from inference.errors import PoisonedItemError


class BackendDiedError(Exception):
    """The backend fails on input that is known to be good. Ends the worker, which is then started again."""


class _WrongOutputError(Exception):
    """The graph gave rows that are not finite, or not one for each row of input."""


def execute(batch: Batch, model: ComputeModel, backend: Backend) -> None:
    """Fills in the batch's values and failures.

    When the batch fails, its items are tried one by one and only those that fail alone do fail.

    Raises:
        BackendDiedError: every item failed and so did the probe: the items are not to blame.
    """
    rows = [entry.encoded for entry in batch.entries]
    try:
        batch.values = compute(rows, model, backend)
    except Exception as error:  # noqa: BLE001  (whatever the backend raises, only the item at fault may fail)
        _isolate(batch, model, backend, error)


def _isolate(batch: Batch, model: ComputeModel, backend: Backend, cause: Exception) -> None:
    rows = [entry.encoded for entry in batch.entries]
    batch.values = [np.full(model.dimension, np.nan, np.float32)] * len(rows)
    for index, row in enumerate(rows):
        try:
            if len(rows) == 1:
                raise cause  # noqa: TRY301  (it was alone already)
            batch.values[index] = compute([row], model, backend)[0]
        except Exception as error:  # noqa: BLE001  (the same)
            failure = PoisonedItemError()
            failure.__cause__ = error
            batch.failures[index] = failure
    if len(batch.failures) == len(rows):
        probe(model, backend)


def compute(rows: Sequence[Encoded], model: ComputeModel, backend: Backend) -> list[Float32]:
    """One forward pass.

    Returns:
        One row for each item, finite: `dimension` numbers, and behind them, if the graph marks tokens, a number for
        each token of type 1. Nothing of the padding, so that a row is the same in any company.
    """
    inputs = pad_rows(rows, model.inputs, model.pad_token_id)
    values = model.finish(backend.run(inputs))
    length = inputs["input_ids"].shape[1]
    if values.shape not in {(len(rows), model.dimension), (len(rows), model.dimension + length)}:
        raise _WrongOutputError(f"shape {values.shape} for {len(rows)} rows of {model.dimension}")
    if not np.isfinite(values).all():
        raise _WrongOutputError("not finite")
    if values.shape[1] == model.dimension:
        return list(values)
    labels, marks = values[:, : model.dimension], values[:, model.dimension :]
    return [np.append(labels[at], marks[at, row.first_length : row.length]) for at, row in enumerate(rows)]


def probe(model: ComputeModel, backend: Backend) -> None:
    """Runs a small input that has nothing to do with any call.

    Raises:
        BackendDiedError: the backend is no longer usable.
    """
    tokens = 8
    ids = np.full(tokens, model.pad_token_id, np.int32).tobytes()
    try:
        compute([Encoded(ids, tokens, is_truncated=False, key=ids)], model, backend)
    except Exception as error:
        raise BackendDiedError(f"{model.name}: {error}") from error


def pad_rows(rows: Sequence[Encoded], inputs: Sequence[str], pad_token_id: int) -> dict[str, Int64]:
    """Builds a graph's inputs.

    Args:
        inputs: which of input_ids, attention_mask and token_type_ids the graph has.
        pad_token_id: fills the end of the shorter rows.

    Returns:
        int64 arrays of shape (len(rows), longest row) by input name. The mask is 1 on tokens and 0 on padding;
        types are 0 on the first text and on padding, 1 on the second text.
    """
    longest = max(row.length for row in rows)
    shape = (len(rows), longest)
    if all(row.length == longest for row in rows):
        joined = b"".join([row.ids for row in rows])
        mask = np.ones(shape, np.int64)
    else:
        padding = np.int32(pad_token_id).tobytes() * longest
        joined = b"".join([row.ids + padding[len(row.ids) :] for row in rows])
        lengths = np.array([[row.length] for row in rows])
        mask = (np.arange(longest) < lengths).astype(np.int64)
    arrays = {"input_ids": np.frombuffer(joined, np.int32).reshape(shape).astype(np.int64), "attention_mask": mask}
    if "token_type_ids" in inputs:
        firsts = np.array([[row.first_length] for row in rows])
        arrays["token_type_ids"] = (np.arange(longest) >= firsts).astype(np.int64) * mask
    return arrays
