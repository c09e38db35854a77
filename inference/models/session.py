"""ONNX Runtime behind the backend seam. A server whose models the core computes does not import it.

Whether this CPU sums products of bytes exactly is found out by one product, and not guessed from its name. A CPU
without VNNI adds pairs of u8 x s8 products in 16 bits, which saturate: 2 x 255 x 127 becomes 32,767. There ONNX Runtime
is told to multiply u8 x u8, which is exact and slow: the sums are those of VNNI, to the last bit. Told so on a CPU with
VNNI it is slow as well (2.5 times).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from inference.backend import Float32, Int64
from inference.config import Device
from inference.errors import CorruptModelError, ExecutionProviderError, InexactArithmeticError
from inference.models.directory import ModelDirectory
from inference.models.manifest import MARKS

# ONNX Runtime >= 1.31 otherwise queues events (process, model, hardware, a device id) in a database under
# ~/.cache/Microsoft/DeveloperTools. A thread of its own uploads them. `disable_telemetry_events()` comes too late: the
# database is opened on import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime as ort

__all__ = ["OrtBackend", "check_arithmetic", "choose_device", "is_int8_exact", "is_int8_fast", "is_sum_exact", "ort"]

_PROVIDERS: dict[Device, str] = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


def choose_device(setting: Literal["auto", "cpu", "cuda"]) -> Device:
    """Resolves the execution provider setting.

    Raises:
        ExecutionProviderError: CUDA is asked for and this ONNX Runtime was built without it.
    """
    available = ort.get_available_providers()
    if setting == "cuda" and _PROVIDERS["cuda"] not in available:
        raise ExecutionProviderError(setting, available=available)
    if setting == "auto":
        return "cuda" if _PROVIDERS["cuda"] in available else "cpu"
    return setting


class OrtBackend:
    """One ONNX Runtime session on one device, shared by all threads that run it."""

    def __init__(self, path: Path, device: Device, *, device_id: int = 0) -> None:
        """Loads the graph.

        Raises:
            CorruptModelError: it is not a graph that this ONNX Runtime can run.
            ExecutionProviderError: the device does not come up.
        """
        self._path = path
        self._device: Device = device
        self._device_id = device_id
        self._run_options = ort.RunOptions()
        self._session = self._open()
        first, *others = [output.name for output in self._session.get_outputs()]
        self._outputs = [first, *(name for name in others if name == MARKS)]

    @property
    def execution_provider(self) -> str:
        """The provider that runs the graph."""
        return _PROVIDERS[self._device]

    def run(self, inputs: Mapping[str, Int64]) -> Float32:
        """See `Backend.run`. Releases the GIL while the graph runs."""
        if self._device == "cpu":
            return _joined(self._session.run(self._outputs, dict(inputs), self._run_options))
        return self._run_bound(inputs)

    def reopen(self) -> None:
        """Makes the session again. On the CPU there is no device state that could have died."""
        if self._device != "cpu":
            self._session = self._open()

    def interrupt(self) -> None:
        """Makes runs in progress, and all later ones, end with an error at the next node of the graph."""
        self._run_options.terminate = True

    def _run_bound(self, inputs: Mapping[str, Int64]) -> Float32:
        """Binds inputs and outputs to device memory: one copy in and one out, none between nodes."""
        binding = self._session.io_binding()
        for name, array in inputs.items():
            value = ort.OrtValue.ortvalue_from_numpy(array, self._device, self._device_id)
            binding.bind_ortvalue_input(name, value)
        for name in self._outputs:
            binding.bind_output(name, self._device, self._device_id)
        self._session.run_with_iobinding(binding, self._run_options)
        return _joined(binding.copy_outputs_to_cpu())

    def _open(self) -> ort.InferenceSession:
        provider: tuple[str, dict[str, str]] = (_PROVIDERS[self._device], {})
        if self._device == "cuda":
            options = {"device_id": str(self._device_id), "arena_extend_strategy": "kSameAsRequested"}
            provider = (_PROVIDERS["cuda"], options)
        try:
            session = ort.InferenceSession(str(self._path), _session_options(), providers=[provider])
        except Exception as error:  # the library raises a dozen types without a common base
            raise CorruptModelError(self._path, str(error).splitlines()[0]) from error
        if session.get_providers()[0] != _PROVIDERS[self._device]:  # ONNX Runtime falls back without an error
            raise ExecutionProviderError(self._device, available=session.get_providers())
        return session


def _joined(outputs: Sequence[Float32]) -> Float32:
    return np.asarray(outputs[0] if len(outputs) == 1 else np.concatenate(outputs, axis=1), np.float32)


def _session_options() -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # threads of our own share the session: 1.8 x the throughput of two intra-op
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.enable_mem_pattern = False  # it keeps a plan for each input shape, and every batch has another
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    widen_int8(options)
    return options


# A model as `onnx` writes it: y = MatMulInteger(a, b), a of shape (m, 4), uint8, b of shape (4, 16), int8, full of 127.
_PRODUCT = (
    b'\x08\t:\x96\x01\n\x18\n\x01a\n\x01b\x12\x01y"\rMatMulInteger\x12\x01g*K\x08\x04\x08\x10\x10\x03B\x01bJ@'
    + b"\x7f" * 64
    + b"Z\x14\n\x01a\x12\x0f\n\r\x08\x02\x12\t\n\x03\x12\x01m\n\x02\x08\x04b\x14\n\x01y\x12\x0f\n\r\x08\x06\x12\t\n\x03"
    b"\x12\x01m\n\x02\x08\x10B\x04\n\x00\x10\x14"
)


@cache
def is_int8_fast() -> bool:
    """Whether sums are exact without wider products: the CPU has VNNI, or the like of it."""
    return is_sum_exact(ort.SessionOptions())


def widen_int8(options: ort.SessionOptions) -> None:
    """Has a session multiply u8 x u8 where u8 x s8 would saturate."""
    if not is_int8_fast():
        options.add_session_config_entry("session.x64quantprecision", "1")


@cache
def is_int8_exact() -> bool:
    """Whether sums are exact as the server runs its models."""
    return is_sum_exact(_session_options())


def check_arithmetic(directory: ModelDirectory, is_exact: Callable[[], bool] = is_int8_exact) -> None:
    """Refuses a model that this CPU would compute wrongly.

    Raises:
        InexactArithmeticError: it computes in int8, and sums of bytes are not exact here.
    """
    if directory.manifest.is_int8 and not is_exact():
        raise InexactArithmeticError(directory.path)


def is_sum_exact(options: ort.SessionOptions, product: bytes = _PRODUCT) -> bool:
    """Whether a session computes the product of the probe as it is."""
    session = ort.InferenceSession(product, options, providers=["CPUExecutionProvider"])
    (sums,) = session.run(None, {"a": np.full((8, 4), 255, np.uint8)})
    return bool((sums == 4 * 255 * 127).all())
