"""Results that were computed before, bounded by memory."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import numpy.typing as npt


class ResultCache:
    """Least-recently-used rows by token ids, of one model: a model's hash is part of the key by having its own.

    Lives on the event loop's thread alone. Failures are never put in.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._rows: OrderedDict[bytes, npt.NDArray[np.float32]] = OrderedDict()
        self.byte_count = 0

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: bytes) -> npt.NDArray[np.float32] | None:
        """The row of `key`, which must not be written to, or None."""
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row

    def put(self, key: bytes, row: npt.NDArray[np.float32]) -> None:
        """Keeps a copy of `row`, and drops the rows used longest ago to make room for it."""
        size = _size(key, row)
        if size > self._max_bytes or key in self._rows:
            return
        self.byte_count += size
        while self.byte_count > self._max_bytes:
            self.byte_count -= _size(*self._rows.popitem(last=False))
        self._rows[key] = row.copy()  # a view would keep the whole batch's array alive


def _size(key: bytes, row: npt.NDArray[np.float32]) -> int:
    return len(key) + row.nbytes + 350  # bytes object, array object and linked dict slot: 40 + 112 + ~200
