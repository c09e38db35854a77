"""Encoded items from plain lists of token ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inference.batching.in_flight import Encoded


def encoded(items: Sequence[Sequence[int]]) -> list[Encoded]:
    """Wraps token ids as the tokenizer would."""
    return [Encoded(np.array(ids, np.int32).tobytes(), len(ids), is_truncated=False, key=bytes(ids)) for ids in items]
