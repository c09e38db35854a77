"""How a model directory is packed for the compiled core."""

from dataclasses import replace
from pathlib import Path

import pytest

from inference.compile.errors import UnsupportedModelError
from inference.compile.install import RECIPE
from inference.compile.packed.packing import pack_directory, pack_if_possible, packed_bytes
from inference.compile.staging import ProgressEvent, write_manifest
from inference.core.library import InstructionSet
from inference.core.packed_file import CORE_FILE
from inference.errors import CoreUnavailableError
from inference.models.directory import ModelDirectory, load_model_directory
from tests.unit.inference.core.building import library
from tests.unit.inference.core.models import WIDE_DEBERTA, classifier, write_directory
from tests.unit.inference.tiny_models import write_tiny_embedder


@pytest.fixture
def directory(tmp_path: Path) -> ModelDirectory:
    return write_directory(tmp_path / "nli", "classifier with marks")


def test_a_packed_directory_keeps_its_graph_and_gains_another_identity_step_by_step(directory: ModelDirectory) -> None:
    events: list[ProgressEvent] = []
    after = pack_directory(directory.path, library(), "rows15", progress=events.append)
    assert after.manifest.core == "core-2 rows15"
    assert after.model_sha256 == directory.model_sha256
    assert after.computed_from(CORE_FILE).model_sha256 == after.manifest.files[CORE_FILE]
    assert [(event.step, event.done, event.total) for event in events] == [("pack", done, 3) for done in range(4)]


def test_a_graph_of_other_parts_is_not_packed(tmp_path: Path) -> None:
    write_tiny_embedder(tmp_path / "embedding")
    with pytest.raises(UnsupportedModelError):
        pack_directory(tmp_path / "embedding", library())
    unchanged, problem = pack_if_possible(load_model_directory(tmp_path / "embedding"), library())
    assert "the core cannot compute a graph" in problem
    assert CORE_FILE not in unchanged.manifest.files
    assert not (tmp_path / "embedding" / CORE_FILE).exists()


def test_a_weight_that_nothing_reads_is_refused() -> None:
    model, manifest = classifier(replace(WIDE_DEBERTA, token_type_count=2), has_marks=True)
    with pytest.raises(UnsupportedModelError, match="token_type"):
        packed_bytes(model, manifest, "rows8")


def test_without_the_core_nothing_is_packed(directory: ModelDirectory) -> None:
    assert "C compiler" in pack_if_possible(directory, None)[1]
    with pytest.raises(CoreUnavailableError, match="C compiler"):
        pack_directory(directory.path, None)
    assert not (directory.path / CORE_FILE).exists()


def test_what_is_packed_stays_unless_other_rows_are_asked_for(directory: ModelDirectory) -> None:
    packed, problem = pack_if_possible(directory, library(), "rows8")
    assert problem == ("" if library().level > InstructionSet.SCALAR else "the core has no fast code for this CPU")
    before = (packed.path / CORE_FILE).stat()
    kept, _ = pack_if_possible(packed, library())
    assert kept.manifest.core == "core-2 rows8"
    assert (kept.path / CORE_FILE).stat().st_ino == before.st_ino
    other, _ = pack_if_possible(kept, library(), "rows15")
    assert other.manifest.core == "core-2 rows15"


@pytest.mark.parametrize(
    ("facts", "graph", "rows"),
    [
        ({"precision": "fp32"}, "classifier with marks", "rows15"),
        ({"precision": "int8_rows"}, "classifier with marks", "mixed"),
        ({"precision": "fp32", "producer": {RECIPE: "0123"}}, "classifier with marks", "mixed"),
        ({"precision": "int8_rows"}, "embedder by mean", "rows8"),
    ],
    ids=["exported in fp32", "exported in int8_rows", "packaged", "embedder"],
)
def test_rows_follow_from_what_was_measured(tmp_path: Path, facts: dict[str, object], graph: str, rows: str) -> None:
    directory = write_directory(tmp_path / "model", graph)
    write_manifest(directory.path, directory.manifest.model_copy(update=facts))
    packed, _ = pack_if_possible(load_model_directory(directory.path), library())
    assert packed.manifest.core == f"core-2 {rows}"
