"""Writes the classification head, which turns the hidden state of [CLS] into logits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from inference.compile.config import Activation
from inference.compile.graph import GraphBuilder
from inference.compile.layers import activate
from inference.compile.weights import Float32, Weights, head_scope


@dataclass(frozen=True)
class DenseLayer:
    """One layer of a head: activation(x @ weight + bias)."""

    weight: Float32  # (inputs, outputs)
    bias: Float32  # (outputs,)
    activation: Activation = "identity"


Head: TypeAlias = tuple[DenseLayer, ...]


def pooled_head(weights: Weights, pooler_activation: Activation) -> Head:
    """Reads the head of a `...ForSequenceClassification` checkpoint: a dense pooler, then a classifier."""
    scope = head_scope(weights)
    return (
        DenseLayer(*scope.linear("pooler.dense"), activation=pooler_activation),
        DenseLayer(*scope.linear("classifier")),
    )


def write_head(graph: GraphBuilder, hidden: str, head: Head) -> str:
    """Applies the layers of `head` to rows of shape (batch, hidden) and returns (batch, labels)."""
    for index, layer in enumerate(head):
        weight = graph.weight(f"head.{index}.weight", layer.weight)
        bias = graph.weight(f"head.{index}.bias", layer.bias)
        product = graph.node("Gemm", hidden, weight, bias, name=f"head.{index}")
        hidden = activate(graph, product, layer.activation)
    return hidden
