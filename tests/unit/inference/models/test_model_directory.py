"""Rules of loading and listing model directories."""

import hashlib
from pathlib import Path

import pytest

from inference.errors import HashMismatchError, ManifestError, MissingModelError, ModelDirectoryError
from inference.models.directory import list_models, load_model_directory, read_model_directory, sha256_of
from tests.unit.inference.tiny_models import EMBEDDING_FIELDS, NLI_FIELDS, write_model_directory


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "nli"
    write_model_directory(path)
    return path


def test_a_good_directory_loads_with_its_identity_and_size(directory: Path) -> None:
    loaded = load_model_directory(directory)
    assert loaded.model_sha256 == hashlib.sha256(b"graph").hexdigest()


def assert_says_what_to_do(error: ModelDirectoryError) -> None:
    assert "\n" not in str(error)
    assert "precis models install" in str(error)


@pytest.mark.parametrize("name", ["", "model.onnx", "tokenizer.json", "manifest.json"])
def test_a_missing_directory_or_file_is_named(directory: Path, name: str) -> None:
    missing = directory / name
    missing.rename(directory.parent / "elsewhere")
    with pytest.raises(MissingModelError) as caught:
        load_model_directory(directory)
    assert caught.value.path == missing
    assert_says_what_to_do(caught.value)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_one_changed_byte_is_refused(directory: Path, name: str) -> None:
    file = directory / name
    data = bytearray(file.read_bytes())
    data[0] ^= 1
    file.write_bytes(data)
    with pytest.raises(HashMismatchError, match="wrong sha256") as caught:
        load_model_directory(directory)
    assert f"found {sha256_of(file)[:12]}" in str(caught.value)
    assert_says_what_to_do(caught.value)
    assert read_model_directory(directory).path == directory  # hashes are load's business alone


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"task": "nli"}', b"\x00", b"\xff\xfe{"])
def test_an_unreadable_manifest_is_one_typed_error(directory: Path, content: bytes) -> None:
    (directory / "manifest.json").write_bytes(content)
    with pytest.raises(ManifestError):
        load_model_directory(directory)


def _statuses(models_dir: Path) -> dict[str, str]:
    return {listed.role: listed.status for listed in list_models(models_dir)}


def test_whole_models_are_listed_with_manifest_and_size_and_absent_ones_as_missing(tmp_path: Path) -> None:
    assert _statuses(tmp_path / "absent") == {"nli": "missing", "embedding": "missing"}
    assert all("precis models install" in listed.problem for listed in list_models(tmp_path))
    write_model_directory(tmp_path / "nli", fields=NLI_FIELDS)
    write_model_directory(tmp_path / "embedding", fields=EMBEDDING_FIELDS)
    assert _statuses(tmp_path) == {"nli": "ok", "embedding": "ok"}
    listed = list_models(tmp_path)[0]
    assert listed.manifest is not None
    assert (listed.manifest.name, listed.problem) == ("tiny", "")
    assert listed.size_bytes == sum(file.stat().st_size for file in listed.path.iterdir())


def test_every_kind_of_damage_and_a_model_of_another_task_have_their_own_status(tmp_path: Path) -> None:
    nli = tmp_path / "nli"
    write_model_directory(nli)
    (nli / "model.onnx").write_bytes(b"other")
    assert _statuses(tmp_path)["nli"] == "wrong hash"
    (nli / "model.onnx").unlink()
    assert _statuses(tmp_path)["nli"] == "file missing"
    (nli / "manifest.json").write_text("{}")
    assert _statuses(tmp_path)["nli"] == "invalid manifest"
    (nli / "manifest.json").unlink()
    assert _statuses(tmp_path)["nli"] == "missing"
    write_model_directory(tmp_path / "embedding", fields=NLI_FIELDS)
    listed = {model.role: model for model in list_models(tmp_path)}["embedding"]
    assert listed.status == "invalid manifest"
    assert "task is nli, expected embedding" in listed.problem
