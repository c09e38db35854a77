"""Lists what a models folder holds, and whether each model is whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from inference.errors import (
    HashMismatchError,
    ManifestError,
    MissingModelError,
    ModelDirectoryError,
)
from inference.manifest import MANIFEST_FILE, Manifest, Task
from inference.model_directory import load_model_directory, read_model_directory

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
