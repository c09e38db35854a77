"""Writes a model directory atomically: readers see the old one or the new one, never a half.

Files go to a temporary folder beside the target, are flushed to disk, and the folder is renamed.
A lock file keeps two installs of one folder apart. It dies with its process: a temporary folder found under the lock is
left over from an interrupted run and may go.
Long work reports its progress to the caller.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal

from inference.models.directory import sha256_of
from inference.models.manifest import MANIFEST_FILE, Manifest

_PARTIAL = ".partial-"
_REPLACED = ".replaced-"
_LOCK_FILE = ".lock"


@contextmanager
def locked(models_dir: Path) -> Iterator[None]:
    """Makes `models_dir` if needed and holds its lock; waits for another install to end."""
    models_dir.mkdir(parents=True, exist_ok=True)
    with (models_dir / _LOCK_FILE).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def staged(target: Path) -> Iterator[Path]:
    """Yields an empty folder that takes the place of `target` when the block ends without error.

    The caller holds the lock of `target.parent`. On an error `target` stays as it was.
    """
    for mark in (_PARTIAL, _REPLACED):
        for leftover in target.parent.glob(f".{target.name}{mark}*"):
            shutil.rmtree(leftover)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}{_PARTIAL}", dir=target.parent))
    try:
        yield folder
        folder.chmod(0o755)  # mkdtemp makes it private; a server may run as another user
        for path in (*folder.iterdir(), folder):
            _flush(path)
        _replace(target, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def describe_files(folder: Path) -> dict[str, str]:
    """Returns name -> sha256 of every file in `folder`, the manifest excepted."""
    files = sorted(file for file in folder.iterdir() if file.name != MANIFEST_FILE)
    return {file.name: sha256_of(file) for file in files}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes manifest.json, for people and for `load_model_directory`."""
    text = manifest.model_dump_json(indent=2, exclude_none=True)
    (folder / MANIFEST_FILE).write_text(text + "\n", encoding="utf-8")


def _replace(target: Path, folder: Path) -> None:
    if not target.exists():
        folder.rename(target)
        return
    # A folder with files in it cannot be renamed over. Between the two renames nothing stands at
    # `target`; a crash there loses no bytes and the next install starts afresh.
    replaced = Path(tempfile.mkdtemp(prefix=f".{target.name}{_REPLACED}", dir=target.parent))
    target.rename(replaced / target.name)
    folder.rename(target)
    shutil.rmtree(replaced)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class ProgressEvent:
    """One step of work on one thing.

    `done` and `total` count `unit`s; `total` is None while it is not known. A step ends with an
    event whose `done` equals its `total`.
    """

    step: str
    subject: str
    done: int
    total: int | None
    unit: Literal["bytes", "steps"]


# Called on the thread that does the work, at the start, now and then, and at the end of every step. Must not raise.
ProgressListener = Callable[[ProgressEvent], None]


def no_progress(event: ProgressEvent, /) -> None:
    """Ignores progress."""


def count_steps(step: str, subject: str, total: int, progress: ProgressListener) -> Callable[[], None]:
    """Returns what tells the caller of one more finished part of a step, and tells of none yet."""
    finished = count()

    def finish() -> None:
        progress(ProgressEvent(step, subject, next(finished), total, "steps"))

    finish()
    return finish
