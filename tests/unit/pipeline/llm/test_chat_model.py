"""A chat model at work: what it sends, returns and counts, and callers that leave."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from pipeline.llm.chat_model import ChatMessage, ChatModel
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import BadAnswerError, BudgetExceededError
from pipeline.llm.openai import OpenAiChatModel
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import SCHEMA, bench, request


async def test_a_call_says_what_was_asked_and_returns_what_was_answered() -> None:
    script = Script(keep_bodies=True, replies=(Reply("pumps", "All of them."),))
    async with bench(script) as at:
        completion = await at.model.complete(request())
        assert at.scripted.log.bodies == [
            {
                "model": "scripted",
                "messages": [
                    {"role": "system", "content": "Answer from the manual."},
                    {"role": "user", "content": "Which pumps need oil?"},
                ],
                "max_tokens": 100,
                "temperature": 0.1,
            }
        ]
        assert (completion.text, completion.finish_reason) == ("All of them.", "stop")
        assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (11, 3)
        assert (completion.model, completion.usage.calls) == ("scripted", 1)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_cut_answer_says_so(*, stream: bool) -> None:
    async with bench(Script(replies=(Reply("", "word " * 100),)), stream=stream) as at:
        completion = await at.model.complete(request(max_tokens=5))
        assert completion.finish_reason == "length"
        assert completion.text == "word word word word "


async def test_streamed_and_whole_answers_are_the_same() -> None:
    async with bench() as whole, bench(stream=True) as streamed:
        asked = request("A question with quite some words, Umlaute äöü included.", top_logprobs=3)
        assert await whole.model.complete(asked) == await streamed.model.complete(asked)


async def test_the_last_message_may_be_an_answer_to_go_on_with() -> None:
    async with bench(Script(keep_bodies=True)) as at:
        await at.model.complete(request(after=(ChatMessage("assistant", "The pumps are"),)))
        assert [message["role"] for message in at.scripted.log.bodies[0]["messages"]] == ["system", "user", "assistant"]  # type: ignore[attr-defined]


async def test_totals_and_cost_add_up() -> None:
    prices = {"prompt_per_million": 2.0, "completion_per_million": 10.0}
    async with bench(Script(replies=(Reply("", "12345678"),)), prices=prices) as at:
        answers = [await at.model.complete(request(f"question {n}")) for n in range(3)]
        usage = at.endpoint.usage
        assert (usage.attempts, usage.answers, usage.failures) == (3, 3, {})
        assert usage.prompt_tokens == sum(answer.usage.prompt_tokens for answer in answers)
        assert usage.completion_tokens == 6
        assert usage.cost == pytest.approx((usage.prompt_tokens * 2 + 6 * 10) / 1e6)


async def test_nothing_more_is_sent_once_the_money_is_spent() -> None:
    async with bench(prices={"prompt_per_million": 1e6, "max_cost": 15.0}) as at:
        first = await at.model.complete(request())
        assert first.usage.prompt_tokens < 15
        await at.model.complete(request("again"))
        with pytest.raises(BudgetExceededError, match="max_cost 15"):
            await at.model.complete(request("once more"))
        assert at.scripted.log.requests.total() == 2


async def test_identity_names_model_and_endpoint_but_no_key() -> None:
    async with bench(api_key="sk-secret") as at:
        model: ChatModel = at.model
        assert model.identity == f"scripted@{at.scripted.base_url}"
        assert model.context_tokens == 8192
        assert model.count_tokens("three short words") > 0


async def test_a_set_temperature_stands_above_what_a_task_asks_for() -> None:
    async with bench(Script(keep_bodies=True), temperature=0.7) as at:
        await at.model.complete(request())
        assert at.scripted.log.bodies[0]["temperature"] == 0.7
        assert at.model.identity.endswith(" at temperature 0.7")


@pytest.mark.parametrize(
    ("script", "once"),
    [
        (Script(replies=(Reply("", "no JSON"),)), {"asks_once": True}),
        (Script(faults=FaultPlan({Fault.EMPTY: 1.0})), {"asks_once": True}),
    ],
)
async def test_who_asks_once_gets_one_request_and_the_error(script: Script, once: dict[str, Any]) -> None:
    async with bench(script) as at:
        with pytest.raises(BadAnswerError):
            await at.model.complete(replace(request(json_schema=SCHEMA), **once))
        assert at.scripted.log.requests.total() == 1


async def test_two_models_of_an_endpoint_share_its_limit() -> None:
    script = Script(models=("scripted", "other"))
    async with bench(script, rates={"max_concurrency": 4}) as at:
        other = OpenAiChatModel(at.endpoint, at.endpoint.config.model_copy(update={"model": "other"}))
        await asyncio.gather(*map(at.endpoint.context_of, script.models))  # which is asked for once
        at.scripted.gate.clear()
        calls = [
            asyncio.create_task(model.complete(request(f"question {n}")))
            for n in range(10)
            for model in (at.model, other)
        ]
        await at.scripted.log.until(lambda log: log.in_flight == 4)
        assert (at.endpoint.limiter.in_flight, at.endpoint.limiter.waiting) == (4, 16)
        at.scripted.gate.set()
        answers = await asyncio.gather(*calls)
        assert {answer.model for answer in answers} == {"scripted", "other"}
        assert at.scripted.log.peak_in_flight == 4


async def test_an_endpoint_that_bears_less_is_not_asked_for_more_for_long() -> None:
    async with bench(Script(max_concurrency=4), rates={"max_concurrency": 32}, retries={"max_attempts": 100}) as at:
        await at.endpoint.context_of("scripted")  # which the others would wait for
        await asyncio.gather(*(at.model.complete(request(f"question {n}")) for n in range(200)))
        assert at.scripted.log.answered.total() == 200
        assert at.endpoint.limiter.concurrency_limit < 32
        assert at.scripted.log.faults["rate_limit"] < 200


async def test_missing_counts_are_estimated() -> None:
    async with ScriptedEndpoint() as scripted:
        config = LlmConfig(base_url=scripted.base_url, model="scripted", stream=True)
        async with Endpoint(config) as endpoint:
            model = OpenAiChatModel(endpoint)
            model.dialect.refused = frozenset({"stream_options"})  # as after a refusal
            completion = await model.complete(request())
    assert completion.usage.prompt_tokens == request().prompt_tokens(model.count_tokens)
    assert completion.usage.completion_tokens == model.count_tokens(completion.text)


async def test_a_connection_is_opened_for_each_call_in_flight_and_used_again() -> None:
    async with bench(Script(latency_s=0.001), rates={"max_concurrency": 8}) as at:
        await asyncio.gather(*(at.model.complete(request(f"{n}")) for n in range(100)))
        assert at.scripted.connection_count == 8
    async with bench() as at:
        for number in range(5):
            await at.model.complete(request(f"{number}"))
        assert at.scripted.connection_count == 1


async def test_cancelling_in_the_middle_of_an_answer_closes_the_connection() -> None:
    async with bench(Script(faults=FaultPlan({Fault.ENDLESS: 1.0})), max_answer_bytes=1 << 40) as at:
        call = asyncio.create_task(at.model.complete(request()))
        await at.scripted.log.until(lambda log: log.in_flight == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await at.scripted.log.until(lambda log: log.left == 1)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_crowd_that_leaves_leaves_nothing_behind(*, stream: bool) -> None:
    async with bench(stream=stream, rates={"max_concurrency": 8}) as at:
        at.scripted.gate.clear()
        calls = [asyncio.create_task(at.model.complete(request(f"{n}"))) for n in range(50)]
        await at.scripted.log.until(lambda log: log.in_flight == 8)
        for call in calls:
            call.cancel()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
        await at.scripted.log.until(lambda log: log.left == 8)
        assert at.scripted.log.requests.total() == 8
        assert (at.endpoint.limiter.in_flight, at.endpoint.limiter.waiting) == (0, 0)
        at.scripted.gate.set()
        assert (await at.model.complete(request())).text  # the endpoint is as usable as before
        assert at.endpoint.usage.failures == {}
