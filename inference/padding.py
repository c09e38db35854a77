"""Puts token ids of several lengths into one rectangle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inference.backend import Int64
from inference.encoded import Encoded


def pad_rows(rows: Sequence[Encoded], inputs: Sequence[str], pad_token_id: int) -> dict[str, Int64]:
    """Builds a graph's inputs.

    Args:
        rows: one or more items.
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
    arrays = {
        "input_ids": np.frombuffer(joined, np.int32).reshape(shape).astype(np.int64),
        "attention_mask": mask,
    }
    if "token_type_ids" in inputs:
        firsts = np.array([[row.first_length] for row in rows])
        arrays["token_type_ids"] = (np.arange(longest) >= firsts).astype(np.int64) * mask
    return arrays
