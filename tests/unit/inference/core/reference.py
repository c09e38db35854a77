"""The compiled core's arithmetic in NumPy: inference/core/ARITHMETIC.md, written down a second time.

Slow and plain. Reads the same packed file, and must give the same bits.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from inference.core.packed_file import (
    ALIGNMENT,
    BERT,
    COLUMNS,
    CONTENT_TO_POSITION,
    FIRST,
    GELU,
    HEADER,
    LANES,
    LOGITS,
    MEAN,
    POSITION_TO_CONTENT,
    RELU,
    read_header,
    score_limit,
)

F32 = np.float32
Float32 = npt.NDArray[np.float32]
Array = npt.NDArray[Any]

ERF_POWERS = tuple(
    F32(float.fromhex(text))
    for text in (
        *("0x1.92231ep-2", "-0x1.905ba2p-3", "0x1.268762p-3", "-0x1.d27832p-4", "0x1.6fc966p-4", "-0x1.13b712p-4"),
        *("0x1.8c36c4p-5", "-0x1.1e9776p-5", "0x1.5a386ep-6", "-0x1.f2ce84p-8", "0x1.30d08ap-8", "-0x1.8a8accp-8"),
        "0x1.567be2p-9",
    )
)
EXP_POWERS = tuple(F32(value) for value in (1, 1, 0.5, 0.16666576, 0.041666556, 0.008363179, 0.0013926184))
SHIFT = F32(12582912)
VALUE_LIMIT = 8128


def fma(a: Array | F32, b: Array | F32, c: Array | F32) -> Float32:
    """Returns a * b + c, rounded once.

    The product is exact in float64. Their sum is rounded to odd there, so that rounding it again, to float32, gives
    what one rounding would have given.
    """
    product, addend = np.asarray(a, np.float64) * np.asarray(b, np.float64), np.asarray(c, np.float64)
    total = np.atleast_1d(product + addend)
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = total.view(np.int64)
    is_inexact_and_even = (error != 0) & (bits & 1 == 0)
    bits += np.where(is_inexact_and_even, np.where((error > 0) == (total > 0), 1, -1), 0)
    return total.astype(F32).reshape(np.broadcast_shapes(product.shape, addend.shape))


def by_powers(powers: Sequence[F32], x: Float32) -> Float32:
    """A polynomial by Horner's rule, each step a fused multiply-add."""
    total = np.full_like(x, powers[-1])
    for power in reversed(powers[:-1]):
        total = fma(total, x, power)
    return total


def exp(x: Float32) -> Float32:
    x = np.maximum(x, F32(-87))
    shifted = fma(x, F32(1.442695041), SHIFT)
    n = shifted - SHIFT
    r = fma(n, F32(0.00021219444), fma(n, F32(-0.693359375), x))
    return by_powers(EXP_POWERS, r) * np.ldexp(F32(1), n.astype(np.int32))


def gelu(x: Float32) -> Float32:
    z = np.minimum(np.abs(x) * F32(float.fromhex("0x1.6a09e6p-1")), F32(3.6))
    u = fma(z * z, F32(float.fromhex("0x1.3c0ca4p-3")), F32(-1))
    erf = np.copysign(np.minimum(by_powers(ERF_POWERS, u) * z, F32(1)), x)
    half = x * F32(0.5)
    return fma(half, erf, half)


def activate(kind: int, x: Float32) -> Float32:
    return gelu(x) if kind == GELU else np.maximum(x, F32(0)) if kind == RELU else x


def fold(lanes: Float32) -> Float32:
    """Adds 16 lanes: halves to halves."""
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def lane_blocks(x: Float32) -> Float32:
    """Splits the last axis into (blocks, lanes)."""
    return x.reshape(*x.shape[:-1], -1, LANES)


def row_sum(x: Float32) -> Float32:
    blocks = lane_blocks(x)
    total = np.zeros_like(blocks[..., 0, :])
    for index in range(blocks.shape[-2]):
        total = total + blocks[..., index, :]
    return fold(total)


