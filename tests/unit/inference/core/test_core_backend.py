"""The compiled core behind the backend seam, and how a model directory is packed for it."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from inference.backend import Int64
from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows
from inference.compile.errors import UnsupportedModelError
from inference.compile.packed.packing import pack_directory, packed_bytes
from inference.compile.staging import describe_files, write_manifest
from inference.config import InferenceConfig
from inference.core.core_backend import CoreBackend, open_core
from inference.core.library import CoreRunError, Status, load_library
from inference.core.packed_file import CORE_FILE, HEADER
from inference.errors import CoreUnavailableError, CorruptModelError, HashMismatchError
from inference.models.directory import ModelDirectory, load_model_directory
from inference.models.model import load_model, open_session
from tests.unit.inference.core.building import library
from tests.unit.inference.core.models import GRAPHS, WIDE_DEBERTA, Item, classifier, items, packed, run
from tests.unit.inference.tiny_models import write_tiny_embedder, write_tiny_tokenizer

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_directory(path: Path, name: str) -> ModelDirectory:
    """Writes one of the random graphs as a model directory."""
    path.mkdir(parents=True)
    model, manifest = GRAPHS[name]()
    onnx.save(model, path / "model.onnx")
    write_tiny_tokenizer(path / "tokenizer.json")
    inputs = tuple(node.name for node in model.graph.input)
    write_manifest(path, manifest.model_copy(update={"files": describe_files(path), "inputs": inputs}))
    return load_model_directory(path)


def write_core(path: Path, name: str) -> Path:
    path.write_bytes(packed(name, 8).tobytes())
    return path


def to_inputs(given: list[Item]) -> dict[str, Int64]:
    """Pads items whose marked tokens are their second text."""
    rows = [Encoded(np.array(ids, np.int32).tobytes(), len(ids) // 2, is_truncated=False, key=b"") for ids, _ in given]
    return pad_rows(rows, INPUTS, 0)


def test_padding_changes_nothing_and_many_rows_are_run_in_groups(tmp_path: Path) -> None:
    name, given = "classifier with marks", items(40)
    assert sum(len(ids) for ids, _ in given) > 512
    backend = CoreBackend(write_core(tmp_path / CORE_FILE, name), library())
    inputs = to_inputs(given)
    values = backend.run(inputs)
    types = inputs["token_type_ids"]
    marked = [(ids, types[at, : len(ids)].tolist()) for at, (ids, _) in enumerate(given)]
    results, marks = run(library(), packed(name, 8), marked, library().level)
    assert values[:, :3].tobytes() == results.tobytes()
    for at, item_marks in enumerate(marks):
        assert values[at, 3 : 3 + len(item_marks)].tobytes() == item_marks.tobytes()
        assert not values[at, 3 + len(item_marks) :].any()


def test_an_interrupted_backend_computes_nothing_more(tmp_path: Path) -> None:
    backend = CoreBackend(write_core(tmp_path / CORE_FILE, "embedder by mean"), library())
    backend.interrupt()
    with pytest.raises(CoreRunError, match="STOPPED"):
        backend.run(to_inputs(items(2)))


def test_an_id_that_has_no_embedding_fails_the_run_and_no_other(tmp_path: Path) -> None:
    backend = CoreBackend(write_core(tmp_path / CORE_FILE, "embedder by mean"), library())
    for wrong in (50, -1, 2**31 - 1):
        with pytest.raises(CoreRunError) as caught:
            backend.run(to_inputs([([1, wrong, 3], [0, 0, 0])]))
        assert caught.value.status == Status.BAD_TOKEN
    assert np.isfinite(backend.run(to_inputs(items(2)))).all()


@pytest.mark.parametrize("size", [0, 1, HEADER.itemsize, -1])
def test_a_packed_file_of_another_length_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / CORE_FILE
    path.write_bytes(packed("embedder by mean", 8).tobytes()[:size])
    with pytest.raises(CorruptModelError, match="packed file"):
        CoreBackend(path, library())


def test_a_packed_directory_keeps_its_graph_and_gains_another_identity(tmp_path: Path) -> None:
    before = write_directory(tmp_path / "nli", "classifier with marks")
    after = pack_directory(before.path, library(), "rows15")
    assert after.manifest.core == "core-1 rows15"
    assert after.model_sha256 == before.model_sha256
    core = after.computed_from(CORE_FILE, after.manifest.core)
    assert core.model_sha256 == after.manifest.files[CORE_FILE] != before.model_sha256
    assert core.manifest.precision == "core-1 rows15, fp32"


def test_a_changed_byte_of_the_packed_weights_is_found(tmp_path: Path) -> None:
    path = pack_directory(write_directory(tmp_path / "embedding", "embedder by mean").path, library()).path
    data = bytearray((path / CORE_FILE).read_bytes())
    data[5_000] ^= 1
    (path / CORE_FILE).write_bytes(data)
    with pytest.raises(HashMismatchError):
        load_model_directory(path)


def test_without_the_core_the_log_says_why_the_graph_is_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    directory = write_directory(tmp_path / "embedding", "embedder by mean")
    with caplog.at_level(logging.INFO):
        assert open_core(directory, None, must=False) is None
        assert open_core(directory, library(), must=False) is None
    assert "not compiled" in caplog.messages[0]
    assert "precis models pack" in caplog.messages[1]


def test_where_the_core_must_run_its_absence_is_an_error(tmp_path: Path) -> None:
    directory = write_directory(tmp_path / "embedding", "embedder by mean")
    with pytest.raises(CoreUnavailableError, match="C compiler"):
        open_core(directory, None, must=True)
    with pytest.raises(CoreUnavailableError, match="precis models pack"):
        open_core(directory, library(), must=True)


def test_a_graph_of_other_parts_is_not_packed(tmp_path: Path) -> None:
    write_tiny_embedder(tmp_path / "embedding")
    with pytest.raises(UnsupportedModelError):
        pack_directory(tmp_path / "embedding", library())
    assert not (tmp_path / "embedding" / CORE_FILE).exists()


def test_a_weight_that_nothing_reads_is_refused() -> None:
    model, manifest = classifier(replace(WIDE_DEBERTA, token_type_count=2), has_marks=True)
    with pytest.raises(UnsupportedModelError, match="token_type"):
        packed_bytes(model, manifest, 8)


@pytest.mark.skipif(load_library() is None, reason="the core is not compiled into this checkout")
def test_a_model_is_loaded_with_the_backend_of_the_settings(tmp_path: Path) -> None:
    pack_directory(write_directory(tmp_path / "embedding", "embedder by mean").path, load_library(), "rows8")
    loaded = {
        backend: load_model(
            "embedding",
            InferenceConfig.model_validate({"models_dir": tmp_path, "backend": backend, "runtime": {"warmup_s": 0.0}}),
            "cpu",
            open_backend=open_session,
        )
        for backend in ("onnxruntime", "core", "auto")
    }
    providers = {backend: model.compute.backends[0].execution_provider for backend, model in loaded.items()}
    assert providers["onnxruntime"] == "CPUExecutionProvider"
    assert providers["core"].startswith("PrecisCore-")
    assert loaded["onnxruntime"].manifest.precision == "fp32"
    assert loaded["core"].manifest.precision == "core-1 rows8, fp32"
    assert loaded["core"].directory.model_sha256 != loaded["onnxruntime"].directory.model_sha256
