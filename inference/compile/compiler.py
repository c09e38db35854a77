"""Compiles a checkpoint, or whatever graph an exporter made of it, into a fast graph.

A known architecture is written afresh from its weights (`bert`, `deberta`). Anything else keeps the exported graph,
cleaned by the passes, and leaves fusions to ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import onnx

from inference.compile.bert import EMBEDDING, Pooling, build_bert_embedder
from inference.compile.config import BertConfig, DebertaConfig
from inference.compile.deberta import LOGITS, build_deberta_classifier
from inference.compile.errors import UnsupportedModelError, WeightsError
from inference.compile.head import Head, pooled_head
from inference.compile.passes import append_normalization, append_pooling, fold_constants, free_dimensions, keep_output
from inference.compile.weights import Weights

Writer: TypeAlias = Literal["bert", "deberta-v2", "exported"]
_POOLED_OUTPUTS = ("sentence_embedding", EMBEDDING)  # names under which exporters pool in the graph already


@dataclass(frozen=True)
class Checkpoint:
    """A model as it comes: what Hugging Face says about it, and its numbers in one or both forms."""

    config: Mapping[str, Any]  # config.json
    weights: Weights
    exported: onnx.ModelProto | None = None  # used when no writer knows the architecture


@dataclass(frozen=True)
class Compiled:
    """A graph in float32, and who wrote it."""

    model: onnx.ModelProto
    writer: Writer
    reason: str = ""  # why the exported graph was kept

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the graph's inputs."""
        return tuple(value.name for value in self.model.graph.input)

    @property
    def width(self) -> int:
        """Columns of the output: labels, or the dimension of embeddings; 0 if the graph does not say."""
        return int(self.model.graph.output[0].type.tensor_type.shape.dim[-1].dim_value)


def compile_nli(checkpoint: Checkpoint, *, head: Head | None = None) -> Compiled:
    """Makes a graph with the output `logits`.

    Args:
        checkpoint: a sequence classifier, or an encoder for `head`.
        head: what reads the state of [CLS]; by default the checkpoint's own pooler and classifier.

    Raises:
        UnsupportedModelError: no writer knows the model, and there is no exported graph.
        WeightsError: the checkpoint lacks weights, and there is no exported graph.
    """
    try:
        config = DebertaConfig.from_huggingface(checkpoint.config)
        chosen = pooled_head(checkpoint.weights, config.pooler_activation) if head is None else head
        return Compiled(build_deberta_classifier(checkpoint.weights, config, chosen), "deberta-v2")
    except (UnsupportedModelError, WeightsError) as error:
        if checkpoint.exported is None or head is not None:
            raise
        return Compiled(_cleaned(keep_output(checkpoint.exported, LOGITS)), "exported", str(error))


def compile_embedder(checkpoint: Checkpoint, *, pooling: Pooling, normalize: bool) -> Compiled:
    """Makes a graph with the output `embedding`, pooled, and normalized if asked for.

    Raises:
        UnsupportedModelError: no writer knows the model, and there is no exported graph.
        WeightsError: the checkpoint lacks weights, and there is no exported graph.
    """
    try:
        config = BertConfig.from_huggingface(checkpoint.config)
        model = build_bert_embedder(checkpoint.weights, config, pooling=pooling, normalize=normalize)
        return Compiled(model, "bert")
    except (UnsupportedModelError, WeightsError) as error:
        if checkpoint.exported is None:
            raise
        pooled = _pooled(checkpoint.exported, pooling=pooling, normalize=normalize)
        return Compiled(_cleaned(pooled), "exported", str(error))


def _pooled(exported: onnx.ModelProto, *, pooling: Pooling, normalize: bool) -> onnx.ModelProto:
    names = [output.name for output in exported.graph.output]
    pooled = next((name for name in _POOLED_OUTPUTS if name in names), None)
    if pooled is None:
        model = append_pooling(keep_output(exported, names[0]), pooling)
    else:
        model = keep_output(exported, pooled, renamed=EMBEDDING)
    return append_normalization(model) if normalize else model


def _cleaned(model: onnx.ModelProto) -> onnx.ModelProto:
    return fold_constants(free_dimensions(model))
