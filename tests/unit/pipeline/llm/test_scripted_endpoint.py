"""The witness itself: does the scripted endpoint do and count what it says?"""

import asyncio

import pytest

from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import answer, instance
from tests.scripted_endpoint.request_log import RequestLog
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import SCHEMA, bench, request


def test_draws_depend_on_seed_content_and_attempt_only() -> None:
    plan = FaultPlan({Fault.RESET: 0.3, Fault.HTML: 0.2}, seed=1)
    draws = [plan.draw(f"content {n}", attempt) for n in range(2000) for attempt in (1, 2)]
    assert draws == [plan.draw(f"content {n}", attempt) for n in range(2000) for attempt in (1, 2)]
    assert draws.count(Fault.RESET) == pytest.approx(0.3 * len(draws), rel=0.1)
    assert draws.count(Fault.HTML) == pytest.approx(0.2 * len(draws), rel=0.1)
    other = FaultPlan(plan.shares, seed=2)
    assert draws != [other.draw(f"content {n}", attempt) for n in range(2000) for attempt in (1, 2)]


def test_an_answer_is_the_end_of_the_last_message_and_obeys_the_limit() -> None:
    body = {"messages": [{"role": "user", "content": "one two three four"}], "max_tokens": 2}
    made = answer(body, (), answer_chars=10)
    assert (made.text, made.finish_reason, made.completion_tokens) == ("four", "stop", 1)
    assert answer({**body, "max_tokens": 1}, (), answer_chars=12).finish_reason == "length"


def test_an_instance_of_a_schema_fits_it() -> None:
    made = instance(SCHEMA, "pumps and valves")
    assert isinstance(made, dict)
    assert len(made["topics"]) == 2


async def test_the_log_counts_by_content() -> None:
    async with bench(Script(first_faults=(Fault.RESET,))) as at:
        await at.model.complete(request("a"))
        await at.model.complete(request("b"))
        await at.model.complete(request("b"))
        log = at.scripted.log
        assert sorted(log.requests.values()) == [2, 2]
        assert sorted(log.answered.values()) == [1, 2]
        assert log.faults == {"reset": 1}


async def test_waiting_for_the_log_ends_when_the_condition_holds() -> None:
    log = RequestLog()
    waiter = asyncio.create_task(log.until(lambda seen: seen.requests["x"] == 2))
    log.begin("x", {}, keep_body=False)
    await asyncio.sleep(0)
    assert not waiter.done()
    log.begin("x", {}, keep_body=False)
    await waiter
