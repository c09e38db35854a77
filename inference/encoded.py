"""A tokenized item, as it waits in the queue and as the cache knows it."""

from __future__ import annotations


class Encoded:
    """Token ids of one text or pair. Written once; a slots class because there is one for each item."""

    __slots__ = ("first_length", "ids", "is_truncated", "key", "length")

    def __init__(self, ids: bytes, first_length: int, *, is_truncated: bool, key: bytes) -> None:
        self.ids = ids  # int32, native order, special tokens included
        self.length = len(ids) // 4
        self.first_length = first_length  # tokens of type 0; the rest is of type 1
        self.is_truncated = is_truncated
        self.key = key  # equal exactly when the model is fed the same
