"""Computes one batch, and finds the item at fault when that fails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inference.backend import Backend, Float32
from inference.batch import Batch, ComputeModel
from inference.encoded import Encoded
from inference.errors import PoisonedItemError
from inference.padding import pad_rows

_PROBE_TOKENS = 8


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
    batch.values = np.full((len(rows), model.dimension), np.nan, np.float32)
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


def compute(rows: Sequence[Encoded], model: ComputeModel, backend: Backend) -> Float32:
    """One forward pass. Returns shape (len(rows), dimension), finite."""
    values = model.finish(backend.run(pad_rows(rows, model.inputs, model.pad_token_id)))
    if values.shape != (len(rows), model.dimension):
        raise _WrongOutputError(f"shape {values.shape} for {len(rows)} rows of {model.dimension}")
    if not np.isfinite(values).all():
        raise _WrongOutputError("not finite")
    return values


def probe(model: ComputeModel, backend: Backend) -> None:
    """Runs a small input that has nothing to do with any call.

    Raises:
        BackendDiedError: the backend is no longer usable.
    """
    ids = np.full(_PROBE_TOKENS, model.pad_token_id, np.int32).tobytes()
    try:
        compute([Encoded(ids, _PROBE_TOKENS, is_truncated=False, key=ids)], model, backend)
    except Exception as error:
        raise BackendDiedError(f"{model.name}: {error}") from error
