"""Describes the packed weights of the compiled core: one file, that `csrc/model.c` reads as it is.

A header of 128 bytes, then sections that each begin at a multiple of 64 bytes, in the order of `core_map` there.
"""

from __future__ import annotations

from math import isqrt
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

CORE_FILE = "core.bin"  # in a model directory
MAGIC = b"PRECISCO"
FILE_VERSION = 3
ALIGNMENT = 64
COLUMNS = 64  # of a weight matrix that lie together
LANES = 16

Rows = Literal["rows8", "mixed", "rows15"]
RowBits = tuple[int, int, int, int]
ROW_BITS: dict[Rows, RowBits] = {"rows8": (8, 8, 8, 8), "mixed": (8, 8, 15, 8), "rows15": (15, 15, 15, 15)}
"""Bits of the rows that go into the products of a layer: projections, attention's output, inner, outer."""
ARITHMETIC = 2  # the number of ARITHMETIC.md
# By the manifest's word for the arithmetic.
ROWS: dict[str, Rows] = {f"core-{ARITHMETIC} {rows}": rows for rows in ROW_BITS}

BERT, DEBERTA = 0, 1
IDENTITY, GELU, RELU = 0, 1, 2
MEAN, FIRST, LOGITS = 0, 1, 2
CONTENT_TO_POSITION, POSITION_TO_CONTENT = 1, 2

# As `core_header` in csrc/core.h.
_INTEGERS = (
    *("version", "kind", "layers", "hidden", "heads", "inner", "vocab", "positions", "word_bytes"),
    *("word_zero", "relations", "activation", "output", "head_layers"),
)
HEADER = np.dtype(
    [
        ("magic", "S8"),
        *((name, "<i4") for name in _INTEGERS),
        ("head_width", "<i4", 2),
        ("head_activation", "<i4", 2),
        ("has_marks", "<i4"),
        ("bits", "<i4", 4),
        ("word_scale", "<f4"),
        ("epsilon", "<f4"),
        ("reserved", "<i4", 5),
    ]
)


def score_limit(head_size: int) -> int:
    """Returns the largest integer of attention: its square, `head_size` times, fits 31 bits."""
    return isqrt((2**31 - 1) // head_size)


def file_version(path: Path) -> int:
    """Returns the version of a packed file; 0 if it is none."""
    headers = np.fromfile(path, HEADER, count=1)
    return int(headers[0]["version"]) if headers.size else 0


def read_header(data: npt.NDArray[np.uint8]) -> np.void:
    """Returns the header's fields by name; the file is at least as long."""
    header: np.void = data[: HEADER.itemsize].view(HEADER)[0]
    return header
