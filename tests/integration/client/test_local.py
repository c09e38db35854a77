"""The clients without a server: the same bytes as from a server, and nothing left when they close."""

import asyncio
import re
import runpy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from precis import Client, errors, gold_standard, local

from server.app import App
from tests.golden.volatile import ENDPOINT, clear_volatile
from tests.integration.judge.judge_requests import SOURCE, SUMMARY

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TEXT = "The bridge will close for nine months. Repairs cost 4.2 million dollars. " * 40
DATUM = gold_standard(SOURCE, SUMMARY)


@pytest.fixture(scope="module")
def settings(tiny_models: Path) -> dict[str, Any]:
    return {"models_dir": tiny_models, "inference": {"runtime": {"warmup_s": 0.05, "workers": 1}}}


@pytest.fixture(scope="module")
def here(settings: dict[str, Any]) -> Iterator[local.Client]:
    with local.Client(settings) as client:
        yield client


def answers_of(client: Client) -> list[bytes]:
    """Returns what one client says to all kinds of calls."""
    judgement = client.judge(SOURCE, SUMMARY, frameworks=["twin-lock", "ultra"], view="full").message
    evaluation = client.evaluate(DATUM, SUMMARY).message
    judgements = sorted(client.judge_batch([(SOURCE, SUMMARY), (SOURCE, "")]), key=lambda item: item.index)
    summary = client.summarize(TEXT).result()
    messages = [judgement, evaluation, *client.embed(["w1", "w2 w3"]), *client.entail([("w1", "w2")]), *client.models()]
    for message in (summary, *messages):
        clear_volatile(message, ENDPOINT)
    return [*(one.SerializeToString() for one in (summary, *messages)), str(judgements[1].error).encode()]


async def test_every_call_brings_the_bytes_that_a_server_brings(app: App, settings: dict[str, Any]) -> None:
    with Client(app.address) as client:
        from_a_server = await asyncio.to_thread(answers_of, client)
        health = await asyncio.to_thread(client.health)
    with local.Client(settings) as here:
        assert answers_of(here) == from_a_server
        assert here.health() == health


async def test_the_asyncio_client_answers_likewise_on_a_loop_of_its_own(
    settings: dict[str, Any], here: local.Client
) -> None:
    async with local.AsyncClient(settings) as client:
        judgement = await client.judge(SOURCE, SUMMARY)
        items = [item async for item in client.judge_batch([(SOURCE, SUMMARY)] * 3)]
        run = client.summarize(TEXT)
        steps = [step async for step in run]
        summary = await run.result()
    same = await asyncio.to_thread(here.judge, SOURCE, SUMMARY)
    assert judgement.claims == same.claims
    assert [item.result().hallucination for item in items] == [same.hallucination] * 3
    assert steps
    assert summary.text == (await asyncio.to_thread(here.summarize(TEXT).result)).text


def test_a_refused_field_is_named_as_a_server_names_it_and_a_call_without_time_is_too_late(here: local.Client) -> None:
    with pytest.raises(errors.InvalidArgument) as caught:
        here.judge(SOURCE, " ")
    assert (caught.value.field, caught.value.reason) == ("summary", "INVALID_REQUEST")
    assert caught.value.request_id
    with pytest.raises(errors.DeadlineExceeded):
        here.judge(" ".join([SOURCE] * 500), SUMMARY, timeout_s=0)


def broken_pairs(error: Exception) -> Iterator[tuple[str, str]]:
    yield SOURCE, SUMMARY
    raise error


def test_a_batch_whose_pairs_break_answers_those_before_and_raises(here: local.Client) -> None:
    items = here.judge_batch(broken_pairs(OSError("no such file")))
    assert next(items).error is None
    with pytest.raises(OSError, match="no such file"):
        next(items)


async def test_an_asyncio_client_does_likewise_and_is_entered_first(settings: dict[str, Any]) -> None:
    client = local.AsyncClient(settings)
    with pytest.raises(ValueError, match="enter this client first"):
        await client.embed(["w1"])
    async with client:
        items = client.judge_batch(broken_pairs(OSError("no such file")))
        assert (await anext(items)).error is None
        with pytest.raises(OSError, match="no such file"):
            await anext(items)


def test_closing_joins_the_threads_and_ends_what_runs(settings: dict[str, Any], tmp_path: Path) -> None:
    before = set(threading.enumerate())
    client = local.Client({**settings, "summary_storage": {"directory": tmp_path}})
    run = client.summarize(TEXT)
    next(run)
    client.close()
    client.close()
    assert {thread for thread in set(threading.enumerate()) - before if thread.name.startswith("precis")} == set()
    with pytest.raises(ValueError, match="closed"):
        client.embed(["w1"])
    assert list(tmp_path.iterdir())


def test_missing_models_and_a_misspelt_setting_are_named(tmp_path: Path) -> None:
    with pytest.raises(errors.FailedPrecondition, match="precis models install") as caught:
        local.Client({"models_dir": tmp_path})
    assert caught.value.reason == "NOT_STARTED"
    with pytest.raises(errors.FailedPrecondition, match="model_dirs"):
        local.Client({"model_dirs": "models"})


def test_the_example_needs_models_and_nothing_else(
    tiny_models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PRECIS_MODELS_DIR", str(tiny_models))
    runpy.run_path(str(EXAMPLES / "without_server.py"))
    assert capsys.readouterr().out.startswith("hallucination ")


def test_the_index_of_the_examples_names_each() -> None:
    named = re.findall(r"^\| `([\w./-]+)`", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    found = (
        path.name + "/" * path.is_dir() for path in EXAMPLES.iterdir() if not path.name.startswith(("_", "README"))
    )
    assert sorted(named) == sorted(found)
