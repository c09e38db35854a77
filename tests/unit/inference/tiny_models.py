"""Model directories of a few kilobytes: one attention layer with random weights and a word tokenizer, or no model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper, parser
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from inference.compile.staging import describe_files, write_manifest
from inference.config import InferenceConfig
from inference.engine import Engine
from inference.models.manifest import Manifest

NLI_FIELDS: dict[str, Any] = {
    "task": "nli",
    "name": "tiny",
    "revision": "1",
    "source": "a test",
    "license": "Apache-2.0",
    "files": {"model.onnx": "0" * 64, "tokenizer.json": "1" * 64},
    "inputs": ["input_ids", "attention_mask"],
    "max_tokens": 512,
    "pad_token_id": 0,
    "precision": "fp32",
    "id2label": {0: "contradiction", 1: "entailment", 2: "neutral"},
}

EMBEDDING_FIELDS: dict[str, Any] = {
    **{key: value for key, value in NLI_FIELDS.items() if key != "id2label"},
    "task": "embedding",
    "dimension": 384,
    "pooling": "mean",
    "normalized": True,
}

DIMENSION = 16
MAX_TOKENS = 64
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(200))]
FRAME = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
)

_HIDDEN = """
    table_rows = Gather (table, input_ids)
    query = MatMul (table_rows, query_weight)
    key = MatMul (table_rows, key_weight)
    key_columns = Transpose <perm = [0, 2, 1]> (key)
    scores = MatMul (query, key_columns)
    mask = Cast <to = 1> (attention_mask)
    column_mask = Unsqueeze (mask, one)
    row_mask = Unsqueeze (mask, two)
    absent = Sub (unit, column_mask)
    bias = Mul (absent, minus_many)
    masked = Add (scores, bias)
    attention = Softmax <axis = -1> (masked)
    mixed = MatMul (attention, table_rows)
    hidden = Tanh (mixed)
    kept = Mul (hidden, row_mask)
    sums = CumSum (kept, one)
    total = Gather <axis = 1> (sums, last)
"""
_EMBEDDING = "embedding = LpNormalization <axis = 1, p = 2> (total)"
_NLI = "logits = MatMul (total, head)"


def write_tiny_embedder(path: Path) -> Manifest:
    """Writes a model directory of task `embedding` whose inputs have no token types."""
    fields = {**EMBEDDING_FIELDS, "dimension": DIMENSION, "max_tokens": MAX_TOKENS}
    return write_directory(path, _model(f"float[rows, {DIMENSION}] embedding", _EMBEDDING), fields)


def write_tiny_nli(path: Path) -> Manifest:
    """Writes a model directory of task `nli`; its label order is that of `NLI_FIELDS`."""
    return write_directory(path, _model("float[rows, 3] logits", _NLI), {**NLI_FIELDS, "max_tokens": MAX_TOKENS})


def write_directory(path: Path, model: onnx.ModelProto, fields: Mapping[str, Any]) -> Manifest:
    """Writes a model directory of any graph, with the tokenizer of `write_tiny_tokenizer`."""
    path.mkdir(parents=True)
    onnx.save(model, path / "model.onnx")
    write_tiny_tokenizer(path / "tokenizer.json")
    inputs = [node.name for node in model.graph.input]
    manifest = Manifest.model_validate({**fields, "inputs": inputs, "files": describe_files(path)})
    write_manifest(path, manifest)
    return manifest


def write_model_directory(path: Path, *, fields: dict[str, Any] | None = None) -> Manifest:
    """Writes files that are no model, and a manifest that describes them rightly."""
    path.mkdir(parents=True)
    (path / "model.onnx").write_bytes(b"graph")
    (path / "tokenizer.json").write_bytes(b"{}")
    manifest = Manifest.model_validate({**(fields or NLI_FIELDS), "files": describe_files(path)})
    write_manifest(path, manifest)
    return manifest


def make_engine(models_dir: Path, **config: object) -> Engine:
    """An engine of two threads that is quickly there; `config` goes to InferenceConfig."""
    runtime = {"execution_provider": "cpu", "workers": 2, "warmup_s": 0.05}
    return Engine(models_dir, InferenceConfig.model_validate({"runtime": runtime} | config))


def word_tokenizer(vocabulary: Sequence[str]) -> Tokenizer:
    """A tokenizer of words that frames texts as BERT does; the first four words are the special tokens."""
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(vocabulary)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(["[PAD]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = FRAME
    return tokenizer


def write_tiny_tokenizer(path: Path) -> None:
    """Writes a tokenizer that knows the words w0 to w199."""
    word_tokenizer(VOCABULARY).save(str(path))


def _model(output: str, last: str) -> onnx.ModelProto:
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    tiny (int64[rows, length] input_ids, int64[rows, length] attention_mask) => ({output}) {{{_HIDDEN}{last}}}"""
    model = parser.parse_model(text)
    model.graph.initializer.extend(_weights())
    onnx.checker.check_model(model)
    return model


def _weights() -> list[onnx.TensorProto]:
    random = np.random.default_rng(7)
    arrays = {
        "table": random.normal(size=(len(VOCABULARY), DIMENSION)).astype(np.float32),
        "query_weight": random.normal(size=(DIMENSION, DIMENSION)).astype(np.float32),
        "key_weight": random.normal(size=(DIMENSION, DIMENSION)).astype(np.float32),
        "head": random.normal(size=(DIMENSION, 3)).astype(np.float32),
        "unit": np.float32(1),
        "minus_many": np.float32(-1e9),
        "last": np.array(-1, np.int64),
        "one": np.array([1], np.int64),
        "two": np.array([2], np.int64),
    }
    return [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
