"""Errors of the inference package.

    InferenceError
    └── ModelDirectoryError(path)      a model directory cannot be used
        ├── MissingModelError          it, or a file of it, is not there
        ├── ManifestError              its manifest.json is unreadable or wrong
        ├── HashMismatchError          a file's bytes are not those of the manifest
        └── CorruptModelError          ONNX Runtime cannot load the graph

The errors of making a model directory are in `inference.compile.errors`.
Messages are one line and say what to do. They may name paths, never a user's text.
"""

from __future__ import annotations

from pathlib import Path

_REINSTALL = "run `precis models install` to make it again"


class InferenceError(Exception):
    """Base of every error that this package raises on purpose."""


class ModelDirectoryError(InferenceError):
    """A model directory cannot be used. `path` is the folder or file at fault."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


class MissingModelError(ModelDirectoryError):
    """The directory, or a file that its manifest lists, is not there."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"model not found: {path} is missing; run `precis models install`, "
            "or point PRECIS_MODELS_DIR at the folder that holds the models",
        )


class ManifestError(ModelDirectoryError):
    """manifest.json cannot be read, or does not describe a model."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(path, f"invalid manifest {path}: {problem}; {_REINSTALL}")
        self.problem = problem


class HashMismatchError(ModelDirectoryError):
    """A file differs from the one that was compiled and checked."""

    def __init__(self, path: Path, *, expected: str, actual: str) -> None:
        super().__init__(
            path,
            f"wrong sha256 for {path}: expected {expected[:12]}..., found {actual[:12]}...; {_REINSTALL}",
        )
        self.expected = expected
        self.actual = actual


class CorruptModelError(ModelDirectoryError):
    """The graph's bytes are as the manifest says, but ONNX Runtime cannot load them."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(path, f"corrupt model {path}: {problem}; {_REINSTALL}")
        self.problem = problem
