"""Errors of the inference package.

    InferenceError
    ├── RefusedError                   not admitted: nothing was computed
    │   ├── QueueFullError(retry_after_s)     there will be room after that time
    │   ├── ListTooLongError(size, limit)     the queue could never hold the call
    │   ├── NoWorkerError                     every worker is dead and could not be started again yet
    │   └── ShuttingDownError                 the engine is leaving its `async with`
    ├── DeadlineExpiredError           the deadline passed, or could not be met, before compute
    ├── ItemError                      one item failed; its neighbours did not
    │   ├── PoisonedItemError                 it fails even when it is alone in its batch
    │   └── WorkerDiedError                   its worker died with it, twice
    ├── ExecutionProviderError      the settings ask for hardware that is not there
    └── ModelDirectoryError(path)      a model directory cannot be used
        ├── MissingModelError          it, or a file of it, is not there
        ├── ManifestError              its manifest.json is unreadable or wrong
        ├── HashMismatchError          a file's bytes are not those of the manifest
        ├── InexactArithmeticError     it computes in int8, which this CPU sums wrongly
        ├── CoreUnavailableError       the settings ask for the compiled core, which cannot run it here
        └── CorruptModelError          ONNX Runtime cannot load the graph

The errors of making a model directory are in `inference.compile.errors`.
Messages are one line and say what to do. They may name paths, never a user's text.
"""

from __future__ import annotations

from pathlib import Path

_REINSTALL = "run `precis models install` to make it again"


class InferenceError(Exception):
    """Base of every error that this package raises on purpose."""


class RefusedError(InferenceError):
    """The call was not admitted: none of its items was or will be computed."""


class QueueFullError(RefusedError):
    """There is no room for all items of the call now. `retry_after_s` is when there should be."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"the queue is full; try again in {retry_after_s:.2f} s")
        self.retry_after_s = retry_after_s


class ListTooLongError(RefusedError):
    """The call is larger than the whole queue, so trying again cannot help."""

    def __init__(self, size: int, *, limit: int, unit: str) -> None:
        super().__init__(f"the call has {size} {unit}, the queue holds {limit}; send smaller lists")
        self.size = size
        self.limit = limit
        self.unit = unit


class NoWorkerError(RefusedError):
    """No worker is alive, and the last attempt to start one failed. Attempts go on."""

    def __init__(self) -> None:
        super().__init__("no inference worker is running; it is being started again, try later")


class ShuttingDownError(RefusedError):
    """The engine is stopping, and admits nothing more; what it had admitted and not begun is refused."""

    def __init__(self) -> None:
        super().__init__("the engine is shutting down; send the call to another server")


class DeadlineExpiredError(InferenceError):
    """The call's deadline passed before its items were computed, or their compute time would have passed it."""

    def __init__(self) -> None:
        super().__init__("the deadline expired before the items could be computed; allow more time")


class ItemError(InferenceError):
    """One item of a call has no result. The other items are not affected."""


class PoisonedItemError(ItemError):
    """The model fails on this item even when it is alone in its batch."""

    def __init__(self) -> None:
        super().__init__("the model cannot compute this item; leave it out")


class WorkerDiedError(ItemError):
    """The worker died while it computed this item, and died again when it was tried alone."""

    def __init__(self) -> None:
        super().__init__("the worker died while it computed this item; try again later")


class ExecutionProviderError(InferenceError):
    """The execution provider in the settings is not there."""

    def __init__(self, requested: str, *, available: list[str]) -> None:
        super().__init__(
            f"execution provider {requested!r} is not available (ONNX Runtime here offers "
            f"{', '.join(available)}); install the extra `gpu`, or set the provider to `auto` or `cpu`"
            if available
            else "ONNX Runtime is not installed: pip install onnxruntime, or set PRECIS_INFERENCE__BACKEND=core"
        )


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


class HashMismatchError(ModelDirectoryError):
    """A file differs from the one that was compiled and checked."""

    def __init__(self, path: Path, *, expected: str, actual: str) -> None:
        super().__init__(
            path, f"wrong sha256 for {path}: expected {expected[:12]}..., found {actual[:12]}...; {_REINSTALL}"
        )


class InexactArithmeticError(ModelDirectoryError):
    """The model computes in int8, and this CPU's sums of bytes saturate: its answers would be others, and wrong."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"{path} computes in int8_rows, which this CPU sums wrongly; run `precis models install --precision fp32`",
        )


class CoreUnavailableError(ModelDirectoryError):
    """The settings ask for the compiled core, and it cannot run this model on this machine."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(path, f"the compiled core cannot run {path}: {problem}; or set the backend to onnxruntime")


class CorruptModelError(ModelDirectoryError):
    """A model's bytes are as the manifest says, and cannot be loaded, or compute nothing."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(path, f"corrupt model {path}: {problem}; {_REINSTALL}")
