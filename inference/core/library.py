"""Finds the compiled core and calls it.

The C code is built into a module beside this file, which holds no Python: `ctypes` calls its functions, and with that
releases the GIL. A machine without a compiler has no such module, and the graphs run in ONNX Runtime.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Float32 = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

_ALIGNMENT = 64
_EXTENSION = "inference.core._core"


class InstructionSet(IntEnum):
    """Instruction sets, as `core_level` in csrc/core.h. All give the same bits."""

    SCALAR = 0
    AVX2 = 1
    NEON = 2
    AVX512 = 3


class Status(IntEnum):
    """How a run ended, as `core_status` in csrc/core.h."""

    OK = 0
    BAD_FILE = 1
    BAD_BATCH = 2
    BAD_TOKEN = 3
    NO_ROOM = 4
    STOPPED = 5
    NO_LEVEL = 6


class CoreRunError(Exception):
    """A run did not end with results."""

    def __init__(self, status: Status) -> None:
        super().__init__(f"the compiled core returned {status.name}")
        self.status = status


@dataclass(frozen=True)
class CoreBatch:
    """Items one behind the other, without padding."""

    lengths: Int32  # tokens of each item
    ids: Int32  # of all tokens
    marked: Bytes | None = None  # of all tokens, 1 where the mark is wanted; None if the file has no marks


class _Batch(ctypes.Structure):
    _fields_ = (
        ("items", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("lengths", "ids", "marked", "results", "marks", "stop")),
    )


class CoreLibrary:
    """The functions of csrc/core.h."""

    def __init__(self, path: Path) -> None:
        self._functions: Any = ctypes.CDLL(str(path))
        size, pointer, count = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int32
        self._declare("level", ctypes.c_int)
        self._declare("check", ctypes.c_int, pointer, size)
        self._declare("workspace", size, pointer, size, count, count)
        self._declare("columns", count, pointer, size)
        self._declare("run", ctypes.c_int, pointer, size, ctypes.c_int, pointer, pointer, size)

    @property
    def level(self) -> InstructionSet:
        """The fastest instruction set of this machine."""
        return InstructionSet(self._functions.precis_core_level())

    def check(self, file: Bytes) -> Status:
        """Whether a packed file is whole."""
        return Status(self._functions.precis_core_check(file.ctypes.data, file.nbytes))

    def columns(self, file: Bytes) -> int:
        """Numbers of one result."""
        return int(self._functions.precis_core_columns(file.ctypes.data, file.nbytes))

    def workspace(self, file: Bytes, tokens: int) -> Bytes:
        """Makes room for runs of at most so many tokens, in any number of items."""
        size = int(self._functions.precis_core_workspace(file.ctypes.data, file.nbytes, tokens, tokens))
        return aligned_bytes(size)

    def run(
        self,
        file: Bytes,
        batch: CoreBatch,
        *,
        workspace: Bytes,
        instruction_set: InstructionSet,
        stop: Int32 | None = None,
    ) -> tuple[Float32, Float32 | None]:
        """Computes a batch without the GIL.

        Returns:
            One row for each item; and a number for each token, 0 where no mark is wanted.

        Raises:
            CoreRunError: with the status.
        """
        results = np.empty((batch.lengths.size, self.columns(file)), np.float32)
        marks = None if batch.marked is None else np.empty(batch.ids.size, np.float32)
        arrays = (batch.lengths, batch.ids, batch.marked, results, marks, stop)
        addresses = [None if array is None else array.ctypes.data for array in arrays]
        if int(batch.lengths.sum()) != batch.ids.size or not all(a is None or a.flags.c_contiguous for a in arrays):
            raise CoreRunError(Status.BAD_BATCH)
        given = _Batch(batch.lengths.size, *addresses)
        status = self._functions.precis_core_run(
            file.ctypes.data, file.nbytes, instruction_set, ctypes.byref(given), workspace.ctypes.data, workspace.nbytes
        )
        if status != Status.OK:
            raise CoreRunError(Status(status))
        return results, marks

    def _declare(self, name: str, result: object, *arguments: object) -> None:
        function = getattr(self._functions, f"precis_core_{name}")
        function.restype, function.argtypes = result, list(arguments)


def aligned_bytes(size: int) -> Bytes:
    """Makes room that begins at a multiple of 64 bytes."""
    room = np.empty(size + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    return room[start : start + size]


@cache
def load_library() -> CoreLibrary | None:
    """Returns the compiled core, or None where it was not built."""
    spec = find_spec(_EXTENSION)
    return CoreLibrary(Path(spec.origin)) if spec is not None and spec.origin else None
