"""Writes DeBERTa-v2 and -v3 (He et al. 2021, arXiv 2006.03654 and 2111.09543) as a fast graph.

The score of query i and key j sums a content term and two relative ones, each scaled alike:

    Q_i . K_j  +  Q_i . PK[i - j]  +  K_j . PQ[i - j]

PK and PQ project one embedding per bucket of distances. They depend on weights alone, so here they are
constants; for L tokens only 2L - 1 distances occur, and their rows are gathered once per layer. Only
[CLS] is read in the end, so the last layer computes its row alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx

from inference.compile.config import DebertaConfig
from inference.compile.graph import GraphBuilder
from inference.compile.head import Head, write_head
from inference.compile.layers import LayerWriter, Tokens
from inference.compile.relative import (
    DiagonalPicker,
    Distances,
    gather_positions,
    position_tables,
    score_scale,
    write_distances,
)
from inference.compile.weights import Float32, Weights, WeightScope, encoder_scope


def build_deberta_encoder(weights: Weights, config: DebertaConfig) -> onnx.ModelProto:
    """Returns a graph whose output `hidden` is the state of [CLS], shape (batch, hidden size)."""
    encoder = _Encoder(encoder_scope(weights), config)
    return encoder.graph.build(encoder.first_token(), "hidden", ["batch", config.hidden_size])


def build_deberta_classifier(weights: Weights, config: DebertaConfig, head: Head) -> onnx.ModelProto:
    """Returns a graph whose output `logits`, shape (batch, labels), is `head` applied to the state of [CLS]."""
    encoder = _Encoder(encoder_scope(weights), config)
    logits = write_head(encoder.graph, encoder.first_token(), head)
    return encoder.graph.build(logits, "logits", ["batch", head[-1].bias.size])


@dataclass(frozen=True)
class _Projections:
    """Queries, keys and values of one layer, each (rows, batch, heads, head size)."""

    queries: str
    keys: str
    values: str
    value_bias: Float32  # not added to the values; see LayerWriter.close_attention


class _Encoder:
    """Writes one encoder, from the token ids to the hidden state of [CLS]."""

    def __init__(self, weights: WeightScope, config: DebertaConfig) -> None:
        self.graph = GraphBuilder("deberta")
        self._writer = LayerWriter(self.graph, config)
        self._weights = weights
        self._config = config

    def first_token(self) -> str:
        """Writes all layers and returns the state of [CLS], (batch, hidden)."""
        tokens = self._writer.tokens()
        distances = write_distances(self.graph, tokens, self._config)
        picker = DiagonalPicker(self.graph, tokens.length)
        hidden = self._embeddings(tokens)
        last = self._config.layer_count - 1
        for index in range(last):
            hidden = self._layer(index, hidden, tokens, distances, picker)
        return self._last_layer(last, hidden, tokens, distances)

    def _embeddings(self, tokens: Tokens) -> str:
        """Returns (length * batch, hidden). Padding keeps its embedding: no other position ever reads it."""
        scope, writer = self._weights.scope("embeddings"), self._writer
        words = writer.embedding(scope.table("word_embeddings.weight"), tokens.input_ids, "word_embeddings")
        if self._config.has_absolute_positions:
            table = self.graph.weight("position_embeddings.weight", scope.array("position_embeddings.weight"))
            used = self.graph.node("Slice", table, self.graph.ints(0), tokens.length)
            words = self.graph.node("Add", words, self.graph.node("Unsqueeze", used, self.graph.ints(1)))
        if self._config.token_type_count:
            types = self.graph.node("Transpose", self.graph.input("token_type_ids", ["batch", "length"]), perm=[1, 0])
            table_rows = writer.embedding(scope.array("token_type_embeddings.weight"), types, "token_type_embeddings")
            words = self.graph.node("Add", words, table_rows)
        if scope.has("embed_proj.weight"):
            product = self.graph.weight("embed_proj.weight", scope.array("embed_proj.weight").T)
            words = self.graph.node("MatMul", words, product)
        return writer.layer_norm(writer.rows(words), scope.scope("LayerNorm"), name="embeddings")

    def _layer(self, index: int, hidden: str, tokens: Tokens, distances: Distances, picker: DiagonalPicker) -> str:
        name, layer = f"layer.{index}", self._weights.scope(f"encoder.layer.{index}")
        projections = self._project(hidden, hidden, layer, tokens.head_shape, name)
        scores = self._writer.scores(projections.queries, projections.keys, name=f"{name}.scores")
        tables = position_tables(self._weights.scope("encoder"), layer.scope("attention.self"), self._config)
        if tables.keys is not None:
            positions = self._gather(tables.keys, distances.descending, f"{name}.position_keys")
            product = self._writer.scores(projections.queries, positions, name=f"{name}.content_to_position")
            scores = self.graph.node("Add", scores, picker.pick(product, name=f"{name}.query_diagonals"))
        if tables.queries is not None:
            positions = self._gather(tables.queries, distances.ascending, f"{name}.position_queries")
            product = self._writer.scores(projections.keys, positions, name=f"{name}.position_to_content")
            picked = picker.pick(product, name=f"{name}.key_diagonals")
            scores = self.graph.node("Add", scores, self.graph.node("Transpose", picked, perm=[0, 1, 3, 2]))
        return self._finish(layer, projections, scores, hidden, tokens.mask_scores, name)

    def _last_layer(self, index: int, hidden: str, tokens: Tokens, distances: Distances) -> str:
        """Writes the row of [CLS]: the distance to column j is -j, so nothing has to be shifted."""
        name, layer = f"layer.{index}", self._weights.scope(f"encoder.layer.{index}")
        first = self._first_rows(hidden, tokens)
        projections = self._project(first, hidden, layer, tokens.head_shape, name)
        keys = projections.keys
        tables = position_tables(self._weights.scope("encoder"), layer.scope("attention.self"), self._config)
        if tables.keys is not None:
            keys = self.graph.node(
                "Add", keys, self._gather(tables.keys, distances.from_first, f"{name}.position_keys")
            )
        scores = self._writer.scores(projections.queries, keys, name=f"{name}.scores")
        if tables.queries is not None:
            positions = self._gather(tables.queries, distances.from_first, f"{name}.position_queries")
            products = self.graph.node("Mul", projections.keys, positions)
            summed = self.graph.node("ReduceSum", products, self.graph.ints(3))  # (length, batch, heads, 1)
            scores = self.graph.node("Add", scores, self.graph.node("Transpose", summed, perm=[1, 2, 3, 0]))
        return self._finish(layer, projections, scores, first, tokens.mask_scores, name)

    def _project(self, query_rows: str, rows: str, layer: WeightScope, head_shape: str, name: str) -> _Projections:
        attention, scale = layer.scope("attention.self"), np.float32(score_scale(self._config))
        weight, bias = attention.linear("query_proj")
        value_weight, value_bias = attention.linear("value_proj")
        no_bias = np.zeros_like(value_bias)
        linear, config = self._writer.linear, self._config
        queries = linear(query_rows, weight * scale, bias * scale, name=f"{name}.queries")
        query_shape = head_shape
        if query_rows != rows:
            query_shape = self.graph.ints(1, -1, config.head_count, config.head_size)
        keys = linear(rows, *attention.linear("key_proj"), name=f"{name}.keys")
        values = linear(rows, value_weight, no_bias, name=f"{name}.values")
        return _Projections(
            queries=self.graph.node("Reshape", queries, query_shape),
            keys=self.graph.node("Reshape", keys, head_shape),
            values=self.graph.node("Reshape", values, head_shape),
            value_bias=value_bias,
        )

    def _finish(
        self, layer: WeightScope, projections: _Projections, scores: str, residual: str, mask: str, name: str
    ) -> str:
        masked = self.graph.node("Add", scores, mask, name=f"{name}.masked")
        context = self._writer.context(masked, projections.values, name=f"{name}.context")
        output = layer.scope("attention.output")
        attended = self._writer.close_attention(
            context, residual, output, projections.value_bias, name=f"{name}.attention"
        )
        return self._writer.feed_forward(attended, layer, name=name)

    def _first_rows(self, hidden: str, tokens: Tokens) -> str:
        batch = self.graph.node("Slice", tokens.head_shape, self.graph.ints(1), self.graph.ints(2))
        return self.graph.node("Slice", hidden, self.graph.ints(0), batch, self.graph.ints(0), name="first_token")

    def _gather(self, table: Float32, rows: str, name: str) -> str:
        return gather_positions(self.graph, table, rows, self._config, name=name)
