"""Loads a model directory and refuses one whose bytes are not those its manifest names."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from inference.errors import HashMismatchError, ManifestError, MissingModelError
from inference.manifest import MANIFEST_FILE, MODEL_FILE, TOKENIZER_FILE, Manifest

_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class ModelDirectory:
    """A folder with a compiled graph, its tokenizer and the manifest that describes both."""

    path: Path
    manifest: Manifest

    @property
    def model_path(self) -> Path:
        """The ONNX graph."""
        return self.path / MODEL_FILE

    @property
    def tokenizer_path(self) -> Path:
        """The tokenizer; it neither pads nor truncates, the caller decides both."""
        return self.path / TOKENIZER_FILE

    @property
    def model_sha256(self) -> str:
        """Hex digest of the graph: the model's identity in responses and cache keys."""
        return self.manifest.files[MODEL_FILE]

    @property
    def size_bytes(self) -> int:
        """Bytes of the files that the manifest lists."""
        return sum((self.path / name).stat().st_size for name in self.manifest.files)


def load_model_directory(path: Path) -> ModelDirectory:
    """Reads the manifest and checks the sha256 of every file it lists.

    Whether the graph itself is sound is found out by whoever makes a session of it.

    Raises:
        MissingModelError: the directory or one of its files is not there.
        ManifestError: the manifest cannot be read or does not describe a model.
        HashMismatchError: a file's bytes differ from what the manifest says.
    """
    directory = read_model_directory(path)
    for name, expected in directory.manifest.files.items():
        file = path / name
        if not file.is_file():
            raise MissingModelError(file)
        actual = sha256_of(file)
        if actual != expected:
            raise HashMismatchError(file, expected=expected, actual=actual)
    return directory


def read_model_directory(path: Path) -> ModelDirectory:
    """Reads the manifest alone; no file is opened, so none is checked.

    Raises:
        MissingModelError: the directory or its manifest is not there.
        ManifestError: the manifest cannot be read or does not describe a model.
    """
    if not path.is_dir():
        raise MissingModelError(path)
    file = path / MANIFEST_FILE
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise MissingModelError(file) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(file, f"unreadable: {error}") from error
    try:
        return ModelDirectory(path, Manifest.model_validate_json(text))
    except ValidationError as error:
        raise ManifestError(file, _first_problem(error)) from error


def sha256_of(file: Path) -> str:
    """Hex digest of a file's bytes, read in blocks."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_READ_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else problem["msg"]
