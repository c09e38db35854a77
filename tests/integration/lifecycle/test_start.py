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


async def reason(**settings: str | Path) -> str:
    """Starts a server that cannot start; returns the one line it leaves beside those of the log."""
    async with server_process(*SERVE, **{"LISTEN__PORT": "0", "METRICS__PORT": "0", **settings}) as server:
        assert await server.ended() not in (0, None)
    [line] = [line for line in server.errors if "event=model_backend" not in line]
    return line


@pytest.mark.parametrize("setting", ["LISTEN__PORT", "METRICS__PORT"])
async def test_a_port_in_use_is_named(models: Path, busy_port: str, setting: str) -> None:
    settings: dict[str, str | Path] = {"MODELS_DIR": models, setting: busy_port}
    line = await reason(**settings)
    assert f"127.0.0.1:{busy_port}" in line
    assert f"PRECIS_{setting}" in line


async def test_a_missing_model_directory_says_how_to_get_one(tmp_path: Path) -> None:
    line = await reason(MODELS_DIR=tmp_path / "nothing")
    assert "precis models install" in line
    assert str(tmp_path / "nothing") in line


async def test_a_corrupt_graph_is_refused_although_its_hash_is_right(models: Path) -> None:
    folder = models / "embedding"
    (folder / "model.onnx").write_bytes(b"these bytes are no graph")
    manifest = read_model_directory(folder).manifest
    write_manifest(folder, manifest.model_copy(update={"files": describe_files(folder)}))
    line = await reason(MODELS_DIR=models)
    assert "corrupt model" in line
    assert "model.onnx" in line


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("LISTEN__HOST", "192.0.2.1", "PRECIS_LISTEN__HOST"),
        ("AUTH__KEYS_FILE", "/nowhere/keys", "PRECIS_AUTH__KEYS_FILE"),
        ("SUMMARY_STORAGE__DIRECTORY", "/dev/null/summaries", "summary_storage"),
    ],
)
async def test_a_wrong_setting_is_named(models: Path, setting: str, value: str, told: str) -> None:
    settings: dict[str, str | Path] = {"MODELS_DIR": models, setting: value}
    assert told in await reason(**settings)
