"""A real backend with a gate before it, so that tests decide when the models compute, and on what they fail."""

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inference.backend import Backend
from inference.config import Device
from inference.models.model import open_session
from tests.unit.inference.tiny_models import VOCABULARY

POISON = VOCABULARY[-1]


class Gate:
    """What all gated backends of one test obey."""

    def __init__(self) -> None:
        self.is_broken = False
        self._is_open = threading.Event()
        self._is_open.set()
        self._has_visitor = threading.Event()

    def close(self) -> None:
        """Makes every forward pass wait from now on."""
        self._has_visitor.clear()
        self._is_open.clear()

    def open(self) -> None:
        """Lets what waits and all that follows through."""
        self._is_open.set()

    async def visited(self) -> None:
        """Waits until a forward pass stands before the gate."""
        await asyncio.to_thread(self.wait_for_visitor)

    def wait_for_visitor(self) -> None:
        """Blocks until a forward pass stands before the gate."""
        self._has_visitor.wait()

    def pass_through(self) -> None:
        """Waits until the gate is open. Called on the worker's thread."""
        self._has_visitor.set()
        self._is_open.wait()

    def open_backend(self, path: Path, device: Device, device_id: int) -> Backend:
        """Opens a graph with ONNX Runtime and puts the gate before it."""
        return GatedBackend(open_session(path, device, device_id), self)


class GatedBackend:
    """A `Backend` that asks the gate first, and fails on the word `POISON`, or on everything when it is broken."""

    def __init__(self, backend: Backend, gate: Gate) -> None:
        self._backend = backend
        self._gate = gate

    @property
    def execution_provider(self) -> str:
        return self._backend.execution_provider

    def run(self, inputs: Mapping[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.float32]:
        self._gate.pass_through()
        if self._gate.is_broken:
            raise RuntimeError("the device has gone")
        if (inputs["input_ids"] == VOCABULARY.index(POISON)).any():
            raise RuntimeError("a row is poisoned")
        return self._backend.run(inputs)

    def reopen(self) -> None:
        self._backend.reopen()

    def interrupt(self) -> None:
        self._backend.interrupt()
        self._gate.open()
