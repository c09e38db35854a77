"""BERT and DeBERTa-v2 in plain numpy, float64, one item at a time, as their papers write them.

No tricks: explicit loops over heads, an index for every distance, no masks because nothing is padded.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.compile.config import BertConfig, DebertaConfig

Array = NDArray[np.float64]
Weights = Mapping[str, NDArray[np.float32]]


def bert_embedding(weights: Weights, config: BertConfig, ids: list[int], *, pooling: str = "mean") -> Array:
    """Returns the normalized embedding of one text."""
    words = weights["embeddings.word_embeddings.weight"][ids]
    places = weights["embeddings.position_embeddings.weight"][: len(ids)]
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    hidden = _norm(words.astype(np.float64) + places + kind, weights, "embeddings.LayerNorm", config.layer_norm_eps)
    for index in range(config.layer_count):
        prefix = f"encoder.layer.{index}"
        query, key, value = (
            _linear(hidden, weights, f"{prefix}.attention.self.{part}") for part in ("query", "key", "value")
        )
        heads = [slice(start, start + config.head_size) for start in range(0, config.hidden_size, config.head_size)]
        contexts = [
            _softmax(query[:, head] @ key[:, head].T / math.sqrt(config.head_size)) @ value[:, head] for head in heads
        ]
        hidden = _close_layer(hidden, np.concatenate(contexts, axis=1), weights, prefix, config)
    pooled = hidden.mean(axis=0) if pooling == "mean" else hidden[0]
    return np.asarray(pooled / np.linalg.norm(pooled))


def deberta_first_token(
    weights: Weights, config: DebertaConfig, ids: list[int], token_types: list[int] | None = None
) -> Array:
    """Returns the hidden state of the first token of one text."""
    return np.asarray(deberta_states(weights, config, ids, token_types)[0])


def deberta_states(
    weights: Weights, config: DebertaConfig, ids: list[int], token_types: list[int] | None = None
) -> Array:
    """Returns the hidden states of all tokens of one text."""
    hidden = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    if config.has_absolute_positions:
        hidden = hidden + weights["embeddings.position_embeddings.weight"][: len(ids)]
    if token_types is not None:
        hidden = hidden + weights["embeddings.token_type_embeddings.weight"][token_types]
    if "embeddings.embed_proj.weight" in weights:
        hidden = hidden @ weights["embeddings.embed_proj.weight"].T
    hidden = _norm(hidden, weights, "embeddings.LayerNorm", config.layer_norm_eps)
    for index in range(config.layer_count):
        context = _disentangled_context(hidden, weights, f"encoder.layer.{index}.attention.self", config)
        hidden = _close_layer(hidden, context, weights, f"encoder.layer.{index}", config)
    return hidden


def bucket_of(distance: int, config: DebertaConfig) -> int:
    """Returns the row of the relative embeddings for query position minus key position."""
    span = config.position_buckets or config.max_relative_positions
    bucket = distance
    middle = config.position_buckets // 2
    if config.position_buckets and abs(distance) > middle:
        growth = math.log(abs(distance) / middle) / math.log((config.max_relative_positions - 1) / middle)
        bucket = int(math.copysign(math.ceil(growth * (middle - 1) - 1e-6) + middle, distance))
    return min(max(bucket + span, 0), 2 * span - 1)


def gelu(value: NDArray[np.floating[Any]]) -> Array:
    """The exact form, with the error function."""
    return np.asarray(value * 0.5 * (1 + np.vectorize(math.erf)(value / math.sqrt(2))))


def _disentangled_context(hidden: Array, weights: Weights, name: str, config: DebertaConfig) -> Array:
    query, key, value = (_linear(hidden, weights, f"{name}.{part}_proj") for part in ("query", "key", "value"))
    span = config.position_buckets or config.max_relative_positions
    relative = weights["encoder.rel_embeddings.weight"][: 2 * span].astype(np.float64)
    if config.normalizes_relative_embeddings:
        relative = _norm(relative, weights, "encoder.LayerNorm", config.layer_norm_eps)
    shared = "" if config.shares_attention_key else "pos_"
    terms = 1 + config.has_content_to_position + config.has_position_to_content
    contexts = []
    for start in range(0, config.hidden_size, config.head_size):
        head = slice(start, start + config.head_size)
        scores = query[:, head] @ key[:, head].T
        for i in range(len(hidden)):
            for j in range(len(hidden)):
                row = relative[bucket_of(i - j, config)][np.newaxis]
                if config.has_content_to_position:
                    scores[i, j] += query[i, head] @ _linear(row, weights, f"{name}.{shared}key_proj")[0, head]
                if config.has_position_to_content:
                    scores[i, j] += key[j, head] @ _linear(row, weights, f"{name}.{shared}query_proj")[0, head]
        contexts.append(_softmax(scores / math.sqrt(config.head_size * terms)) @ value[:, head])
    return np.concatenate(contexts, axis=1)


def _close_layer(
    hidden: Array, context: Array, weights: Weights, prefix: str, config: BertConfig | DebertaConfig
) -> Array:
    activations: dict[str, Callable[[Array], Array]] = {"gelu": gelu, "relu": lambda value: np.maximum(value, 0)}
    output = hidden + _linear(context, weights, f"{prefix}.attention.output.dense")
    attended = _norm(output, weights, f"{prefix}.attention.output.LayerNorm", config.layer_norm_eps)
    inner = activations[config.activation](_linear(attended, weights, f"{prefix}.intermediate.dense"))
    outer = attended + _linear(inner, weights, f"{prefix}.output.dense")
    return _norm(outer, weights, f"{prefix}.output.LayerNorm", config.layer_norm_eps)


def _linear(rows: Array, weights: Weights, name: str) -> Array:
    product = rows @ weights[f"{name}.weight"].T.astype(np.float64)
    if f"{name}.down" in weights:  # an update of low rank
        product = product + (rows @ weights[f"{name}.down"].T) @ weights[f"{name}.up"].T
    return np.asarray(product + weights[f"{name}.bias"] if f"{name}.bias" in weights else product)


def _norm(rows: Array, weights: Weights, name: str, epsilon: float) -> Array:
    centered = rows - rows.mean(axis=-1, keepdims=True)
    scaled = centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + epsilon)
    return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])


def _softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
