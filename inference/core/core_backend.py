"""The compiled core behind the backend seam, and whether it can run a model directory.

A batch is run in groups of at most `_MAX_RUN_TOKENS` tokens, so a thread needs room for that many and no more. Padding
is dropped before the run: tokens are what a batch costs.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from inference.backend import Float32, Int64
from inference.core.library import Bytes, CoreBatch, CoreLibrary, InstructionSet, Int32, Status
from inference.core.packed_file import CORE_FILE, FILE_VERSION, ROW_BITS, map_file, read_header
from inference.errors import CoreUnavailableError, CorruptModelError
from inference.models.directory import ModelDirectory

logger = logging.getLogger(__name__)

_MAX_RUN_TOKENS = 512  # the longest row; more together would be no faster


class CoreBackend:
    """A packed file, shared by all threads that run it. Each run takes a workspace and puts it back."""

    def __init__(self, path: Path, library: CoreLibrary, instruction_set: InstructionSet | None = None) -> None:
        """Maps the file into memory.

        Raises:
            CorruptModelError: it is not a packed file of this version, or not whole.
        """
        self._library = library
        self._instruction_set = library.level if instruction_set is None else instruction_set
        self._file = map_file(path)
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
            groups = [self._run_group(batch, workspace) for batch in _groups(lengths, ids, marked)]
        finally:
            self._workspaces.append(workspace)
        results = np.concatenate([result for result, _ in groups])
        if not self._has_marks:
            return results
        marks = np.zeros(mask.shape, np.float32)
        marks[mask] = np.concatenate([numbers for _, numbers in groups])
        return np.concatenate([results, marks], axis=1)

    def reopen(self) -> None:
        """Does nothing: there is no device state that could have died."""

    def interrupt(self) -> None:
        """Makes runs in progress, and all later ones, end with an error at the next layer."""
        self._stop[0] = 1

    def _run_group(self, batch: CoreBatch, workspace: Bytes) -> tuple[Float32, Float32]:
        results, marks = self._library.run(
            self._file, batch, workspace=workspace, instruction_set=self._instruction_set, stop=self._stop
        )
        return results, np.zeros(0, np.float32) if marks is None else marks


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


def open_core(directory: ModelDirectory, library: CoreLibrary | None, *, must: bool) -> CoreBackend | None:
    """Opens the packed weights of a directory; says in one log line what runs the model.

    Args:
        directory: loaded, so its hashes are right.
        library: None where the core was not compiled.
        must: whether anything else than the core is an error.

    Returns:
        None where ONNX Runtime has to run the graph.

    Raises:
        CoreUnavailableError: `must` is set and the core cannot run this model here.
        CorruptModelError: the packed file is as the manifest says, and no packed file.
    """
    problem = _problem(directory, library, must=must)
    role = directory.manifest.task
    if library is None or problem:
        if must:
            raise CoreUnavailableError(directory.path, problem)
        logger.info('event=model_backend role=%s backend=onnxruntime reason="%s"', role, problem)
        return None
    arithmetic, level = directory.manifest.core, library.level.name
    logger.info('event=model_backend role=%s backend=core arithmetic="%s" instruction_set=%s', role, arithmetic, level)
    return CoreBackend(directory.path / CORE_FILE, library)


def _problem(directory: ModelDirectory, library: CoreLibrary | None, *, must: bool) -> str:
    """Returns why the core cannot run a model here; nothing if it can."""
    if library is None:
        return "the core was not compiled: install Precis again where a C compiler is"
    if directory.manifest.core is None or CORE_FILE not in directory.manifest.files:
        return "the model has no packed weights: run `precis models pack`"
    if directory.manifest.core not in ROW_BITS:
        return f"this version does not compute {directory.manifest.core}: run `precis models pack`"
    if library.level == InstructionSet.SCALAR and not must:
        return "the core has no fast code for this CPU"
    return ""
