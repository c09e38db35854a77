"""Writes a BERT encoder that returns sentence embeddings: pooled and normalized inside the graph."""

import math
from typing import Literal

import numpy as np
import onnx

from inference.compile.config import BertConfig
from inference.compile.graph import GraphBuilder
from inference.compile.layers import LayerWriter, Tokens
from inference.compile.weights import Weights, WeightScope, encoder_scope

Pooling = Literal["mean", "cls"]

EMBEDDING = "embedding"  # output of every embedder


def build_bert_embedder(weights: Weights, config: BertConfig, *, pooling: Pooling = "mean") -> onnx.ModelProto:
    """Returns a graph whose output is `embedding`, shape (batch, hidden size), of length 1."""
    encoder = _Encoder(encoder_scope(weights), config)
    return encoder.graph.build(encoder.embedding(pooling), EMBEDDING, ["batch", config.hidden_size])


class _Encoder:
    """Writes one encoder, from the token ids to the embedding."""

    def __init__(self, weights: WeightScope, config: BertConfig) -> None:
        self.graph = GraphBuilder("bert")
        self._writer = LayerWriter(self.graph, config)
        self._weights = weights
        self._config = config

    def embedding(self, pooling: Pooling) -> str:
        """Writes all layers, pools and normalizes."""
        tokens = self._writer.tokens()
        hidden = self._embeddings(tokens)
        for index in range(self._config.layer_count):
            hidden = self._layer(index, hidden, tokens)
        pooled = self._mean(hidden, tokens) if pooling == "mean" else self._writer.first_rows(hidden, tokens)
        length = self.graph.node("ReduceL2", pooled, self.graph.ints(1))
        floor = self.graph.constant(np.array(1e-12, np.float32))  # as torch.nn.functional.normalize
        return self.graph.node("Div", pooled, self.graph.node("Max", length, floor))

    def _embeddings(self, tokens: Tokens) -> str:
        """Sums word, position and token-type embeddings; all tokens are of type 0, which positions absorb."""
        scope = self._weights.scope("embeddings")
        words = self._writer.embedding(scope.table("word_embeddings.weight"), tokens.input_ids, "word_embeddings")
        places = scope.array("position_embeddings.weight") + scope.array("token_type_embeddings.weight")[0]
        summed = self.graph.node("Add", words, self._writer.position_rows(places, tokens))
        packed = self._writer.pack(self._writer.rows(summed), tokens)
        return self._writer.layer_norm(packed, scope.scope("LayerNorm"), name="embeddings")

    def _layer(self, index: int, hidden: str, tokens: Tokens) -> str:
        name, layer = f"layer.{index}", self._weights.scope(f"encoder.layer.{index}")
        attention, scale = layer.scope("attention.self"), np.float32(1 / math.sqrt(self._config.head_size))
        query, key, (value, value_bias) = (attention.linear(part) for part in ("query", "key", "value"))
        no_bias = np.zeros_like(value_bias)
        # A bias of the keys adds the same to every score of a row, which Softmax ignores.
        parts = {"queries": (query[0] * scale, query[1] * scale), "keys": (key[0], no_bias), "values": (value, no_bias)}
        heads = {
            part: self._writer.spread(
                self._writer.linear(hidden, *pair, name=f"{name}.{part}"), tokens.head_shape, tokens
            )
            for part, pair in parts.items()
        }
        scores = self._writer.scores(heads["queries"], heads["keys"], name=f"{name}.scores")
        masked = self.graph.node("Add", scores, tokens.mask_scores, name=f"{name}.masked")
        context = self._writer.pack(self._writer.context(masked, heads["values"], name=f"{name}.context"), tokens)
        return self._writer.close(layer, context, hidden, value_bias, name=name)

    def _mean(self, hidden: str, tokens: Tokens) -> str:
        """Averages over the tokens of each item: its states times its mask over its length, summed from first to last.

        Not a product of matrices. One of a single row adds up its columns in groups of four. A batch that is longer
        than the item would shift the groups: the last bit of a quarter of all embeddings changed.
        """
        shape = self.graph.node("Slice", tokens.head_shape, self.graph.ints(0), self.graph.ints(2))
        full = self.graph.node("Concat", shape, self.graph.ints(self._config.hidden_size), axis=0)
        states = self._writer.spread(hidden, full, tokens)  # (length, batch, hidden)
        count = self.graph.node("ReduceSum", tokens.mask, self.graph.ints(1))
        shares = self.graph.node("Transpose", self.graph.node("Div", tokens.mask, count), perm=[1, 0])
        weighted = self.graph.node("Mul", states, self.graph.node("Unsqueeze", shares, self.graph.ints(2)))
        return self.graph.node("ReduceSum", weighted, self.graph.ints(0), keepdims=0, name="mean")
