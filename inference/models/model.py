"""A model in memory: its directory, its tokenizer, its sessions, what its batches cost, and how its output is read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from inference.backend import Backend, Float32
from inference.batching.batch import BatchLimits, ComputeModel
from inference.config import Device, InferenceConfig
from inference.core.core_backend import CoreBackend, core_problem
from inference.core.library import CoreLibrary
from inference.core.packed_file import CORE_FILE
from inference.errors import CoreUnavailableError, CorruptModelError, ExecutionProviderError, ManifestError
from inference.models.directory import ModelDirectory, check_sha256, load_model_directory
from inference.models.manifest import MANIFEST_FILE, MODEL_FILE, NLI_LABELS, Manifest
from inference.models.warmup import WarmupPlan, clock_for, measure_costs
from inference.tokens.tokenization import TextEncoder

logger = logging.getLogger(__name__)

OpenBackend = Callable[[Path, Device, int], Backend]


@dataclass(frozen=True)
class LoadedModel:
    """Everything that is known about a model once it can compute."""

    directory: ModelDirectory
    encoder: TextEncoder
    compute: ComputeModel

    @property
    def manifest(self) -> Manifest:
        """What the model is."""
        return self.directory.manifest


def choose_device(config: InferenceConfig) -> Device:
    """Returns where graphs run. Raises ExecutionProviderError: CUDA is asked for, and not there."""
    wanted, has_runtime = config.runtime.execution_provider, find_spec("onnxruntime") is not None
    if config.backend == "core" or wanted == "cpu" or (wanted == "auto" and not has_runtime):
        return "cpu"  # as the core is
    from inference.models import session  # noqa: PLC0415 - 80 MB, of no use where the core computes

    return session.choose_device(wanted)


def open_session(path: Path, device: Device, device_id: int) -> Backend:
    """Opens a graph with ONNX Runtime. Raises ExecutionProviderError: it is not installed."""
    try:
        from inference.models.session import OrtBackend  # noqa: PLC0415 - as above
    except ImportError as error:
        raise ExecutionProviderError(device, available=[]) from error
    return OrtBackend(path, device, device_id=device_id)


def load_model(
    folder: Path, config: InferenceConfig, device: Device, *, open_backend: OpenBackend, library: CoreLibrary | None
) -> LoadedModel:
    """Checks, loads and warms up the model of one role. Blocks for seconds.

    Args:
        folder: its directory, which is named for the role.
        device: where a graph would run.
        library: the compiled core; None where there is none.

    Raises:
        CoreUnavailableError: the settings ask for the core, and it cannot run this model here.
        ModelDirectoryError: the directory is missing, changed, or holds a model of another task, for another CPU, or
            one that does not compute.
        ExecutionProviderError: the device does not come up.
    """
    directory = load_model_directory(folder)
    manifest = directory.manifest
    if manifest.task != folder.name:
        raise ManifestError(folder / MANIFEST_FILE, f"task is {manifest.task}, expected {folder.name}")
    backends: tuple[Backend, ...]
    if (core := _open_core(directory, config, device, library)) is not None:
        backends, directory = (core,), directory.computed_from(CORE_FILE)
    else:
        backends = _open_sessions(directory, config, device, open_backend)
    encoder = TextEncoder(directory.tokenizer_path, max_tokens=manifest.max_tokens)
    plan = WarmupPlan(
        inputs=manifest.inputs,
        max_tokens=manifest.max_tokens,
        max_batch_size=config.batch.max_batch_size or {"cpu": 16, "cuda": 256}[device],
        max_batch_tokens=config.batch.max_batch_tokens or {"cpu": 512, "cuda": 32_768}[device],
        budget_s=config.runtime.warmup_s,
    )
    try:
        costs = measure_costs(backends[0], plan, clock_for(device))
    except Exception as error:  # whatever a backend raises where its weights or its manifest are wrong
        problem = f"it fails on rows of 1 to {plan.max_tokens} tokens: {error}"
        raise CorruptModelError(directory.path / directory.weights_file, problem) from error
    dimension, finish = output_of(manifest)
    compute = ComputeModel(
        name=manifest.task,
        backends=backends,
        inputs=manifest.inputs,
        pad_token_id=manifest.pad_token_id,
        dimension=dimension,
        finish=finish,
        limits=BatchLimits.of(costs, max_batch_tokens=plan.max_batch_tokens),
    )
    return LoadedModel(directory, encoder, compute)


def _open_core(
    directory: ModelDirectory, config: InferenceConfig, device: Device, library: CoreLibrary | None
) -> Backend | None:
    """Opens the packed weights, or returns None where ONNX Runtime is to run the graph; says which in one log line.

    Raises:
        CoreUnavailableError: the settings ask for the core, and it cannot run this model here.
        CorruptModelError: the packed file is as the manifest says, and no packed file.
    """
    problem, must = "inference.backend is onnxruntime", config.backend == "core"
    if config.backend != "onnxruntime":
        problem = core_problem(directory, library, device=device, must=must)
    if problem and must:
        raise CoreUnavailableError(directory.path, problem)
    manifest = directory.manifest
    if library is None or problem:
        line = 'event=model_backend role=%s backend=onnxruntime precision="%s" device=%s reason="%s"'
        logger.info(line, manifest.task, manifest.precision, device, problem)
        return None
    line = 'event=model_backend role=%s backend=core precision="%s" instruction_set=%s'
    logger.info(line, manifest.task, manifest.core_precision, library.level.name)
    return CoreBackend(directory.path / CORE_FILE, library, sha256=manifest.files[CORE_FILE])


def _open_sessions(
    directory: ModelDirectory, config: InferenceConfig, device: Device, open_backend: OpenBackend
) -> tuple[Backend, ...]:
    device_ids = config.runtime.device_ids if device == "cuda" else (0,)
    opened = tuple(open_backend(directory.model_path, device, device_id) for device_id in device_ids)
    check_sha256(directory.model_path, directory.manifest.files[MODEL_FILE])  # it was not changed meanwhile
    from inference.models.session import check_arithmetic  # noqa: PLC0415 - as above, and it was opened with it

    check_arithmetic(directory)
    return opened


def output_of(manifest: Manifest) -> tuple[int, Callable[[Float32], Float32]]:
    """Columns of a result without its marks, and how the graph's output becomes one."""
    if manifest.task == "nli":
        return len(NLI_LABELS), probabilities(manifest.label_columns)
    return manifest.dimension or 0, lambda output: output  # the graph pools and normalises itself


def probabilities(label_columns: Sequence[int]) -> Callable[[Float32], Float32]:
    """Makes the function from logits to probabilities of entailment, neutral and contradiction.

    Args:
        label_columns: columns of the logits with these three, from the model's `id2label`; or of two, entailment and
            all else. Of two, contradiction is 0, and neutral what is not entailed.
    """
    columns = list(label_columns)

    def finish(output: Float32) -> Float32:
        """Softmax of the columns, and a sigmoid of those behind them, the marks.

        In float64: a row's last bit must not depend on how many rows there are.
        """
        ordered = output[:, columns].astype(np.float64)
        weights = np.exp(ordered - ordered.max(axis=1, keepdims=True))
        labels = np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)
        if len(columns) < len(NLI_LABELS):
            labels = np.pad(labels, ((0, 0), (0, len(NLI_LABELS) - len(columns))))
        if output.shape[1] == len(columns):
            return labels
        odds = output[:, len(columns) :].astype(np.float64)
        marks = 0.5 * (1 + np.tanh(odds / 2))  # as 1 / (1 + exp(-odds)), which would overflow
        return np.concatenate([labels, marks.astype(np.float32)], axis=1)

    return finish
