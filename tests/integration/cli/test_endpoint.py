"""`precis summarize --endpoint` and `--local`: a summary in the command's own process."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from tests.integration.cli.conftest import started
from tests.integration.summarize.summaries import PASS
from tests.integration.support.programs import Ended, precis
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

KEY = "sk-of-the-endpoint"


@pytest.fixture
def manual(tmp_path: Path, tiny_models: Path) -> Path:
    """A text of a few pages, beside models."""
    (tmp_path / "models").symlink_to(tiny_models)
    path = tmp_path / "manual.txt"
    path.write_text("\f".join(f"Torque bolt B-{page} to {page}0 Nm. " * 60 for page in range(1, 4)), encoding="utf-8")
    return path


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n", encoding="utf-8")
    return path


async def summarize(tmp_path: Path, endpoint: ScriptedEndpoint, *arguments: object, **variables: str) -> Ended:
    """Runs the command against an endpoint."""
    named = ("--endpoint", endpoint.base_url, "--model", "scripted")
    return await precis("summarize", *arguments, *named, stdin=None, **variables_of(tmp_path) | variables)


def variables_of(tmp_path: Path) -> dict[str, str]:
    """Returns settings of a server in the command's process."""
    return {
        "PRECIS_SUMMARY_STORAGE__DIRECTORY": str(tmp_path / "summaries"),
        "PRECIS_MODELS_DIR": str(tmp_path / "models"),
        "PRECIS_INFERENCE__RUNTIME__WARMUP_S": "0.05",
    }


async def test_it_plans_writes_and_reuses_without_a_server(tmp_path: Path, manual: Path, key_file: Path) -> None:
    async with ScriptedEndpoint(Script(replies=(PASS,), author=write, api_key=KEY)) as endpoint:
        keyed = ("--api-key-file", key_file, "--json", "--detail", "full")
        plan = await summarize(tmp_path, endpoint, manual, "--plan", *keyed)
        assert (plan.code, endpoint.log.requests.total()) == (0, 0)
        written = await summarize(tmp_path, endpoint, manual, *keyed)
        assert written.code == 0, written.err
        summary = json.loads(written.out)
        assert endpoint.log.answered.total() == summary["calls_done"] == json.loads(plan.out)["calls"]
        assert (summary["status"], summary["document_name"]) == ("SUMMARY_STATUS_DONE", "manual.txt")
        assert KEY not in written.out + written.err
        again = await summarize(tmp_path, endpoint, manual, *keyed)
        assert json.loads(again.out)["text"] == summary["text"]
        assert endpoint.log.answered.total() == summary["calls_done"]


async def test_local_leaves_the_writer_to_the_settings(tmp_path: Path, manual: Path) -> None:
    extract = await precis("summarize", manual, "--local", stdin=None, **variables_of(tmp_path))
    assert (extract.code, "it chooses sentences instead" in extract.err) == (0, True)
    async with ScriptedEndpoint(Script(replies=(PASS,), author=write)) as endpoint:
        llm = {"PRECIS_LLM__BASE_URL": endpoint.base_url, "PRECIS_LLM__MODEL": "scripted"}
        written = await precis("summarize", manual, "--local", stdin=None, **variables_of(tmp_path), **llm)
    assert (written.code, endpoint.log.answered.total() > 0) == (0, True)


async def test_keys_of_others_are_never_sent_there(tmp_path: Path, manual: Path, key_file: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(f'[llm]\nbase_url = "http://other/v1"\nmodel = "m"\napi_key = "{KEY}"\n', encoding="utf-8")
    keys = (
        {"PRECIS_API_KEY_FILE": str(key_file)},  # of a Precis server
        {"PRECIS_LLM__API_KEY": KEY},  # of the settings' endpoint
        {"PRECIS_LLM__API_KEY_FILE": str(key_file)},
        {"PRECIS_SETTINGS_FILE": str(settings)},
    )
    for variables in keys:
        async with ScriptedEndpoint(Script(replies=(PASS,), author=write, api_key=KEY)) as endpoint:
            ended = await summarize(tmp_path, endpoint, manual, **variables)
        assert (ended.code, endpoint.log.answered.total()) == (4, 0)
        assert set(endpoint.log.faults) == {"invalid_api_key"}


async def test_other_settings_hold(tmp_path: Path, manual: Path) -> None:
    async with ScriptedEndpoint(Script(replies=(PASS,), author=write)) as endpoint:
        ended = await summarize(tmp_path, endpoint, manual, PRECIS_LLM__RATES__MAX_CONCURRENCY="1")
    assert (ended.code, endpoint.log.peak_in_flight) == (0, 1)


async def test_ctrl_c_says_how_to_go_on_here(tmp_path: Path, manual: Path) -> None:
    async with ScriptedEndpoint(Script(replies=(PASS,), author=write)) as endpoint:
        endpoint.gate.clear()
        arguments = ("summarize", manual, "--endpoint", endpoint.base_url, "--model", "scripted")
        running = await started(*arguments, stdin=asyncio.subprocess.DEVNULL, **variables_of(tmp_path))
        summary_id = (await running.err.readline()).decode().split()[1]
        await endpoint.log.until(lambda log: log.in_flight > 0)
        running.process.send_signal(signal.SIGINT)
        _, err = await running.process.communicate()
        assert running.process.returncode == 130
        assert f"--resume {summary_id} --endpoint {endpoint.base_url} --model scripted" in err.decode()
        await endpoint.log.until(lambda log: log.in_flight == 0)
        endpoint.gate.set()
        resumed = await summarize(tmp_path, endpoint, "--resume", summary_id)
        assert (resumed.code, "## Key topics" in resumed.out) == (0, True)


async def test_an_unknown_id_and_a_dead_endpoint_are_told_apart(tmp_path: Path, manual: Path) -> None:
    async with ScriptedEndpoint() as endpoint:
        unknown = await summarize(tmp_path, endpoint, "--resume", "nobody")
    assert (unknown.code, "no summary has the id" in unknown.error) == (2, True)
    dead = await summarize(tmp_path, endpoint, manual)
    assert dead.code == 4
    assert "cannot connect" in dead.err.splitlines()[-1]
