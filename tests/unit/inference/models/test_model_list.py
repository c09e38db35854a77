"""Rules of listing models."""

from __future__ import annotations

from pathlib import Path

from inference.models.directory import list_models
from tests.unit.inference.model_directories import EMBEDDING_FIELDS, NLI_FIELDS, write_model_directory


def _statuses(models_dir: Path) -> dict[str, str]:
    return {listed.role: listed.status for listed in list_models(models_dir)}


def test_an_empty_or_absent_folder_lists_every_role_as_missing(tmp_path: Path) -> None:
    assert _statuses(tmp_path / "absent") == {"nli": "missing", "embedding": "missing"}
    assert all("precis models install" in listed.problem for listed in list_models(tmp_path))


def test_whole_models_are_ok_and_come_with_manifest_and_size(tmp_path: Path) -> None:
    write_model_directory(tmp_path / "nli", fields=NLI_FIELDS)
    write_model_directory(tmp_path / "embedding", fields=EMBEDDING_FIELDS)
    assert _statuses(tmp_path) == {"nli": "ok", "embedding": "ok"}
    listed = list_models(tmp_path)[0]
    assert listed.manifest is not None
    assert (listed.manifest.name, listed.problem) == ("tiny", "")
    assert listed.size_bytes == sum(file.stat().st_size for file in listed.path.iterdir())


def test_every_kind_of_damage_has_its_own_status(tmp_path: Path) -> None:
    nli = tmp_path / "nli"
    write_model_directory(nli)
    (nli / "model.onnx").write_bytes(b"other")
    assert _statuses(tmp_path)["nli"] == "wrong hash"
    (nli / "model.onnx").unlink()
    assert _statuses(tmp_path)["nli"] == "file missing"
    (nli / "manifest.json").write_text("{}")
    assert _statuses(tmp_path)["nli"] == "invalid manifest"
    (nli / "manifest.json").unlink()
    assert _statuses(tmp_path)["nli"] == "missing"


def test_a_model_of_another_task_is_no_model_of_the_role(tmp_path: Path) -> None:
    write_model_directory(tmp_path / "embedding", fields=NLI_FIELDS)
    listed = {model.role: model for model in list_models(tmp_path)}["embedding"]
    assert listed.status == "invalid manifest"
    assert "task is nli, expected embedding" in listed.problem
