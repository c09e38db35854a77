"""Relative positions of DeBERTa: constant projections, and lookups that need no index gather."""

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inference.compile.config import DebertaConfig
from inference.compile.graph import GraphBuilder
from inference.compile.weights import Float32, Float64, WeightScope


def score_scale(config: DebertaConfig) -> float:
    """Returns what every score term is multiplied by."""
    return 1 / math.sqrt(config.head_size * config.score_terms)


def bucket_rows(config: DebertaConfig) -> NDArray[np.int64]:
    """Returns the table row of each distance from -max_relative_positions to +max_relative_positions.

    Near distances have a row each; from half the buckets on they share rows on a logarithmic scale
    (`make_log_bucket_position` in transformers, float32 as there). Distances beyond either end of the
    returned vector have the row of that end.
    """
    limit, span = config.max_relative_positions, config.relative_span
    distance = np.arange(-limit, limit + 1)
    buckets = _log_buckets(distance, span, limit) if config.position_buckets else distance
    return np.clip(buckets + span, 0, 2 * span - 1)


class RelativePositions:
    """Writes what the layers of one encoder need of their relative positions.

    The distances (query - key) of this run's length L are int64 vectors of rows of the position tables. They hold one
    distance more than the 2L - 1 that occur, so that `pick_diagonals` also works for L = 1.
    """

    def __init__(self, graph: GraphBuilder, encoder: WeightScope, config: DebertaConfig, *, length: str) -> None:
        """Writes distances and slice bounds, once for all layers; `length` is L, shape (1,)."""
        self._graph, self._encoder, self._config, self._length = graph, encoder, config, length
        limit, rows, one = config.max_relative_positions, bucket_rows(config), graph.scalar(1)
        scalar = graph.node("Squeeze", length)
        distances = graph.node("Range", graph.node("Sub", one, scalar), graph.node("Add", scalar, one), one)
        shifted = graph.node("Add", distances, graph.scalar(limit))
        entries = graph.node("Clip", shifted, graph.scalar(0), graph.scalar(2 * limit))
        # (2L,): L - 1 down to -L; (2L,): 1 - L up to L
        self.descending = graph.node("Gather", graph.constant(rows[::-1]), entries, name="distances.descending")
        self.ascending = graph.node("Gather", graph.constant(rows), entries, name="distances.ascending")
        self._start = graph.node("Sub", length, graph.ints(1))
        self._width = graph.node("Add", length, self._start)
        self._end = graph.node("Add", self._start, graph.node("Mul", length, self._width))
        self._shape = graph.node("Concat", graph.ints(0, 0), length, self._width, axis=0)

    def tables(self, attention: WeightScope) -> tuple[Float32 | None, Float32 | None]:
        """Projects the relative embeddings with one layer's weights, each (2 * relative span, hidden).

        The first are keys that queries meet, content to position; the second queries that keys meet, position to
        content, with the score scale in them. None where a term is unused.
        """
        config, keys, queries = self._config, None, None
        names = ("key_proj", "query_proj") if config.shares_attention_key else ("pos_key_proj", "pos_query_proj")
        if config.has_content_to_position:
            keys = _project(self._embeddings, attention, names[0])
        if config.has_position_to_content:
            queries = _project(self._embeddings, attention, names[1]) * np.float32(score_scale(config))
        return keys, queries

    @cached_property
    def _embeddings(self) -> Float64:
        """Normalized and projected in float64: no processor's order of adding reaches the last bit of float32."""
        encoder, config = self._encoder, self._config
        embeddings = encoder.array("rel_embeddings.weight")[: 2 * config.relative_span].astype(np.float64)
        if not config.normalizes_relative_embeddings:
            return embeddings
        centered = embeddings - embeddings.mean(axis=1, keepdims=True)
        variance = np.square(centered).mean(axis=1, keepdims=True)
        normalized = centered / np.sqrt(variance + config.layer_norm_eps)
        return np.asarray(normalized * encoder.array("LayerNorm.weight") + encoder.array("LayerNorm.bias"))

    def gather(self, table: Float32, rows: str, *, name: str) -> str:
        """Gathers table rows as (rows, 1, heads, head size), the shape of keys with a batch of one."""
        gathered = self._graph.node("Gather", self._graph.weight(f"{name}.weight", table), rows, name=name)
        heads = self._graph.ints(-1, 1, self._config.head_count, self._config.head_size)
        return self._graph.node("Reshape", gathered, heads)

    def pick_diagonals(self, product: str, *, name: str) -> str:
        """Turns products with all distances, (batch, heads, L, 2L), into scores, (batch, heads, L, L).

        out[a, b] = product[a, b - a + L - 1]. In a flattened (L, 2L) matrix that element lies at
        a * (2L - 1) + b + L - 1: skip L - 1 elements, read rows of 2L - 1, keep L columns. Two contiguous copies,
        where a gather would look up L * L indices.
        """
        flat = self._graph.node("Reshape", product, self._graph.ints(0, 0, -1))
        shifted = self._graph.node("Slice", flat, self._start, self._end, self._graph.ints(2))
        skewed = self._graph.node("Reshape", shifted, self._shape)
        return self._graph.node("Slice", skewed, self._graph.ints(0), self._length, self._graph.ints(3), name=name)


def _project(embeddings: Float64, attention: WeightScope, name: str) -> Float32:
    weight, bias = attention.linear(name)
    return np.asarray(embeddings @ weight.astype(np.float64) + bias, dtype=np.float32)


def _log_buckets(distance: NDArray[np.int64], bucket_count: int, limit: int) -> NDArray[np.int64]:
    middle = bucket_count // 2
    magnitude = np.maximum(np.abs(distance), middle).astype(np.float32)
    growth = np.log(magnitude / np.float32(middle)) / np.log(np.float32((limit - 1) / middle))
    far = np.ceil(growth * np.float32(middle - 1)).astype(np.int64) + middle
    return np.where(np.abs(distance) <= middle, distance, far * np.sign(distance))
