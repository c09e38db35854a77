"""The compiled core behind the backend seam, and whether it can run a model directory.

A batch is run in groups of at most `_MAX_RUN_TOKENS` tokens, so a thread needs room for that many and no more. Padding
is dropped before the run: tokens are what a batch costs.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from inference.backend import Float32, Int64
from inference.core.library import Bytes, CoreBatch, CoreLibrary, InstructionSet, Int32, Status, aligned_bytes
from inference.core.packed_file import CORE_FILE, FILE_VERSION, ROWS, file_version, read_header
from inference.errors import CorruptModelError, HashMismatchError
from inference.models.directory import ModelDirectory
from inference.models.manifest import MODEL_FILE

NOT_COMPILED = "the core was not compiled: install Precis again where a C compiler is"
_MAX_RUN_TOKENS = 512  # the longest row; more together would be no faster


class CoreBackend:
    """A packed file, shared by all threads that run it. Each run takes a workspace and puts it back."""

    def __init__(
        self,
        path: Path,
        library: CoreLibrary,
        instruction_set: InstructionSet | None = None,
        *,
        sha256: str | None = None,
    ) -> None:
        """Takes a copy of the file, which nobody can change or cut short under a server.

        Raises:
            HashMismatchError: the copy has another hash.
            CorruptModelError: it is not a packed file of this version, or not whole.
        """
        self._library = library
        self._instruction_set = library.level if instruction_set is None else instruction_set
        self._file = aligned_bytes(path.stat().st_size)
        with path.open("rb") as file:
            file.readinto(self._file.data)
        if sha256 is not None and (actual := hashlib.sha256(self._file.data).hexdigest()) != sha256:
            raise HashMismatchError(path, expected=sha256, actual=actual)
        if library.check(self._file) != Status.OK:
            raise CorruptModelError(path, f"it is not a whole packed file of version {FILE_VERSION}")
        self._has_marks = bool(read_header(self._file)["has_marks"])
        self._workspaces: deque[Bytes] = deque()  # one for each thread that ever ran at the same time
        self._stop = np.zeros(1, np.int32)

    @property
    def execution_provider(self) -> str:
        """The core, and the instruction set that it uses."""
        return f"PrecisCore-{self._instruction_set.name}"

    def run(self, inputs: Mapping[str, Int64]) -> Float32:
        """See `Backend.run`. Releases the GIL while the core runs."""
        mask = inputs["attention_mask"].astype(bool)
        lengths = mask.sum(axis=1, dtype=np.int32)
        ids = inputs["input_ids"][mask].astype(np.int32)
        marked = inputs["token_type_ids"][mask].astype(np.uint8) if self._has_marks else None
        try:
            workspace = self._workspaces.pop()
        except IndexError:
            workspace = self._library.workspace(self._file, _MAX_RUN_TOKENS)
        try:
            run = partial(
                self._library.run, workspace=workspace, instruction_set=self._instruction_set, stop=self._stop
            )
            groups = [run(self._file, batch) for batch in _groups(lengths, ids, marked)]
        finally:
            self._workspaces.append(workspace)
        results = np.concatenate([result for result, _ in groups])
        if not self._has_marks:
            return results
        marks = np.zeros(mask.shape, np.float32)
        marks[mask] = np.concatenate([numbers for _, numbers in groups if numbers is not None])
        return np.concatenate([results, marks], axis=1)

    def reopen(self) -> None:
        """Does nothing: there is no device state that could have died."""

    def interrupt(self) -> None:
        """Makes runs in progress, and all later ones, end with an error at the next layer."""
        self._stop[0] = 1


def _groups(lengths: Int32, ids: Int32, marked: Bytes | None) -> Iterator[CoreBatch]:
    """Cuts a batch into runs."""
    ends = np.cumsum(lengths)
    first = 0
    while first < lengths.size:
        start = int(ends[first]) - int(lengths[first])
        last = max(int(np.searchsorted(ends, start + _MAX_RUN_TOKENS, side="right")), first + 1)
        cells = slice(start, int(ends[last - 1]))
        some = None if marked is None else np.ascontiguousarray(marked[cells])
        yield CoreBatch(np.ascontiguousarray(lengths[first:last]), np.ascontiguousarray(ids[cells]), some)
        first = last


def core_problem(directory: ModelDirectory, library: CoreLibrary | None, *, device: str, must: bool) -> str:
    """Returns why the core cannot run a model here; nothing if it can.

    Args:
        directory: loaded, so its hashes are right.
        library: None where the core was not compiled.
        must: whether slow code will do.
    """
    if device != "cpu":
        return f"the core computes on the CPU, not on {device}"
    if library is None:
        return NOT_COMPILED
    if library.level == InstructionSet.SCALAR and not must:
        return "the core has no fast code for this CPU"
    return packing_problem(directory)


def packing_problem(directory: ModelDirectory) -> str:
    """Returns what keeps this version from computing the packed weights of a directory; nothing if they are there."""
    manifest, repack = directory.manifest, "run `precis models pack`"
    if manifest.core is None or CORE_FILE not in manifest.files:
        return f"the model has no packed weights: {repack}"
    if manifest.core not in ROWS or file_version(directory.path / CORE_FILE) != FILE_VERSION:
        return f"this version does not compute {manifest.core} as it was packed: {repack}"
    if manifest.core_source != manifest.files.get(MODEL_FILE, manifest.core_source):
        return f"the weights were packed from another {MODEL_FILE}: {repack}"
    return ""
