"""Which judgements are kept, and what equal requests at once share."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from pipeline.judge.cache import JudgementCache
from pipeline.judge.judgement import Judgement
from pipeline.llm.chat_model import LlmUsage
from pipeline.shared_cache import CacheBounds
from tests.unit.pipeline.judge.judgements import judgement
from tests.unit.pipeline.judge.tables import U, claims

PLENTY = CacheBounds(entries=256, chars=1_000_000)


class Computation:
    """Gives one outcome after another, each when the test lets it. Counts how often it was asked."""

    def __init__(self, *outcomes: Judgement | Exception) -> None:
        self.count = 0
        self.started = asyncio.Event()
        self.gate = asyncio.Event()
        self._outcomes = outcomes

    async def __call__(self) -> Judgement:
        outcome = self._outcomes[self.count]
        self.count += 1
        self.started.set()
        await self.gate.wait()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def ready(*outcomes: Judgement | Exception) -> Computation:
    computation = Computation(*outcomes)
    computation.gate.set()
    return computation


async def settle() -> None:
    """Lets every task run as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_request_that_comes_again_is_not_computed_again() -> None:
    cache, compute = JudgementCache(PLENTY), ready(judgement())
    first, second = await cache.get("a", compute), await cache.get("a", compute)
    assert (compute.count, first.is_cached, second.is_cached) == (1, False, True)
    assert (second.frameworks, second.evidence) == (first.frameworks, first.evidence)


async def test_only_the_request_that_computed_pays_for_the_language_model() -> None:
    cost = LlmUsage(14, 21_300, 840)
    cache, compute = JudgementCache(PLENTY), Computation(replace(judgement(), language_model_usage=cost))
    leader, waiter = (asyncio.create_task(cache.get("a", compute)) for _ in range(2))
    await compute.started.wait()
    compute.gate.set()
    usages = [(await one).language_model_usage for one in (leader, waiter)]
    assert [*usages, (await cache.get("a", compute)).language_model_usage] == [cost, LlmUsage(), LlmUsage()]


async def test_equal_requests_at_once_are_computed_once() -> None:
    cache, compute = JudgementCache(PLENTY), Computation(judgement())
    tasks = [asyncio.create_task(cache.get("a", compute)) for _ in range(5)]
    await settle()
    assert compute.count == 1
    compute.gate.set()
    found = await asyncio.gather(*tasks)
    assert compute.count == 1
    assert [one.is_cached for one in found] == [False, True, True, True, True]


async def test_different_requests_do_not_wait_for_each_other() -> None:
    cache, slow = JudgementCache(PLENTY), Computation(judgement("a"))
    task = asyncio.create_task(cache.get("a", slow))
    await slow.started.wait()
    assert (await cache.get("b", ready(judgement("b")))).request_hash == "b"
    slow.gate.set()
    await task


async def test_a_failure_is_its_own_callers_and_the_next_one_computes() -> None:
    cache, compute = JudgementCache(PLENTY), Computation(RuntimeError("late"), judgement())
    first, second, third = (asyncio.create_task(cache.get("a", compute)) for _ in range(3))
    await settle()
    compute.gate.set()
    with pytest.raises(RuntimeError, match="late"):
        await first
    assert (await second).frameworks == (await third).frameworks
    assert compute.count == 2


async def test_a_caller_that_leaves_does_not_take_the_others_along() -> None:
    cache, compute = JudgementCache(PLENTY), Computation(judgement(), judgement())
    leader, waiter, leaver = (asyncio.create_task(cache.get("a", compute)) for _ in range(3))
    await settle()
    leaver.cancel()
    await settle()
    assert (leaver.cancelled(), waiter.done()) == (True, False)
    leader.cancel()
    await settle()
    assert (leader.cancelled(), waiter.done(), compute.count) == (True, False, 2)
    compute.gate.set()
    assert not (await waiter).is_cached


@pytest.mark.parametrize("passing", [judgement(degraded=True), judgement(broken=True)])
async def test_what_may_have_been_a_passing_failure_is_shared_but_not_kept(passing: Judgement) -> None:
    cache, compute = JudgementCache(PLENTY), Computation(passing, judgement())
    tasks = [asyncio.create_task(cache.get("a", compute)) for _ in range(2)]
    await settle()
    compute.gate.set()
    assert [one.is_cached for one in await asyncio.gather(*tasks)] == [False, True]
    assert len(cache) == 0
    assert not (await cache.get("a", compute)).is_cached
    assert (compute.count, len(cache)) == (2, 1)


async def _fill(cache: JudgementCache, *keys: str, make: Callable[[str], Judgement] = judgement) -> list[bool]:
    async def compute(key: str) -> Judgement:
        return make(key)

    def computing(key: str) -> Callable[[], Awaitable[Judgement]]:
        return lambda: compute(key)

    return [(await cache.get(key, computing(key))).is_cached for key in keys]


async def test_the_judgements_used_last_are_kept() -> None:
    cache = JudgementCache(CacheBounds(2, 1_000))
    assert await _fill(cache, "a", "b", "a", "c") == [False, False, True, False]
    assert await _fill(cache, "a", "c", "b") == [True, True, False]
    assert len(cache) == 2


async def test_the_characters_kept_are_bounded() -> None:
    cache = JudgementCache(CacheBounds(10, 50))
    await _fill(cache, "a", "b", "c")  # 20 characters each
    assert len(cache) == 2
    await _fill(cache, "long", make=lambda key: judgement(key, chars=51))
    assert len(cache) == 0


async def test_what_claims_quote_counts_among_the_characters() -> None:
    (claim,) = claims(U)
    spans = (claim.passage, claim.premise, claim.support, *claim.unsupported)
    chars = 20 + sum(len(span.quote) + len(span.text) for span in spans if span)
    for room, kept in ((chars, 1), (chars - 1, 0)):
        cache = JudgementCache(CacheBounds(10, room))
        await _fill(cache, "a", make=lambda key: judgement(key, claims=[claim]))
        assert len(cache) == kept


async def test_a_cache_of_no_judgements_keeps_none() -> None:
    cache = JudgementCache(CacheBounds(0, 1_000))
    assert await _fill(cache, "a", "a") == [False, False]
    assert len(cache) == 0
