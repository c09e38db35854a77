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
from inference.compile.layers import LayerWriter
from inference.compile.relative import RelativePositions, score_scale
from inference.compile.weights import Float32, Weights, WeightScope, encoder_scope

LOGITS = "logits"  # output of every classifier


def build_deberta_encoder(weights: Weights, config: DebertaConfig) -> onnx.ModelProto:
    """Returns a graph whose output `hidden` is the state of [CLS], shape (batch, hidden size)."""
    encoder = _Encoder(encoder_scope(weights), config)
    return encoder.graph.build(encoder.first_token(), "hidden", ["batch", config.hidden_size])


def build_deberta_classifier(weights: Weights, config: DebertaConfig, head: Head) -> onnx.ModelProto:
    """Returns a graph whose output `logits`, shape (batch, labels), is `head` applied to the state of [CLS]."""
    encoder = _Encoder(encoder_scope(weights), config)
    logits = write_head(encoder.graph, encoder.first_token(), head)
    return encoder.graph.build(logits, LOGITS, ["batch", head[-1].bias.size])


@dataclass(frozen=True)
class _Layer:
    """One layer's name in the graph and weights in the checkpoint."""

    name: str
    weights: WeightScope

    @property
    def attention(self) -> WeightScope:
        return self.weights.scope("attention.self")


@dataclass(frozen=True)
class _Projections:
    """Queries, keys and values of one layer, each (rows, batch, heads, head size)."""

    queries: str
    keys: str
    values: str
    value_bias: Float32  # not added to the values; see LayerWriter.close


