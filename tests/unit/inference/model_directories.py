"""Small model directories for tests: right manifests over files of a few bytes."""

from pathlib import Path
from typing import Any

from inference.compile.staging import describe_files, write_manifest
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


def write_model_directory(path: Path, *, fields: dict[str, Any] | None = None) -> Manifest:
    """Writes files that are no model, and a manifest that describes them rightly."""
    path.mkdir(parents=True)
    (path / "model.onnx").write_bytes(b"graph")
    (path / "tokenizer.json").write_bytes(b"{}")
    manifest = Manifest.model_validate({**(fields or NLI_FIELDS), "files": describe_files(path)})
    write_manifest(path, manifest)
    return manifest
