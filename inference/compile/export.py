"""Exports any Hugging Face NLI or sentence-embedding checkpoint to a model directory.

Needs the extra `export` (torch, transformers, Optimum), which the served process never imports. Architectures
that have a writer here get the fast graph, all others Optimum's; either is compared with torch before it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import onnx
from safetensors import SafetensorError

from inference.compile import staging
from inference.compile.bert import Pooling, build_bert_embedder
from inference.compile.checkpoint_files import CheckpointFiles, open_checkpoint_files, write_free_tokenizer
from inference.compile.config import BertConfig, DebertaConfig
from inference.compile.deberta import build_deberta_classifier, pooled_head
from inference.compile.errors import (
    MissingExtraError,
    UnsupportedModelError,
    VerificationError,
    WeightsError,
    first_line,
)
from inference.compile.install import producer_versions
from inference.compile.passes import clean_graph
from inference.compile.probe import LONG_PROBE_TEXT, PROBE_PAIRS, PROBE_TEXTS, ProbeRunner, probe
from inference.compile.quantize import PrecisionChoice, choose_precision, quantize_rows
from inference.compile.weights import Weights
from inference.models.directory import ModelDirectory, load_model_directory
from inference.models.manifest import MODEL_FILE, TOKENIZER_FILE, Manifest, Precision, Task

if TYPE_CHECKING:
    from inference.compile.reference import ReferenceModel

GraphOrigin = Literal["auto", "written", "exported"]

MAX_INT8_DISTANCE = 0.2  # of an item's probabilities or embedding: a cosine of 0.98; the packaged models stay below 0.1


@dataclass(frozen=True)
class ExportOptions:
    """What may be said about a checkpoint beyond what its files say."""

    revision: str | None = None  # branch, tag or commit on the hub
    max_tokens: int | None = None  # less than the checkpoint's own limit
    name: str | None = None  # shown to users; default: the hub id or the folder's name
    license: str | None = None  # default: what the model card states
    graph: GraphOrigin = "auto"  # "written": by us, or an error; "exported": by Optimum; "auto": by us if we can
    labels: Sequence[str] = ()  # of the columns in the model's order, where config.json does not name them
    pair_template: str | None = None  # "$A" the premise, "$B" the hypothesis; default: as the tokenizer joins a pair
    precision: PrecisionChoice = "fp32"  # "auto": int8_rows where it is fast and stays near torch, else fp32


def export_model(
    source: str,
    task: Task,
    output_dir: Path,
    *,
    options: ExportOptions | None = None,
    progress: staging.ProgressListener = staging.no_progress,
) -> ModelDirectory:
    """Makes `output_dir` from a hub id or a local folder; replaces it only when all checks have passed.

    Raises:
        UnsupportedModelError: not such a checkpoint, or one that nothing here can turn into a graph.
        VerificationError: the compiled model does not say what torch says.
        MissingExtraError: the extra `export` is not installed.
    """
    options = options or ExportOptions()
    files = open_checkpoint_files(source, options.revision)
    facts = _facts(files, task, options)  # before anything slow: refusals come at once
    # The steps: reference loaded, graph made, files written, answers compared.
    finish_step = staging.count_steps("export", files.name, 4, progress)
    reference = _load_reference(files, task, options.pair_template)
    finish_step()
    graph, writer = _compile(files, task, reference, options.graph)
    finish_step()
    with staging.locked(output_dir.parent), staging.staged(output_dir) as folder:
        reference.save_tokenizer(folder / TOKENIZER_FILE)
        write_free_tokenizer(folder / TOKENIZER_FILE, folder / TOKENIZER_FILE)
        candidate = _Candidate(folder, graph, writer, reference, facts)
        candidate.write("fp32")
        finish_step()
        candidate.check("fp32")  # in any case: a wrong graph is not to pass for a coarse one
        if choose_precision(options.precision) == "int8_rows":
            _quantize(candidate, may_fail=options.precision == "auto")
    finish_step()
    return load_model_directory(output_dir)


@dataclass(frozen=True)
class _Candidate:
    """A model directory in the making."""

    folder: Path
    graph: onnx.ModelProto
    writer: str  # of the graph: the architecture that has a writer here, or "exported"
    reference: ReferenceModel
    facts: Mapping[str, Any]

    def write(self, precision: Precision) -> None:
        """Writes graph and manifest."""
        graph = quantize_rows(self.graph) if precision == "int8_rows" else self.graph
        onnx.save(graph, self.folder / MODEL_FILE)
        manifest = Manifest(
            **self.facts,
            precision=precision,
            files=staging.describe_files(self.folder),
            inputs=tuple(node.name for node in graph.graph.input),
            pad_token_id=self.reference.pad_token_id,
            producer=producer_versions("torch", "transformers", "optimum-onnx") | {"graph": self.writer},
        )
        staging.write_manifest(self.folder, manifest)

    def check(self, precision: Precision) -> None:
        """Adds to the manifest what was measured. Raises VerificationError."""
        directory = load_model_directory(self.folder)
        measured = probe(directory, must_agree=False) | {
            "reference_delta": _compare(directory, self.reference, precision)
        }
        staging.write_manifest(self.folder, directory.manifest.model_copy(update={"measured": measured}))


def _quantize(candidate: _Candidate, *, may_fail: bool) -> None:
    """Puts the quantized graph in the place of the other. Raises VerificationError unless it may fail."""
    try:
        candidate.write("int8_rows")
        candidate.check("int8_rows")
    except VerificationError:
        if not may_fail:
            raise
        candidate.write("fp32")
        candidate.check("fp32")


def _facts(files: CheckpointFiles, task: Task, options: ExportOptions) -> dict[str, Any]:
    """Returns what the manifest says that follows from the checkpoint's files."""
    limit = files.max_tokens
    facts: dict[str, Any] = {
        "task": task,
        "name": options.name or files.name,
        "revision": files.revision,
        "source": files.source,
        "license": options.license or files.license,
        "max_tokens": min(options.max_tokens or limit, limit),
    }
    if task == "nli":
        return facts | {"id2label": files.id2label(options.labels)}
    return facts | {"dimension": int(files.config["hidden_size"]), "pooling": files.pooling, "normalized": True}


