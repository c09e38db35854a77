"""Which models the compiled core runs, and what the log says of it."""

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from inference.backend import Backend
from inference.compile.packed.packing import drop_graph, pack_directory
from inference.compile.staging import describe_files, write_manifest
from inference.config import Device, InferenceConfig
from inference.core.core_backend import core_problem, packing_problem
from inference.core.library import CoreLibrary, InstructionSet
from inference.core.packed_file import CORE_FILE, HEADER
from inference.errors import CoreUnavailableError, HashMismatchError, MissingModelError
from inference.models.directory import ModelDirectory, load_model_directory
from inference.models.model import LoadedModel, load_model, open_session
from tests.fakes import FakeBackend
from tests.unit.inference.core.building import compiled, library
from tests.unit.inference.core.models import write_directory


class ScalarLibrary(CoreLibrary):
    """The core as it is on a CPU that it has no fast code for."""

    @property
    def level(self) -> InstructionSet:
        return InstructionSet.SCALAR


def fast_library() -> CoreLibrary:
    """The core of the sources; skips the test where it is no faster than ONNX Runtime."""
    if library().level == InstructionSet.SCALAR:
        pytest.skip("the core has no fast code for this CPU")
    return library()


@pytest.fixture
def directory(tmp_path: Path) -> ModelDirectory:
    """An embedder, packed."""
    return pack_directory(write_directory(tmp_path / "embedding", "embedder by mean").path, library(), "rows8")


def changed(directory: ModelDirectory, **fields: object) -> ModelDirectory:
    """Writes the manifest again, with other facts and the files as they are."""
    facts = {"files": describe_files(directory.path), **fields}
    write_manifest(directory.path, directory.manifest.model_copy(update=facts))
    return load_model_directory(directory.path)


def load(directory: ModelDirectory, backend: str, core: CoreLibrary | None, device: Device = "cpu") -> LoadedModel:
    """Loads the model; a GPU is a fake."""

    def open_backend(path: Path, device: Device, device_id: int) -> Backend:
        return open_session(path, device, device_id) if device == "cpu" else FakeBackend()

    settings = {"backend": backend, "runtime": {"warmup_s": 0.0}}
    config = InferenceConfig.model_validate(settings)
    return load_model(directory.path, config, device, open_backend=open_backend, library=core)


def provider(model: LoadedModel) -> str:
    return model.compute.backends[0].execution_provider


