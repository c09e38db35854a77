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
from inference.compile.head import pooled_head
from inference.compile.passes import append_pooling, fold_constants, free_dimensions, keep_output
from inference.compile.weights import Weights

Writer: TypeAlias = Literal["bert", "deberta-v2", "exported"]
_POOLED_OUTPUTS = ("sentence_embedding", EMBEDDING)  # names under which exporters pool in the graph already


@dataclass(frozen=True)
class Compiled:
    """A graph in float32, and who wrote it. Its output is `logits`, or `embedding`, pooled and of length 1."""

    model: onnx.ModelProto
    writer: Writer

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the graph's inputs."""
        return tuple(value.name for value in self.model.graph.input)


def write_graph(config: Mapping[str, Any], weights: Weights, pooling: Pooling | None) -> Compiled:
    """Writes a known architecture afresh: an embedder where a pooling is given, else a classifier.

    Args:
        config: the checkpoint's config.json.

    Raises:
        UnsupportedModelError: no writer knows the model.
        WeightsError: the checkpoint lacks weights.
    """
    if pooling is not None:
        return Compiled(build_bert_embedder(weights, BertConfig.from_huggingface(config), pooling=pooling), "bert")
    deberta = DebertaConfig.from_huggingface(config)
    head = pooled_head(weights, deberta.pooler_activation)
    return Compiled(build_deberta_classifier(weights, deberta, head), "deberta-v2")


def clean_graph(exported: onnx.ModelProto, pooling: Pooling | None) -> Compiled:
    """Cleans an exporter's graph. Raises UnsupportedModelError when it lacks the output of its task."""
    if pooling is None:
        model = keep_output(exported, LOGITS)
    else:
        names = [output.name for output in exported.graph.output]
        pooled = next((name for name in _POOLED_OUTPUTS if name in names), None)
        model = append_pooling(keep_output(exported, pooled or names[0]), None if pooled else pooling)
    return Compiled(fold_constants(free_dimensions(model)), "exported")
