"""Rules of loading a model directory."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from inference.errors import HashMismatchError, ManifestError, MissingModelError, ModelDirectoryError
from inference.models.directory import load_model_directory, read_model_directory, sha256_of
from tests.unit.inference.model_directories import write_model_directory


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "nli"
    write_model_directory(path)
    return path


def test_a_good_directory_loads_with_its_identity_and_size(directory: Path) -> None:
    loaded = load_model_directory(directory)
    assert loaded.model_sha256 == hashlib.sha256(b"graph").hexdigest()
    assert loaded.size_bytes == len(b"graph") + len(b"{}")


def test_a_missing_directory_says_which_command_makes_one(tmp_path: Path) -> None:
    with pytest.raises(MissingModelError, match="precis models install"):
        load_model_directory(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "manifest.json"])
def test_a_missing_file_is_named(directory: Path, name: str) -> None:
    (directory / name).unlink()
    with pytest.raises(MissingModelError) as caught:
        load_model_directory(directory)
    assert caught.value.path == directory / name


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_one_changed_byte_is_refused(directory: Path, name: str) -> None:
    file = directory / name
    data = bytearray(file.read_bytes())
    data[0] ^= 1
    file.write_bytes(data)
    with pytest.raises(HashMismatchError, match="wrong sha256") as caught:
        load_model_directory(directory)
    assert f"found {sha256_of(file)[:12]}" in str(caught.value)
    assert read_model_directory(directory).path == directory  # hashes are load's business alone


@pytest.mark.parametrize("text", ["", "{", "[]", '{"task": "nli"}', "\x00"])
def test_an_unreadable_manifest_is_one_typed_error(directory: Path, text: str) -> None:
    (directory / "manifest.json").write_text(text)
    with pytest.raises(ManifestError):
        load_model_directory(directory)


def test_a_manifest_in_another_encoding_is_one_typed_error(directory: Path) -> None:
    (directory / "manifest.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(ManifestError, match="unreadable"):
        load_model_directory(directory)


@pytest.mark.parametrize("content", [b"other", None])
def test_every_message_is_one_line_that_says_what_to_do(directory: Path, content: bytes | None) -> None:
    graph = directory / "model.onnx"
    graph.unlink()
    if content is not None:
        graph.write_bytes(content)
    with pytest.raises(ModelDirectoryError) as caught:
        load_model_directory(directory)
    assert "\n" not in str(caught.value)
    assert "precis models install" in str(caught.value)
