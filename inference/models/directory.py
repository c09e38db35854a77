"""Loads a model directory and refuses one whose bytes are not those its manifest names.

Also lists what a models folder holds, and whether each model is whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from pydantic import ValidationError

from inference.errors import HashMismatchError, ManifestError, MissingModelError, ModelDirectoryError
from inference.models.manifest import MANIFEST_FILE, MODEL_FILE, TOKENIZER_FILE, Manifest, Task


@dataclass(frozen=True)
class ModelDirectory:
    """A folder with a compiled graph, its tokenizer and the manifest that describes both."""

    path: Path
    manifest: Manifest
    weights_file: str = MODEL_FILE  # what answers are computed from

    @property
    def model_path(self) -> Path:
        """The ONNX graph. Raises MissingModelError for a directory that has the core's weights alone."""
        if MODEL_FILE not in self.manifest.files:
            raise MissingModelError(self.path / MODEL_FILE)
        return self.path / MODEL_FILE

    @property
    def tokenizer_path(self) -> Path:
        """The tokenizer; it neither pads nor truncates, the caller decides both."""
        return self.path / TOKENIZER_FILE

    @property
    def model_sha256(self) -> str:
        """Hex digest of what answers are computed from: the model's identity in responses and cache keys."""
        return self.manifest.files[self.weights_file]

    def computed_from(self, weights_file: str) -> ModelDirectory:
        """Returns the directory as its identity is when the core computes packed weights: the same beside any graph."""
        manifest = self.manifest.model_copy(update={"precision": self.manifest.core_precision})
        return replace(self, manifest=manifest, weights_file=weights_file)


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
        check_sha256(file, expected)
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


def check_sha256(file: Path, expected: str) -> None:
    """Raises HashMismatchError where a file's bytes are others."""
    if (actual := sha256_of(file)) != expected:
        raise HashMismatchError(file, expected=expected, actual=actual)


def sha256_of(file: Path) -> str:
    """Hex digest of a file's bytes, read in blocks."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else problem["msg"]


ModelStatus = Literal["ok", "missing", "invalid manifest", "file missing", "wrong hash"]
ROLES: tuple[Task, ...] = get_args(Task)


@dataclass(frozen=True)
class ListedModel:
    """One role's model directory as it is found. `manifest` is None when it could not be read."""

    role: Task
    path: Path
    status: ModelStatus
    problem: str  # empty when the status is ok; else one line that says what to do
    manifest: Manifest | None
    size_bytes: int  # of the files that are there


def list_models(models_dir: Path) -> tuple[ListedModel, ...]:
    """Checks the directory of every role, hashes included. Raises nothing: a problem is part of the answer."""
    return tuple(_list(role, models_dir / role) for role in ROLES)


def _list(role: Task, path: Path) -> ListedModel:
    manifest: Manifest | None = None
    try:
        manifest = read_model_directory(path).manifest
        load_model_directory(path)
        if manifest.task != role:
            raise ManifestError(path / MANIFEST_FILE, f"task is {manifest.task}, expected {role}")
    except ModelDirectoryError as error:
        return ListedModel(role, path, _status(error, path), str(error), manifest, _size_bytes(path))
    return ListedModel(role, path, "ok", "", manifest, _size_bytes(path))


def _status(error: ModelDirectoryError, path: Path) -> ModelStatus:
    if isinstance(error, HashMismatchError):
        return "wrong hash"
    if isinstance(error, MissingModelError):
        return "missing" if error.path in {path, path / MANIFEST_FILE} else "file missing"
    return "invalid manifest"


def _size_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.iterdir() if file.is_file()) if path.is_dir() else 0
