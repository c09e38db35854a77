"""A caller that leaves takes its request with it."""

import asyncio

import pytest

from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import bench, request


@pytest.mark.parametrize("stream", [False, True])
async def test_cancelling_closes_the_connection(*, stream: bool) -> None:
    async with bench(stream=stream) as at:
        at.scripted.gate.clear()
        call = asyncio.create_task(at.model.complete(request()))
        await at.scripted.log.until(lambda log: log.in_flight == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await at.scripted.log.until(lambda log: log.left == 1 and log.in_flight == 0)
        assert at.endpoint.limiter.in_flight == 0


async def test_cancelling_in_the_middle_of_an_answer_closes_the_connection() -> None:
    async with bench(Script(faults=FaultPlan({Fault.ENDLESS: 1.0})), max_answer_bytes=1 << 40) as at:
        call = asyncio.create_task(at.model.complete(request()))
        await at.scripted.log.until(lambda log: log.in_flight == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await at.scripted.log.until(lambda log: log.left == 1)


async def test_a_crowd_that_leaves_leaves_nothing_behind() -> None:
    async with bench(rates={"max_concurrency": 8}) as at:
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
