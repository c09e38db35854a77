"""Packs the weights of a model directory for the compiled core, and names the arithmetic in its manifest.

The graph stays: it is what ONNX Runtime runs, and what the core's answers are compared with.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from inference.compile.bert import EMBEDDING
from inference.compile.errors import UnsupportedModelError
from inference.compile.packed.graph_reading import ByteMatrix, GraphReader
from inference.compile.weights import Float32, QuantizedTable
from inference.core.packed_file import (
    ALIGNMENT,
    BERT,
    COLUMNS,
    CONTENT_TO_POSITION,
    DEBERTA,
    FILE_VERSION,
    FIRST,
    HEADER,
    LANES,
    LOGITS,
    MAGIC,
    MEAN,
    POSITION_TO_CONTENT,
    RowBits,
)
from inference.models.manifest import MARKS, Manifest

_DEPTH = 4  # inputs of a column that lie together
_MAX_POSITIONS = 512


def packed_bytes(model: onnx.ModelProto, manifest: Manifest, bits: RowBits) -> bytes:
    """Returns the packed file of a graph.

    Raises:
        UnsupportedModelError: the core cannot compute this graph.
    """
    return _Packer(GraphReader(model), manifest, bits).packed()


class _Packer:
    """Writes header and sections of one file, in the order of `core_map` in csrc/model.c."""

    def __init__(self, graph: GraphReader, manifest: Manifest, bits: RowBits) -> None:
        self._graph = graph
        self._manifest = manifest
        self._sections: list[bytes] = []
        self._header = np.zeros((), HEADER)
        self._set(magic=MAGIC, version=FILE_VERSION, bits=bits, epsilon=graph.epsilon(), heads=graph.head_count())
        self._positions = -(-manifest.max_tokens // LANES) * LANES
        if self._positions > _MAX_POSITIONS:
            raise UnsupportedModelError(f"the core reads {_MAX_POSITIONS} tokens, the model {manifest.max_tokens}")

    def packed(self) -> bytes:
        """Returns the file."""
        graph = self._graph
        self._embeddings()
        self._head()
        for index in range(graph.layer_count()):
            self._layer(f"layer.{index}")
        graph.check_all_read()
        self._set(layers=graph.layer_count(), activation=graph.activation(), positions=self._positions)
        self._set(inner=graph.array("quantized/layer.0.inner.int8").shape[1])
        return b"".join([_padded(self._header.tobytes()), *self._sections])

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            self._header[name] = value

    def _add(self, *arrays: NDArray[np.generic]) -> None:
        self._sections += [_padded(np.ascontiguousarray(array).tobytes()) for array in arrays]

    def _embeddings(self) -> None:
        words = self._graph.words()
        table = words.values if isinstance(words, QuantizedTable) else words
        self._set(vocab=table.shape[0], hidden=table.shape[1], word_bytes=table.itemsize)
        if isinstance(words, QuantizedTable):
            shift = 128 if words.values.dtype == np.uint8 else 0
            table = (words.values.astype(np.int16) - shift).astype(np.int8)
            self._set(word_scale=words.scale, word_zero=words.zero_point - shift)
        self._add(table)
        if self._graph.has("position_embeddings.weight"):
            places = self._graph.array("position_embeddings.weight")[:, 0]
            wanted = np.zeros((self._positions, table.shape[1]), np.float32)
            wanted[: len(places)] = places[: self._positions]
            self._add(wanted)
        self._add(*self._graph.norm("embeddings"))

    def _head(self) -> None:
        head, has_marks = self._graph.head(), MARKS in self._graph.outputs
        if len(head) > 2:  # noqa: PLR2004  # what the header has room for
            raise UnsupportedModelError(f"the core computes a head of two layers, not of {len(head)}")
        is_relative = not self._graph.has("position_embeddings.weight")
        output = {"mean": MEAN, "cls": FIRST, None: LOGITS}[self._manifest.pooling]
        if (output == LOGITS) != bool(head) or (self._graph.outputs == [EMBEDDING]) == is_relative:
            raise UnsupportedModelError("the core computes BERT embedders and DeBERTa classifiers")
        self._set(kind=DEBERTA if is_relative else BERT, output=output, head_layers=len(head), has_marks=has_marks)
        for index, layer in enumerate(head):
            self._header["head_width"][index] = layer.bias.size
            self._header["head_activation"][index] = layer.activation
            self._add(layer.weight.T, layer.bias)
        if has_marks:
            self._add(self._graph.array("marks.weight"), np.resize(self._graph.array("marks.bias"), 1))

    def _layer(self, name: str) -> None:
        graph = self._graph
        self._matrix(graph.matrix(*(f"{name}.{part}" for part in ("queries", "keys", "values"))))
        self._matrix(graph.matrix(f"{name}.attention.output"))
        self._add(*graph.norm(f"{name}.attention.norm"))
        self._matrix(graph.matrix(f"{name}.inner"))
        self._matrix(graph.matrix(f"{name}.outer"))
        self._add(*graph.norm(f"{name}.norm"))
        relations = 0
        for part, flag in (("position_keys", CONTENT_TO_POSITION), ("position_queries", POSITION_TO_CONTENT)):
            if graph.has(f"{name}.{part}.weight"):
                self._add(self._by_distance(graph.array(f"{name}.{part}.weight")))
                relations += flag
        self._set(relations=relations)

    def _matrix(self, matrix: ByteMatrix) -> None:
        inputs, outputs = matrix.values.shape
        if inputs % COLUMNS or outputs % COLUMNS:
            raise UnsupportedModelError(f"the core computes widths that {COLUMNS} divides, not {inputs} x {outputs}")
        blocks = matrix.values.reshape(inputs // _DEPTH, _DEPTH, outputs // COLUMNS, COLUMNS)
        offset = 128 * matrix.values.sum(axis=0, dtype=np.int32)
        self._add(blocks.transpose(2, 0, 3, 1), matrix.scale, matrix.bias, offset)

    def _by_distance(self, table: Float32) -> Float32:
        """Returns the rows of all distances, the largest first, as [heads][distances / 16][head size][16]."""
        rows, span = self._graph.distances(), self._positions
        limit = (rows.size - 1) // 2
        distances = np.clip(span - 1 - np.arange(2 * span), -limit, limit)
        heads = int(self._header["heads"])
        spread = table[rows[distances + limit]].reshape(2 * span // LANES, LANES, heads, -1)
        return np.asarray(spread.transpose(2, 0, 3, 1), np.float32)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


def write_packed(model_path: Path, manifest: Manifest, bits: RowBits, target: Path) -> None:
    """Packs the graph at `model_path` into `target`. Raises UnsupportedModelError."""
    target.write_bytes(packed_bytes(onnx.load(model_path), manifest, bits))
