"""What one request asks of a chat model, counted: answers, retries, and what failed after all."""

import asyncio

import pytest

from pipeline.llm.chat_model import ChatModel, Completion, LlmUsage
from pipeline.llm.errors import EndpointFailedError, RequestRefusedError, SchemaMismatchError
from pipeline.llm.metering import MeteredChatModel
from tests.scripted_endpoint.faults import Fault
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import SCHEMA, bench, failing, request
from tests.unit.pipeline.summarize.fake_chat import FakeChat


async def test_it_is_the_inner_model_to_whoever_asks() -> None:
    inner = FakeChat("Yes.", context_tokens=77)
    metered: ChatModel = MeteredChatModel(inner)
    assert (metered.identity, metered.context_tokens) == ("fake-chat", 77)
    assert metered.count_tokens("eight ch") == 2
    assert await metered.complete(request()) == Completion("Yes.", "stop", LlmUsage(1, 10, 5), "fake")


async def test_requests_that_share_a_model_are_counted_apart() -> None:
    inner = FakeChat("Yes.")
    first, second = MeteredChatModel(inner), MeteredChatModel(inner)
    await asyncio.gather(*(first.complete(request()) for _ in range(3)), second.complete(request()))
    assert (first.usage, second.usage) == (LlmUsage(3, 30, 15), LlmUsage(1, 10, 5))


async def test_the_count_is_the_endpoints_own() -> None:
    async with bench() as at:
        metered = MeteredChatModel(at.model)
        for text in ("Which pumps need oil?", "And which valves?"):
            await metered.complete(request(text))
        total = at.endpoint.usage
    assert metered.usage == LlmUsage(2, total.prompt_tokens, total.completion_tokens)
    assert metered.usage.prompt_tokens > 0


async def test_retries_are_counted_with_the_answer_they_led_to() -> None:
    async with bench(failing(Fault.RATE_LIMIT, Fault.RESET)) as at:
        metered = MeteredChatModel(at.model)
        await metered.complete(request())
        assert at.endpoint.usage.retries == 2
    assert (metered.usage.calls, metered.usage.retries) == (1, 2)


async def test_retries_that_led_to_nothing_are_counted_too() -> None:
    script = failing(*[Fault.SERVER_ERROR] * 3)
    async with bench(script, retries={"max_attempts": 3}) as at:
        metered = MeteredChatModel(at.model)
        with pytest.raises(EndpointFailedError):
            await metered.complete(request())
    assert metered.usage == LlmUsage(retries=2)


@pytest.mark.parametrize("structured_output", ["auto", "prompt"])
async def test_answers_that_never_fit_were_paid_for(structured_output: str) -> None:
    script = Script(replies=(Reply("", "no JSON"),), supports_json_schema=False)
    async with bench(script, structured_output=structured_output) as at:
        metered = MeteredChatModel(at.model)
        with pytest.raises(SchemaMismatchError):
            await metered.complete(request(json_schema=SCHEMA))
        total = at.endpoint.usage
    assert total.answers == 1
    assert metered.usage == LlmUsage(1, total.prompt_tokens, total.completion_tokens)


async def test_a_refused_request_costs_nothing() -> None:
    inner = FakeChat(RequestRefusedError("no"))
    metered = MeteredChatModel(inner)
    with pytest.raises(RequestRefusedError):
        await metered.complete(request())
    assert metered.usage == LlmUsage()