def test_a_model_is_loaded_with_the_backend_of_the_settings(
    directory: ModelDirectory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        loaded = {backend: load(directory, backend, fast_library()) for backend in ("onnxruntime", "core", "auto")}
    assert provider(loaded["onnxruntime"]) == "CPUExecutionProvider"
    assert loaded["onnxruntime"].manifest.precision == "fp32"
    for backend in ("core", "auto"):
        assert provider(loaded[backend]) == f"PrecisCore-{library().level.name}"
        assert loaded[backend].manifest.precision == "core-2 rows8"
        assert loaded[backend].directory.model_sha256 == directory.manifest.files[CORE_FILE]
    reasons = [line.partition("role=embedding ")[2] for line in caplog.messages]
    assert reasons[0] == 'backend=onnxruntime precision="fp32" device=cpu reason="inference.backend is onnxruntime"'
    assert reasons[1] == f'backend=core precision="core-2 rows8" instruction_set={library().level.name}'
    assert reasons[2:] == reasons[1:2]


def test_without_a_compiler_the_graph_is_run(directory: ModelDirectory, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert provider(load(directory, "auto", None)) == "CPUExecutionProvider"
    assert "not compiled" in caplog.messages[-1]
    with pytest.raises(CoreUnavailableError, match="C compiler"):
        load(directory, "core", None)


def test_a_cpu_without_fast_code_runs_the_graph_unless_the_core_is_asked_for(
    directory: ModelDirectory, caplog: pytest.LogCaptureFixture
) -> None:
    scalar = ScalarLibrary(compiled("-shared", "-fPIC"))
    with caplog.at_level(logging.INFO):
        assert provider(load(directory, "auto", scalar)) == "CPUExecutionProvider"
    assert "no fast code for this CPU" in caplog.messages[-1]
    assert provider(load(directory, "core", scalar)) == "PrecisCore-SCALAR"


def test_a_gpu_runs_the_graph(directory: ModelDirectory, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert provider(load(directory, "auto", fast_library(), "cuda")) == "FakeExecutionProvider"
    assert "device=cuda" in caplog.messages[-1]


def test_a_model_that_is_not_packed_runs_the_graph(tmp_path: Path) -> None:
    directory = write_directory(tmp_path / "embedding", "embedder by mean")
    assert provider(load(directory, "auto", fast_library())) == "CPUExecutionProvider"
    with pytest.raises(CoreUnavailableError, match="precis models pack"):
        load(directory, "core", fast_library())


def test_weights_of_the_core_need_no_graph(directory: ModelDirectory) -> None:
    whole = load(directory, "core", fast_library())
    drop_graph(directory.path, directory.path.parent / "alone" / "embedding")
    alone = load_model_directory(directory.path.parent / "alone" / "embedding")
    assert not (alone.path / "model.onnx").exists()
    assert load(alone, "auto", fast_library()).directory.model_sha256 == whole.directory.model_sha256
    with pytest.raises(MissingModelError, match=r"model\.onnx is missing"):
        load(alone, "onnxruntime", fast_library())


def test_without_onnx_runtime_a_server_computes_with_the_core() -> None:
    code = "import sys; sys.modules['onnxruntime'] = None; from inference.models import model as m; "
    shown = "from inference.config import InferenceConfig as C; print(m.choose_device(C(backend='core')))"
    ended = subprocess.run([sys.executable, "-c", code + shown], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("cpu\n", "")
    opened = "from pathlib import Path; m.open_session(Path('m.onnx'), 'cpu', 0)"
    ended = subprocess.run([sys.executable, "-c", code + opened], capture_output=True, text=True, check=False)
    assert "ONNX Runtime is not installed" in ended.stderr


def test_weights_that_were_packed_from_another_graph_are_not_run(directory: ModelDirectory) -> None:
    with (directory.path / "model.onnx").open("ab") as graph:
        graph.write(b"\x72\x00")  # an empty field that no reader knows
    with pytest.raises(HashMismatchError):
        load(directory, "auto", fast_library())
    stale = changed(directory)
    assert "another model.onnx" in packing_problem(stale)
    assert provider(load(stale, "auto", fast_library())) == "CPUExecutionProvider"
    with pytest.raises(CoreUnavailableError, match=r"another model\.onnx: run `precis models pack`"):
        load(stale, "core", fast_library())
    again = pack_directory(stale.path, library())
    assert (packing_problem(again), again.manifest.core) == ("", "core-2 rows8")


@pytest.mark.parametrize("fault", ["arithmetic", "version", "no header"])
def test_weights_of_another_version_are_not_run(directory: ModelDirectory, fault: str) -> None:
    path = directory.path / CORE_FILE
    data = np.fromfile(path, np.uint8)
    if fault == "version":
        data[: HEADER.itemsize].view(HEADER)["version"] += 1
    data[: 100 if fault == "no header" else data.size].tofile(path)
    found = changed(directory, core="core-0 rows8" if fault == "arithmetic" else directory.manifest.core)
    assert "this version does not compute" in core_problem(found, library(), device="cpu", must=True)


def test_the_identity_is_the_same_beside_any_graph(directory: ModelDirectory) -> None:
    stored = "int8_rows, word embeddings stored in int8"
    beside_int8 = changed(directory, precision=stored).computed_from(CORE_FILE)
    beside_fp32 = changed(directory, precision=stored.replace("int8_rows", "fp32")).computed_from(CORE_FILE)
    assert beside_int8.manifest.precision == "core-2 rows8, word embeddings stored in int8"
    assert beside_fp32.manifest.precision == beside_int8.manifest.precision
    assert beside_fp32.model_sha256 == beside_int8.model_sha256
