"""A server that cannot start says why in one line, and what to do."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from inference.compile.staging import describe_files, write_manifest
from inference.models.directory import read_model_directory
from tests.integration.support.server_process import server_process

SERVE = ("precis", "serve")


@pytest.fixture
def models(tiny_models: Path, tmp_path: Path) -> Path:
    """A copy of the tiny models that a test may damage."""
    return Path(shutil.copytree(tiny_models, tmp_path / "models"))


@pytest.fixture
def busy_port() -> Iterator[str]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield str(holder.getsockname()[1])


def is_logged(line: str) -> bool:
    """Tells a line of the log, as that on what runs a model, from the reason."""
    return "event=model_backend" in line


async def reason(**settings: str | Path) -> str:
    """Starts a server that cannot start; returns the one line it leaves beside those of the log."""
    async with server_process(*SERVE, **{"LISTEN__PORT": "0", "METRICS__PORT": "0", **settings}) as server:
        assert await server.ended() not in (0, None)
    [line] = [line for line in server.errors if not is_logged(line)]
    return line


def replace_graph(models: Path, graph: bytes) -> None:
    """Puts other bytes in place of the embedder's graph."""
    (models / "embedding" / "model.onnx").write_bytes(graph)


def correct_hash(models: Path) -> None:
    """Makes the manifest agree with whatever the graph is now."""
    folder = models / "embedding"
    manifest = read_model_directory(folder).manifest
    write_manifest(folder, manifest.model_copy(update={"files": describe_files(folder)}))


async def test_a_port_in_use_is_named(models: Path, busy_port: str) -> None:
    line = await reason(MODELS_DIR=models, LISTEN__PORT=busy_port)
    assert f"127.0.0.1:{busy_port}" in line
    assert "in use" in line
    assert "PRECIS_LISTEN__PORT" in line


async def test_a_metrics_port_in_use_is_named(models: Path, busy_port: str) -> None:
    line = await reason(MODELS_DIR=models, METRICS__PORT=busy_port)
    assert f"127.0.0.1:{busy_port}" in line
    assert "PRECIS_METRICS__PORT" in line


async def test_a_host_that_is_not_ours_is_named(models: Path) -> None:
    assert "PRECIS_LISTEN__HOST" in await reason(MODELS_DIR=models, LISTEN__HOST="192.0.2.1")


async def test_a_missing_model_directory_says_how_to_get_one(tmp_path: Path) -> None:
    line = await reason(MODELS_DIR=tmp_path / "nothing")
    assert "precis models install" in line
    assert str(tmp_path / "nothing") in line


async def test_a_changed_graph_is_refused_by_its_hash(models: Path) -> None:
    replace_graph(models, b"other bytes")
    assert "sha256" in await reason(MODELS_DIR=models)


async def test_a_corrupt_graph_is_refused_although_its_hash_is_right(models: Path) -> None:
    replace_graph(models, b"these bytes are no graph")
    correct_hash(models)
    line = await reason(MODELS_DIR=models)
    assert "corrupt model" in line
    assert "model.onnx" in line


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("LISTEN__PROT", "1", "listen.prot"),
        ("AUTH__KEYS_FILE", "/nowhere/keys", "PRECIS_AUTH__KEYS_FILE"),
        ("TLS__CERTIFICATE_FILE", "/nowhere/cert", "certificate_file and key_file"),
        ("SETTINGS_FILE", "/nowhere/precis.toml", "/nowhere/precis.toml"),
    ],
)
async def test_a_wrong_setting_is_named(models: Path, setting: str, value: str, told: str) -> None:
    settings: dict[str, str | Path] = {"MODELS_DIR": models, setting: value}
    assert told in await reason(**settings)


async def test_a_folder_for_summaries_that_cannot_be_made_is_named(models: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    line = await reason(MODELS_DIR=models, SUMMARY_STORAGE__DIRECTORY=tmp_path / "file" / "summaries")
    assert "summary_storage" in line
    assert str(tmp_path / "file") in line


async def test_a_key_file_of_the_language_model_that_cannot_be_read_is_named(models: Path, tmp_path: Path) -> None:
    llm = {"LLM__BASE_URL": "http://127.0.0.1:9/v1", "LLM__MODEL": "small"}
    line = await reason(MODELS_DIR=models, **llm, LLM__API_KEY_FILE=tmp_path / "none")
    assert str(tmp_path / "none") in line
