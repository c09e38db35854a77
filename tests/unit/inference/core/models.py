"""Packed files of small random encoders, one for each kind of graph that the core computes."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx

from inference.compile.bert import build_bert_embedder
from inference.compile.config import BertConfig, DebertaConfig
from inference.compile.deberta import DenseLayer, build_claim_checker, build_deberta_classifier, pooled_head
from inference.compile.packed.packing import packed_bytes
from inference.core.library import CoreBatch, CoreLibrary, CoreRunError, InstructionSet, Status, aligned_bytes
from inference.core.packed_file import Rows
from inference.models.directory import ModelDirectory, load_model_directory
from inference.models.manifest import Manifest
from tests.unit.inference import tiny_models
from tests.unit.inference.compile.random_weights import BERT, DEBERTA, bert_weights, classifier_weights, deberta_weights
from tests.unit.inference.tiny_models import EMBEDDING_FIELDS, NLI_FIELDS

MAX_TOKENS = 40
WIDE_BERT = replace(BERT, hidden_size=64, head_count=2)
WIDE_DEBERTA = replace(DEBERTA, hidden_size=128, head_count=2)
Item = tuple[list[int], list[int]]  # ids, and which tokens are marked

_RANDOM = np.random.default_rng(3)
TOKEN_HEAD = DenseLayer(_RANDOM.normal(size=(128, 1)).astype(np.float32), np.full(1, 0.25, np.float32))


def embedder(config: BertConfig = WIDE_BERT, pooling: Any = "mean") -> tuple[onnx.ModelProto, Manifest]:  # noqa: ANN401
    """A BERT embedder."""
    fields = {**EMBEDDING_FIELDS, "dimension": config.hidden_size, "max_tokens": MAX_TOKENS, "pooling": pooling}
    return build_bert_embedder(bert_weights(config), config, pooling=pooling), Manifest.model_validate(fields)


def classifier(config: DebertaConfig = WIDE_DEBERTA, *, has_marks: bool) -> tuple[onnx.ModelProto, Manifest]:
    """A DeBERTa classifier with a head of one layer and marks, or of two layers."""
    manifest = Manifest.model_validate({**NLI_FIELDS, "max_tokens": MAX_TOKENS})
    weights = classifier_weights(config)
    head = pooled_head(weights, "gelu")
    if has_marks:
        return build_claim_checker(deberta_weights(config), config, head[1:], TOKEN_HEAD), manifest
    return build_deberta_classifier(weights, config, head), manifest


GRAPHS: dict[str, Callable[[], tuple[onnx.ModelProto, Manifest]]] = {
    "embedder by mean": embedder,
    "embedder by first token": lambda: embedder(pooling="cls"),
    "embedder with relu": lambda: embedder(replace(WIDE_BERT, activation="relu")),
    "classifier with marks": lambda: classifier(has_marks=True),
    "classifier with a deep head": lambda: classifier(has_marks=False),
    "classifier of four heads": lambda: classifier(replace(WIDE_DEBERTA, head_count=4), has_marks=True),
    "only content to position": lambda: classifier(
        replace(WIDE_DEBERTA, has_position_to_content=False), has_marks=True
    ),
    "only position to content": lambda: classifier(
        replace(WIDE_DEBERTA, has_content_to_position=False), has_marks=True
    ),
}


def write_directory(path: Path, name: str) -> ModelDirectory:
    """Writes one of the random graphs as a model directory."""
    model, manifest = GRAPHS[name]()
    tiny_models.write_directory(path, model, manifest.model_dump(exclude_none=True))
    return load_model_directory(path)


@cache
def packed(name: str, rows: Rows) -> npt.NDArray[np.uint8]:
    """The packed file of a graph."""
    return aligned(packed_bytes(*GRAPHS[name](), rows))


def aligned(data: bytes) -> npt.NDArray[np.uint8]:
    """Copies a file to where the core can read it."""
    room = aligned_bytes(len(data))
    room[:] = np.frombuffer(data, np.uint8)
    return room


def items(count: int, *, seed: int = 11, longest: int = MAX_TOKENS, vocabulary: int = 50) -> list[Item]:
    """Random items of 1 to `longest` tokens, the shortest and the longest among them."""
    random = np.random.default_rng(seed)
    lengths = [1, longest, *random.integers(1, longest + 1, size=count - 2).tolist()]
    return [
        (random.integers(0, vocabulary, size=length).tolist(), random.integers(0, 2, size=length).tolist())
        for length in lengths
    ]


def run(
    library: CoreLibrary, file: npt.NDArray[np.uint8], given: list[Item], level: InstructionSet
) -> tuple[npt.NDArray[np.float32], list[npt.NDArray[np.float32]]]:
    """Computes items in one batch: results, and the marks of each."""
    ids = np.array([number for item, _ in given for number in item], np.int32)
    lengths = np.array([len(item) for item, _ in given], np.int32)
    marked = np.array([number for _, item in given for number in item], np.uint8)
    workspace = library.workspace(file, ids.size)
    try:
        results, marks = library.run(file, CoreBatch(lengths, ids, marked), workspace=workspace, instruction_set=level)
    except CoreRunError as error:
        if error.status != Status.BAD_BATCH:
            raise
        results, marks = library.run(file, CoreBatch(lengths, ids), workspace=workspace, instruction_set=level)
    if marks is None:
        return results, [np.zeros(len(item), np.float32) for item, _ in given]
    return results, np.split(marks, np.cumsum(lengths)[:-1])
