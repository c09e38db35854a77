"""Whether this CPU sums products of bytes exactly, found out by one product and not guessed from a CPU's name.

A CPU without VNNI adds pairs of u8 x s8 products in 16 bits, which saturate: 2 x 255 x 127 becomes 32,767. There
ONNX Runtime can be told to multiply u8 x u8, which is exact and slow: the sums are those of VNNI, to the last bit.
Told so on a CPU with VNNI it is slow as well (2.5 times).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from inference.errors import InexactArithmeticError
from inference.models.directory import ModelDirectory
from inference.models.native import ort

# A model as `onnx` writes it: y = MatMulInteger(a, b), a of shape (m, 4), uint8, b of shape (4, 16), int8, full of 127.
_PRODUCT = (
    b'\x08\t:\x96\x01\n\x18\n\x01a\n\x01b\x12\x01y"\rMatMulInteger\x12\x01g*K\x08\x04\x08\x10\x10\x03B\x01bJ@'
    + b"\x7f" * 64
    + b"Z\x14\n\x01a\x12\x0f\n\r\x08\x02\x12\t\n\x03\x12\x01m\n\x02\x08\x04b\x14\n\x01y\x12\x0f\n\r\x08\x06\x12\t\n\x03"
    b"\x12\x01m\n\x02\x08\x10B\x04\n\x00\x10\x14"
)


@cache
def is_int8_fast() -> bool:
    """Whether sums are exact without wider products: the CPU has VNNI, or the like of it."""
    return is_sum_exact(ort.SessionOptions())


def widen_int8(options: ort.SessionOptions) -> None:
    """Has a session multiply u8 x u8 where u8 x s8 would saturate."""
    if not is_int8_fast():
        options.add_session_config_entry("session.x64quantprecision", "1")


@cache
def is_int8_exact() -> bool:
    """Whether sums are exact as the server runs its models."""
    options = ort.SessionOptions()
    widen_int8(options)
    return is_sum_exact(options)


def check_arithmetic(directory: ModelDirectory, is_exact: Callable[[], bool] = is_int8_exact) -> None:
    """Refuses a model that this CPU would compute wrongly.

    Raises:
        InexactArithmeticError: it computes in int8, and sums of bytes are not exact here.
    """
    if directory.manifest.is_int8 and not is_exact():
        raise InexactArithmeticError(directory.path)


def is_sum_exact(options: ort.SessionOptions, product: bytes = _PRODUCT) -> bool:
    """Whether a session computes the product of the probe as it is."""
    session = ort.InferenceSession(product, options, providers=["CPUExecutionProvider"])
    (sums,) = session.run(None, {"a": np.full((8, 4), 255, np.uint8)})
    return bool((sums == 4 * 255 * 127).all())
