"""A real language model behind a real llama.cpp server: `scripts/local_llm`."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from pipeline.llm.chat_model import ChatMessage, ChatRequest
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import ContextOverflowError
from pipeline.llm.openai import OpenAiChatModel
from tests.local_llm import MODEL, served_model

CONTEXT_TOKENS = 512
pytestmark = [pytest.mark.llm, pytest.mark.timeout(900)]  # the first test may have to fetch the model


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """The address of a server that runs for this module, and then ends when it is asked to."""
    with served_model(CONTEXT_TOKENS) as url:
        yield url


def config(base_url: str, *, stream: bool = False) -> LlmConfig:
    return LlmConfig(base_url=base_url, model=MODEL, stream=stream, context_tokens=CONTEXT_TOKENS)


def ask(text: str, max_tokens: int = 24) -> ChatRequest:
    return ChatRequest((ChatMessage("user", text),), max_tokens=max_tokens, temperature=0.0)


@pytest.mark.parametrize("stream", [False, True])
async def test_it_answers(base_url: str, *, stream: bool) -> None:
    async with Endpoint(config(base_url, stream=stream)) as endpoint:
        completion = await OpenAiChatModel(endpoint).complete(ask("What is the capital of France? One sentence."))
    assert "Paris" in completion.text
    assert completion.finish_reason in {"stop", "length"}
    assert 10 < completion.usage.prompt_tokens < 100
    assert 0 < completion.usage.completion_tokens <= 24
    assert completion.model == MODEL


async def test_it_keeps_to_a_schema(base_url: str) -> None:
    # Small models do not find an end of their own accord; this schema has one.
    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["PASS", "FAIL"]}, "is_complete": {"type": "boolean"}},
        "required": ["verdict", "is_complete"],
        "additionalProperties": False,
    }
    request = ChatRequest((ChatMessage("user", "Is this summary good: pumps need oil?"),), 40, 0.0, json_schema=schema)
    async with Endpoint(config(base_url)) as endpoint:
        completion = await OpenAiChatModel(endpoint).complete(request)
    value = json.loads(completion.text)
    assert value["verdict"] in {"PASS", "FAIL"}
    assert completion.usage.calls == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_it_gives_logprobs(base_url: str, *, stream: bool) -> None:
    messages = (ChatMessage("user", "Is water wet? Answer yes or no."),)
    async with Endpoint(config(base_url, stream=stream)) as endpoint:
        completion = await OpenAiChatModel(endpoint).complete(ChatRequest(messages, 1, 0.0, top_logprobs=5))
    (place,) = completion.top_logprobs
    assert len(place.alternatives) == 5
    assert all(logprob <= 0 for _, logprob in place.alternatives)


async def test_it_refuses_what_does_not_fit(base_url: str) -> None:
    async with Endpoint(config(base_url)) as endpoint:
        with pytest.raises(ContextOverflowError, match=str(CONTEXT_TOKENS)):
            await OpenAiChatModel(endpoint).complete(ask("word " * CONTEXT_TOKENS))


async def test_it_stops_writing_for_a_caller_that_left(base_url: str) -> None:
    async with Endpoint(config(base_url)) as endpoint:
        model = OpenAiChatModel(endpoint)
        tale = asyncio.create_task(model.complete(ask("Tell a very long tale.", max_tokens=400)))
        await model.complete(ask("Say yes.", max_tokens=1))  # the tale is on its way by now, in the other slot
        tale.cancel()
        with pytest.raises(asyncio.CancelledError):
            await tale
        assert endpoint.limiter.in_flight == 0
        assert (await model.complete(ask("Say yes.", max_tokens=1))).text