class _Encoder:
    """Writes one encoder, from the token ids to the hidden state of [CLS]."""

    def __init__(self, weights: WeightScope, config: DebertaConfig) -> None:
        self.graph = GraphBuilder("deberta")
        self._weights = weights
        self._config = config
        self._writer = LayerWriter(self.graph, config)
        self._tokens = self._writer.tokens()
        length = self._tokens.length
        self._relative = RelativePositions(self.graph, weights.scope("encoder"), config, length=length)

    def first_token(self) -> str:
        """Writes all layers and returns the state of [CLS], (batch, hidden)."""
        hidden = self._embeddings()
        *layers, last = (
            _Layer(f"layer.{index}", self._weights.scope(f"encoder.layer.{index}"))
            for index in range(self._config.layer_count)
        )
        for layer in layers:
            hidden = self._layer(layer, hidden)
        return self._last_layer(last, hidden)

    def _embeddings(self) -> str:
        """Returns (tokens, hidden): rows of padding are left out from here on."""
        scope, writer, tokens = self._weights.scope("embeddings"), self._writer, self._tokens
        summed = writer.embedding(scope.table("word_embeddings.weight"), tokens.input_ids, "word_embeddings")
        if self._config.has_absolute_positions:
            places = writer.position_rows(scope.array("position_embeddings.weight"), tokens)
            summed = self.graph.node("Add", summed, places)
        if self._config.token_type_count:
            types = self.graph.node("Transpose", self.graph.input("token_type_ids", ["batch", "length"]), perm=[1, 0])
            kinds = writer.embedding(scope.table("token_type_embeddings.weight"), types, "token_type_embeddings")
            summed = self.graph.node("Add", summed, kinds)
        if scope.has("embed_proj.weight"):  # word vectors narrower than the hidden states
            projection = self.graph.weight("embed_proj.weight", scope.array("embed_proj.weight").T)
            summed = self.graph.node("MatMul", summed, projection)
        packed = writer.pack(writer.rows(summed), tokens)
        return writer.layer_norm(packed, scope.scope("LayerNorm"), name="embeddings")

    def _layer(self, layer: _Layer, hidden: str) -> str:
        """Writes a layer for all rows."""
        projected, relative = self._project(layer, hidden, hidden), self._relative
        tables = relative.tables(layer.attention)
        scores = self._writer.scores(projected.queries, projected.keys, name=f"{layer.name}.scores")
        if tables.keys is not None:
            rows = relative.gather(tables.keys, relative.descending, name=f"{layer.name}.position_keys")
            product = self._writer.scores(projected.queries, rows, name=f"{layer.name}.content_to_position")
            picked = relative.pick_diagonals(product, name=f"{layer.name}.query_diagonals")
            scores = self.graph.node("Add", scores, picked)
        if tables.queries is not None:
            rows = relative.gather(tables.queries, relative.ascending, name=f"{layer.name}.position_queries")
            product = self._writer.scores(projected.keys, rows, name=f"{layer.name}.position_to_content")
            picked = relative.pick_diagonals(product, name=f"{layer.name}.key_diagonals")
            scores = self.graph.node("Add", scores, self.graph.node("Transpose", picked, perm=[0, 1, 3, 2]))
        masked = self.graph.node("Add", scores, self._tokens.mask_scores, name=f"{layer.name}.masked")
        mixed = self._writer.context(masked, projected.values, name=f"{layer.name}.context")
        context = self._writer.pack(mixed, self._tokens)
        return self._writer.close(layer.weights, context, hidden, projected.value_bias, name=layer.name)

    def _last_layer(self, layer: _Layer, hidden: str) -> str:
        """Writes the row of [CLS]: its distance to column j is -j, so nothing has to be shifted.

        Scores and context are multiplied and summed element by element. A product of one row takes another path in
        ONNX Runtime, whose last bit depends on the number of columns, and so on padding.
        """
        first = self._writer.first_rows(hidden, self._tokens)
        projected, relative = self._project(layer, first, hidden), self._relative
        tables = relative.tables(layer.attention)
        met_by_query = projected.keys
        if tables.keys is not None:
            rows = relative.gather(tables.keys, relative.from_first, name=f"{layer.name}.position_keys")
            met_by_query = self.graph.node("Add", met_by_query, rows)
        terms = self.graph.node("Mul", met_by_query, projected.queries)
        if tables.queries is not None:
            rows = relative.gather(tables.queries, relative.from_first, name=f"{layer.name}.position_queries")
            terms = self.graph.node("Add", terms, self.graph.node("Mul", projected.keys, rows))
        summed = self.graph.node("ReduceSum", terms, self.graph.ints(3))  # (length, batch, heads, 1)
        scores = self.graph.node("Transpose", summed, name=f"{layer.name}.scores", perm=[1, 2, 3, 0])
        masked = self.graph.node("Add", scores, self._tokens.mask_scores, name=f"{layer.name}.masked")
        probabilities = self.graph.node("Transpose", self.graph.node("Softmax", masked, axis=-1), perm=[3, 0, 1, 2])
        weighted = self.graph.node("Mul", projected.values, probabilities)
        mixed = self.graph.node("ReduceSum", weighted, self.graph.ints(0))
        context = self._writer.rows(mixed)
        return self._writer.close(layer.weights, context, first, projected.value_bias, name=layer.name)

    def _project(self, layer: _Layer, query_rows: str, rows: str) -> _Projections:
        attention, scale = layer.attention, np.float32(score_scale(self._config))
        weight, bias = attention.linear("query_proj")
        value_weight, value_bias = attention.linear("value_proj")
        linear, no_bias = self._writer.linear, np.zeros_like(value_bias)
        queries = linear(query_rows, weight * scale, bias * scale, name=f"{layer.name}.queries")
        keys = linear(rows, *attention.linear("key_proj"), name=f"{layer.name}.keys")
        values = linear(rows, value_weight, no_bias, name=f"{layer.name}.values")
        first_rows = self.graph.ints(1, -1, self._config.head_count, self._config.head_size)
        are_all = query_rows == rows
        return _Projections(
            queries=self._heads(queries) if are_all else self.graph.node("Reshape", queries, first_rows),
            keys=self._heads(keys),
            values=self._heads(values),
            value_bias=value_bias,
        )

    def _heads(self, rows: str) -> str:
        return self._writer.spread(rows, self._tokens.head_shape, self._tokens)