def dot(x: Float32, y: Float32) -> Float32:
    left, right = lane_blocks(x), lane_blocks(y)
    total = np.zeros(np.broadcast_shapes(left[..., 0, :].shape, right[..., 0, :].shape), F32)
    for index in range(left.shape[-2]):
        total = fma(left[..., index, :], right[..., index, :], total)
    return fold(total)


def integers(x: Float32, limit: int) -> tuple[Array, F32]:
    """Returns numbers as integers of at most `limit`, and their common step."""
    step = max(np.abs(x).max() * (F32(1) / F32(limit)), F32(1e-30))
    return (fma(x, F32(1) / step, SHIFT) - SHIFT).astype(np.int64), step


class Reference:
    """One packed file."""

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self._data, self._at = data, -(-HEADER.itemsize // ALIGNMENT) * ALIGNMENT
        self.header = header = read_header(data)
        self.hidden, self.heads = int(header["hidden"]), int(header["heads"])
        kind = np.int8 if header["word_bytes"] == 1 else F32
        self.words = self._take((int(header["vocab"]), self.hidden), kind)
        is_bert = header["kind"] == BERT
        self.places = self._take((int(header["positions"]), self.hidden)) if is_bert else None
        self.norm = self._norm()
        self.head = []
        inputs = self.hidden
        for index in range(int(header["head_layers"])):
            outputs = int(header["head_width"][index])
            self.head.append((self._take((outputs, inputs)), self._take((outputs,))))
            inputs = outputs
        self.mark = (self._take((1, self.hidden)), self._take((1,))) if header["has_marks"] else None
        self.layers = [self._layer() for _ in range(int(header["layers"]))]
        assert self._at == data.size

    def run(self, ids: Sequence[int], marked: Sequence[int] = ()) -> tuple[Float32, Float32]:
        """Returns the result of one item, and its marks."""
        states = self._embed(np.asarray(ids))
        for layer in self.layers[:-1]:
            states = self._run_layer(layer, states, np.arange(len(ids)))
        read = np.arange(len(ids))
        if self.header["output"] != MEAN:
            read = np.array([0, *(at for at in range(1, len(marked)) if marked[at])])
        states = self._run_layer(self.layers[-1], states, read)
        marks = np.zeros(len(ids), F32)
        if self.mark is not None:
            marks[read] = dot(states, self.mark[0][0]) + self.mark[1][0]
        return self._result(states), marks

    def _result(self, states: Float32) -> Float32:
        if self.header["output"] == LOGITS:
            state: Float32 = states[0]
            for index, (weight, bias) in enumerate(self.head):
                state = activate(int(self.header["head_activation"][index]), dot(weight, state) + bias)
            return state
        used = states[:1] if self.header["output"] == FIRST else states
        total = used[0]
        for row in used[1:]:
            total = total + row
        mean = total / F32(len(used))
        return np.asarray(mean / np.maximum(np.sqrt(dot(mean, mean)), F32(1e-12)), F32)

    def _embed(self, ids: Array) -> Float32:
        rows = self.words[ids]
        if rows.dtype == np.int8:
            rows = (rows.astype(F32) - F32(self.header["word_zero"])) * self.header["word_scale"]
        if self.places is not None:
            rows = rows + self.places[: len(ids)]
        return self._normalized(rows, self.norm)

    def _run_layer(self, layer: dict[Any, Any], states: Float32, read: Array) -> Float32:
        projected = self._multiply(layer["project"], states)
        context = np.concatenate([self._attend(layer, projected, head, read) for head in range(self.heads)], axis=1)
        attended = self._multiply(layer["output"], context) + states[read]
        attended = self._normalized(attended, layer["attention_norm"])
        inner = activate(int(self.header["activation"]), self._multiply(layer["inner"], attended))
        return self._normalized(self._multiply(layer["outer"], inner) + attended, layer["norm"])

    def _attend(self, layer: dict[Any, Any], projected: Float32, head: int, read: Array) -> Float32:
        size, length = self.hidden // self.heads, len(projected)
        start = head * size
        queries, keys, values = (projected[:, start + part * self.hidden :][:, :size] for part in range(3))
        places = np.arange(length) - read[:, np.newaxis] + int(self.header["positions"]) - 1
        limit = score_limit(size)
        (queries, query_step), (keys, key_step) = integers(queries, limit), integers(keys, limit)
        values, value_step = integers(values, VALUE_LIMIT)
        queries = queries[read]
        scores = (queries @ keys.T).astype(F32) * (query_step * key_step)
        if layer[CONTENT_TO_POSITION] is not None:
            table, steps = layer[CONTENT_TO_POSITION]
            products = np.einsum("qd,qkd->qk", queries, table[head][places])
            scores = fma(products.astype(F32), query_step * steps[head], scores)
        if layer[POSITION_TO_CONTENT] is not None:
            table, steps = layer[POSITION_TO_CONTENT]
            products = np.einsum("kd,qkd->qk", keys, table[head][places])
            scores = fma(products.astype(F32), key_step * steps[head], scores)
        weights = exp(scores - scores.max(axis=1, keepdims=True))
        padded = np.zeros((len(read), -(-length // LANES) * LANES), F32)
        padded[:, :length] = weights
        total = row_sum(padded)[:, np.newaxis]
        steps = np.minimum(F32(262144) / total, F32(32767))
        mixed = (fma(weights, steps, SHIFT) - SHIFT).astype(np.int64) @ values
        return np.asarray(mixed.astype(F32) * (value_step / (steps * total)), F32)

    def _multiply(self, matrix: tuple[Array, Float32, Float32, int], rows: Float32) -> Float32:
        values, scale, bias, bits = matrix
        factor = F32(1) / F32(127 if bits == 8 else 16256)
        step = np.maximum(np.abs(rows).max(axis=1, keepdims=True) * factor, F32(1e-30))
        integers = fma(rows, F32(1) / step, SHIFT) - SHIFT
        sums = (integers.astype(np.float64) @ values.astype(np.float64)).astype(F32)  # whole numbers below 2^53
        return fma(sums * step, scale, bias)

    def _normalized(self, rows: Float32, norm: tuple[Float32, Float32]) -> Float32:
        count = F32(self.hidden)
        centered = rows - (row_sum(rows) / count)[:, np.newaxis]
        variance = dot(centered, centered) / count
        scale = F32(1) / np.sqrt(variance + self.header["epsilon"])
        return fma(centered * scale[:, np.newaxis], norm[0], norm[1])

    def _layer(self) -> dict[Any, Any]:
        hidden, inner = self.hidden, int(self.header["inner"])
        layer: dict[Any, Any] = {
            "project": self._matrix(hidden, 3 * hidden, 0),
            "output": self._matrix(hidden, hidden, 1),
        }
        layer["attention_norm"] = self._norm()
        layer |= {
            "inner": self._matrix(hidden, inner, 2),
            "outer": self._matrix(inner, hidden, 3),
            "norm": self._norm(),
        }
        for flag in (CONTENT_TO_POSITION, POSITION_TO_CONTENT):
            layer[flag] = self._by_distance() if self.header["relations"] & flag else None
        return layer

    def _by_distance(self) -> tuple[Array, Float32]:
        size, distances = self.hidden // self.heads, 2 * int(self.header["positions"])
        blocks = self._take((self.heads, distances // LANES, size // 2, LANES, 2), np.int16).astype(np.int64)
        table = blocks.transpose(0, 1, 3, 2, 4).reshape(self.heads, distances, size)
        return table, self._take((self.heads,))

    def _matrix(self, inputs: int, outputs: int, place: int) -> tuple[Array, Float32, Float32, int]:
        blocks = self._take((outputs // COLUMNS, inputs // 4, COLUMNS, 4), np.int8)
        values = blocks.transpose(1, 3, 0, 2).reshape(inputs, outputs)
        scale, bias = self._take((outputs,)), self._take((outputs,))
        self._take((outputs,), np.int32)
        return values, scale, bias, int(self.header["bits"][place])

    def _norm(self) -> tuple[Float32, Float32]:
        return self._take((self.hidden,)), self._take((self.hidden,))

    def _take(self, shape: tuple[int, ...], kind: Any = F32) -> Array:  # noqa: ANN401  # a type of numbers
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        section: Array = self._data[self._at : self._at + size].view(kind).reshape(shape)
        self._at += -(-size // ALIGNMENT) * ALIGNMENT
        return section
