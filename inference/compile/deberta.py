"""Writes DeBERTa-v2 and -v3 (He et al. 2021, arXiv 2006.03654 and 2111.09543) as a fast graph.

The score of query i and key j sums a content term and two relative ones, each scaled alike:

    Q_i . K_j  +  Q_i . PK[i - j]  +  K_j . PQ[i - j]

PK and PQ project one embedding per bucket of distances. They depend on weights alone, so here they are constants. For L
tokens only 2L - 1 distances occur; their rows are gathered once per layer. Only [CLS] is read in the end, and by some
heads the tokens of the second text. The last layer's products after its attention leave out the other rows: 4% of a
pair of 160 tokens with 22 in its second text. Its attention leaves out none: a product of one row takes another path in
ONNX Runtime, whose last bit depends on the number of columns.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import onnx

from inference.compile.config import Activation, DebertaConfig
from inference.compile.graph import GraphBuilder
from inference.compile.layers import LayerWriter, activate
from inference.compile.relative import RelativePositions, score_scale
from inference.compile.weights import Float32, Weights, WeightScope, encoder_scope, head_scope
from inference.models.manifest import MARKS

LOGITS = "logits"  # output of every classifier


@dataclass(frozen=True)
class DenseLayer:
    """One layer of a head: activation(x @ weight + bias)."""

    weight: Float32  # (inputs, outputs)
    bias: Float32  # (outputs,)
    activation: Activation = "identity"


Head = tuple[DenseLayer, ...]


def pooled_head(weights: Weights, pooler_activation: Activation) -> Head:
    """Reads the head of a `...ForSequenceClassification` checkpoint: a dense pooler, then a classifier."""
    scope = head_scope(weights)
    return (
        DenseLayer(*scope.linear("pooler.dense"), activation=pooler_activation),
        DenseLayer(*scope.linear("classifier")),
    )


def build_deberta_encoder(weights: Weights, config: DebertaConfig) -> onnx.ModelProto:
    """Returns a graph whose output `hidden` is the state of [CLS], shape (batch, hidden size)."""
    encoder = _Encoder(encoder_scope(weights), config)
    return encoder.graph.build(encoder.first_token(), "hidden", ["batch", config.hidden_size])


def build_deberta_classifier(weights: Weights, config: DebertaConfig, head: Head) -> onnx.ModelProto:
    """Returns a graph whose output `logits`, shape (batch, labels), is `head` applied to the state of [CLS]."""
    encoder = _Encoder(encoder_scope(weights), config)
    logits = encoder.apply(head, encoder.first_token())
    return encoder.graph.build(logits, LOGITS, ["batch", head[-1].bias.size])


def build_claim_checker(
    weights: Weights, config: DebertaConfig, label_head: Head, token_head: DenseLayer
) -> onnx.ModelProto:
    """Returns a classifier that has a second output, `marks`, shape (batch, length).

    It holds `token_head`, of one number, applied to the states of [CLS] and of each token of type 1; 0 elsewhere.
    """
    encoder = _Encoder(encoder_scope(weights), config)
    cells = encoder.marked_cells()
    states = encoder.states_at(cells)
    logits = encoder.apply(label_head, encoder.writer.first_rows(states, encoder.tokens))
    encoder.graph.output(logits, LOGITS, ["batch", label_head[-1].bias.size])
    return encoder.graph.build(encoder.marks(states, cells, token_head), MARKS, ["batch", "length"])


class _Encoder:
    """Writes one encoder, from the token ids to the hidden states that are read."""

    def __init__(self, weights: WeightScope, config: DebertaConfig) -> None:
        self.graph = GraphBuilder("deberta")
        self._weights = weights
        self._config = config
        self.writer = LayerWriter(self.graph, config)
        self.tokens = self.writer.tokens()
        length = self.tokens.length
        self._relative = RelativePositions(self.graph, weights.scope("encoder"), config, length=length)

    def first_token(self) -> str:
        """Writes all layers and returns the state of [CLS], (batch, hidden)."""
        batch = self.graph.node(
            "Squeeze", self.graph.node("Slice", self.tokens.head_shape, *map(self.graph.ints, (1, 2)))
        )
        return self.states_at(self.graph.node("Range", self.graph.scalar(0), batch, self.graph.scalar(1)))

    def states_at(self, cells: str) -> str:
        """Writes all layers and returns the states of the tokens in some cells, (cells, hidden)."""
        hidden, count = self._embeddings(), self._config.layer_count
        for index in range(count):
            hidden = self._layer(index, hidden, cells if index == count - 1 else None)
        return hidden

    def marked_cells(self) -> str:
        """Returns the cells of the (length, batch) rectangle with a [CLS] or a token of type 1, as `Tokens.used`."""
        graph, zero, one = self.graph, self.graph.ints(0), self.graph.ints(1)
        first = graph.node("Slice", graph.node("Transpose", "attention_mask", perm=[1, 0]), zero, one, zero)
        others = graph.node("Slice", self._types, one, graph.ints(np.iinfo(np.int64).max), zero)
        chosen = graph.node("Reshape", graph.node("Concat", first, others, axis=0), graph.ints(-1))
        return graph.node("Squeeze", graph.node("NonZero", chosen), zero, name="marked_cells")

    def apply(self, head: Head, hidden: str) -> str:
        """Turns rows of shape (batch, hidden) into (batch, labels)."""
        for index, layer in enumerate(head):
            weight = self.graph.weight(f"head.{index}.weight", layer.weight)
            bias = self.graph.weight(f"head.{index}.bias", layer.bias)
            product = self.graph.node("Gemm", hidden, weight, bias, name=f"head.{index}")
            hidden = activate(self.graph, product, layer.activation)
        return hidden

    def marks(self, states: str, cells: str, head: DenseLayer) -> str:
        """Applies a head to states and puts its numbers into their cells, (batch, length).

        A product with one column takes another path in ONNX Runtime, whose last bit depends on the number of rows.
        """
        graph = self.graph
        terms = graph.node("Mul", states, graph.weight("marks.weight", head.weight[:, 0]))
        summed = graph.node("ReduceSum", terms, graph.ints(1), keepdims=0)
        odds = graph.node("Add", summed, graph.weight("marks.bias", head.bias))
        zero = onnx.numpy_helper.from_array(np.zeros(1, np.float32))
        empty = graph.node("ConstantOfShape", graph.node("Shape", self.tokens.cells), value=zero)
        spread = graph.node("ScatterElements", empty, cells, odds, axis=0)
        shape = graph.node("Slice", self.tokens.head_shape, graph.ints(0), graph.ints(2))
        return graph.node("Transpose", graph.node("Reshape", spread, shape), perm=[1, 0])

    @cached_property
    def _types(self) -> str:
        """Token types, (length, batch)."""
        return self.graph.node("Transpose", self.graph.input("token_type_ids", ["batch", "length"]), perm=[1, 0])

    def _embeddings(self) -> str:
        """Returns (tokens, hidden): rows of padding are left out from here on."""
        scope, writer, tokens = self._weights.scope("embeddings"), self.writer, self.tokens
        summed = writer.embedding(scope.table("word_embeddings.weight"), tokens.input_ids, "word_embeddings")
        if self._config.has_absolute_positions:
            places = writer.position_rows(scope.array("position_embeddings.weight"), tokens)
            summed = self.graph.node("Add", summed, places)
        if self._config.token_type_count:
            kinds = writer.embedding(scope.table("token_type_embeddings.weight"), self._types, "token_type_embeddings")
            summed = self.graph.node("Add", summed, kinds)
        if scope.has("embed_proj.weight"):  # word vectors narrower than the hidden states
            projection = self.graph.weight("embed_proj.weight", scope.array("embed_proj.weight").T)
            summed = self.graph.node("MatMul", summed, projection)
        packed = writer.pack(writer.rows(summed), tokens)
        return writer.layer_norm(packed, scope.scope("LayerNorm"), name="embeddings")

    def _layer(self, index: int, hidden: str, cells: str | None = None) -> str:
        name, layer, relative = f"layer.{index}", self._weights.scope(f"encoder.layer.{index}"), self._relative
        attention = layer.scope("attention.self")
        query, key, (value, value_bias) = (attention.linear(f"{part}_proj") for part in ("query", "key", "value"))
        scale, no_bias = np.float32(score_scale(self._config)), np.zeros_like(value_bias)
        parts = {"queries": (query[0] * scale, query[1] * scale), "keys": key, "values": (value, no_bias)}
        products = [self.writer.linear(hidden, *pair, name=f"{name}.{part}") for part, pair in parts.items()]
        queries, keys, values = (self.writer.spread(one, self.tokens.head_shape, self.tokens) for one in products)
        position_keys, position_queries = relative.tables(attention)
        scores = self.writer.scores(queries, keys, name=f"{name}.scores")
        if position_keys is not None:
            rows = relative.gather(position_keys, relative.descending, name=f"{name}.position_keys")
            product = self.writer.scores(queries, rows, name=f"{name}.content_to_position")
            picked = relative.pick_diagonals(product, name=f"{name}.query_diagonals")
            scores = self.graph.node("Add", scores, picked)
        if position_queries is not None:
            rows = relative.gather(position_queries, relative.ascending, name=f"{name}.position_queries")
            product = self.writer.scores(keys, rows, name=f"{name}.position_to_content")
            picked = relative.pick_diagonals(product, name=f"{name}.key_diagonals")
            scores = self.graph.node("Add", scores, self.graph.node("Transpose", picked, perm=[0, 1, 3, 2]))
        masked = self.graph.node("Add", scores, self.tokens.mask_scores, name=f"{name}.masked")
        mixed = self.writer.context(masked, values, name=f"{name}.context")
        if cells is None:
            context, residual = self.writer.pack(mixed, self.tokens), hidden
        else:
            context = self.graph.node("Gather", mixed, cells)
            residual = self.graph.node("Gather", hidden, self.graph.node("Gather", self.tokens.cells, cells))
        return self.writer.close(layer, context, residual, value_bias, name=name)  # where the bias is added
