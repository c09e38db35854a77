"""What an endpoint says that it holds, beside what is set."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from pipeline.llm.errors import ConnectionFailedError, LlmSettingsError
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import bench, request

MODELS, NAME = "/v1/models", {"id": "scripted", "object": "model"}
TOLD: Mapping[str, dict[str, object]] = {
    "vLLM": {MODELS: {"data": [{"id": "other", "max_model_len": 512}, {**NAME, "max_model_len": 4_096}]}},
    "llama.cpp": {
        MODELS: {"data": [{"id": "/models/qwen.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32_768}}]},
        "/props": {"default_generation_settings": {"n_ctx": 4_096}, "total_slots": 1},
    },
    "Ollama": {
        MODELS: {"data": [{**NAME, "owned_by": "library"}]},
        "/api/ps": {"models": [{"name": "scripted", "model": "scripted", "context_length": 4_096}]},
    },
    "LM Studio": {
        MODELS: {"data": [{**NAME, "owned_by": "organization_owner"}, {"id": "other"}]},
        "/api/v0/models": {"data": [{**NAME, "max_context_length": 32_768, "loaded_context_length": 4_096}]},
    },
}
JUNK: tuple[object, ...] = (
    [],
    {"data": None},
    {"data": [7]},
    {"data": [NAME]},
    {"data": [{**NAME, "max_model_len": "many"}]},
    {"data": [{**NAME, "owned_by": []}]},
)


@pytest.mark.parametrize("server", TOLD)
async def test_a_summary_stops_where_more_is_set_than_the_endpoint_holds(server: str) -> None:
    told = dict(TOLD[server])
    async with bench(Script(tells=told), context_tokens=8_192) as at:
        for _ in range(2):
            with pytest.raises(LlmSettingsError, match=r"llm\.context_tokens is 8192.* set it to 4096"):
                await at.model.complete(request())
            told.clear()  # it is asked once
        assert (await at.model.complete(replace(request(), asks_once=True))).text
        assert at.scripted.log.requests.total() == 1
    async with bench(Script(tells=TOLD[server]), context_tokens=4_096) as at:
        assert (await at.model.complete(request())).text


@pytest.mark.parametrize("server", TOLD)
async def test_where_nothing_is_set_a_model_holds_what_its_endpoint_tells(server: str) -> None:
    async with bench(Script(tells=TOLD[server])) as at:
        assert (await at.model.complete(request())).text  # also if nobody asked what it holds
        await at.model.learn_context()
        assert at.model.context_tokens == 4_096
    async with bench(Script(tells=TOLD[server]), context_tokens=2_048) as at:
        await at.model.learn_context()
        assert at.model.context_tokens == 2_048


@pytest.mark.parametrize("told", JUNK)
async def test_an_endpoint_that_does_not_say_what_it_holds_is_asked_all_the_same(told: object) -> None:
    async with bench(Script(tells={MODELS: told})) as at:
        await at.model.learn_context()
        assert at.model.context_tokens == 8_192
        assert (await at.model.complete(request())).text


async def test_calls_at_once_ask_an_endpoint_that_refuses_connections_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def refuse(base_url: str, _: str) -> None:
        asked.append(base_url)
        await asyncio.sleep(0)
        raise ConnectionFailedError("refused")

    async with bench() as at:
        monkeypatch.setattr(at.endpoint, "_ask_context", refuse)
        for attempts in (1, 2):  # it may have started meanwhile
            assert set(await asyncio.gather(*(at.endpoint.context_of("scripted") for _ in range(5)))) == {None}
            assert len(asked) == attempts