def _load_reference(files: CheckpointFiles, task: Task, pair_template: str | None) -> ReferenceModel:
    try:
        from inference.compile.reference import ReferenceModel  # noqa: PLC0415  # extra `export`
    except ImportError as error:
        raise MissingExtraError(error.name) from error
    try:
        return ReferenceModel(files, task, pair_template)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:  # what transformers raises for bad files
        raise UnsupportedModelError(f"transformers cannot load {files.name}: {first_line(error)}") from error


def _compile(
    files: CheckpointFiles, task: Task, reference: ReferenceModel, origin: GraphOrigin
) -> tuple[onnx.ModelProto, str]:
    """Returns the graph that a writer makes of the weights, or else Optimum's, cleaned; and who wrote it."""
    pooling = files.pooling if task == "embedding" else None
    if origin != "exported":
        try:
            return write_graph(files.config, reference.weights(), pooling), files.config["model_type"]
        except (UnsupportedModelError, WeightsError):
            if origin == "written":
                raise
    from inference.compile.reference import export_with_optimum  # noqa: PLC0415  # extra `export`

    return clean_graph(export_with_optimum(files, task), pooling), "exported"


def write_graph(config: Mapping[str, Any], weights: Weights, pooling: Pooling | None) -> onnx.ModelProto:
    """Writes the model of a config.json afresh, in float32: an embedder where a pooling is given, else a classifier.

    Raises:
        UnsupportedModelError: no writer knows the model.
        WeightsError: the checkpoint lacks weights.
    """
    if pooling is not None:
        return build_bert_embedder(weights, BertConfig.from_huggingface(config), pooling=pooling)
    deberta = DebertaConfig.from_huggingface(config)
    return build_deberta_classifier(weights, deberta, pooled_head(weights, deberta.pooler_activation))


def _compare(directory: ModelDirectory, reference: ReferenceModel, precision: Precision) -> float:
    """Returns the largest difference from torch on the probe texts and a long one, tokenization included.

    Raises VerificationError: it is more than the precision allows.
    """
    manifest, run = directory.manifest, ProbeRunner(directory)
    if manifest.task == "nli":
        pairs = run.fitting([*PROBE_PAIRS, (LONG_PROBE_TEXT, PROBE_TEXTS[0])])
        expected, found = run.finish(reference.logits(pairs)), run.answers(pairs)
    else:
        texts = run.fitting([*PROBE_TEXTS, LONG_PROBE_TEXT])
        expected, found = reference.embeddings(texts, manifest.pooling or "mean"), run.answers(texts)
    delta = float(np.abs(found - expected).max())
    distance = float(np.linalg.norm(found - expected, axis=1).max())
    # In fp32 the delta of a probability or of a coordinate of an embedding stays below 1e-5.
    size, limit = (delta, 1e-3) if precision == "fp32" else (distance, MAX_INT8_DISTANCE)
    if not size <= limit:
        raise VerificationError(
            f"{manifest.name}: the model compiled in {precision} differs from torch by {size:.1e}, "
            f"at most {limit:.0e} is allowed"
        )
    return delta
