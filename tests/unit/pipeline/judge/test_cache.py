"""What is kept in memory, and what equal requests at once share."""

import asyncio

import pytest

from pipeline.judge.config import JudgementCacheConfig
from pipeline.judge.judge import JudgeCaches, SharedCache
from pipeline.judge.judgement import Judgement
from tests.unit.pipeline.judge.judgements import judgement
from tests.unit.pipeline.judge.tables import U, claims
from tests.unit.pipeline.llm.clocks import settle


def cache_of(entries: int = 256, chars: int = 1_000) -> SharedCache[str]:
    """A cache of texts; one that begins with "?" may have been worsened by a failure."""
    return SharedCache(entries, chars, len, lambda text: not text.startswith("?"))


class Computation:
    """Gives one outcome after another, each when the test lets it. Counts how often it was asked."""

    def __init__(self, *outcomes: str | Exception) -> None:
        self.count = 0
        self.gate = asyncio.Event()
        self._outcomes = outcomes

    async def __call__(self) -> str:
        outcome = self._outcomes[self.count]
        self.count += 1
        await self.gate.wait()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def asking(cache: SharedCache[str], compute: Computation, count: int) -> list[asyncio.Task[str]]:
    return [asyncio.create_task(cache.get("a", compute)) for _ in range(count)]


async def test_equal_requests_at_once_are_computed_once_and_others_do_not_wait_for_them() -> None:
    cache, compute, other = cache_of(), Computation("found"), Computation("other")
    tasks = asking(cache, compute, 5)
    await settle()
    other.gate.set()
    assert await cache.get("b", other) == "other"
    compute.gate.set()
    assert set(await asyncio.gather(*tasks)) == {"found"} == {await cache.get("a", compute)}
    assert compute.count == 1


async def test_a_failure_is_its_own_callers_and_the_next_one_computes() -> None:
    cache, compute = cache_of(), Computation(RuntimeError("late"), "found")
    first, second, third = asking(cache, compute, 3)
    await settle()
    compute.gate.set()
    with pytest.raises(RuntimeError, match="late"):
        await first
    assert (await second, await third, compute.count) == ("found", "found", 2)


async def test_a_caller_that_leaves_does_not_take_the_others_along() -> None:
    cache, compute = cache_of(), Computation("one", "two")
    leader, waiter, leaver = asking(cache, compute, 3)
    await settle()
    for leaving, count in ((leaver, 1), (leader, 2)):
        leaving.cancel()
        await settle()
        assert (leaving.cancelled(), waiter.done(), compute.count) == (True, False, count)
    compute.gate.set()
    assert await waiter == "two"


async def test_what_may_have_been_a_passing_failure_is_shared_but_not_kept() -> None:
    cache, compute = cache_of(), Computation("?", "found")
    tasks = asking(cache, compute, 2)
    await settle()
    compute.gate.set()
    assert await asyncio.gather(*tasks) == ["?", "?"]
    assert len(cache) == 0
    assert (await cache.get("a", compute), len(cache)) == ("found", 1)


@pytest.mark.parametrize(
    ("bounds", "asked", "computed"),
    [
        ((2, 1_000), ("a", "b", "a", "c", "a", "c", "b"), ["a", "b", "c", "b"]),  # those used last are kept
        ((9, 2), ("a", "b", "c", "a"), ["a", "b", "c", "a"]),
        ((9, 2), ("a", "long", "a"), ["a", "long", "a"]),
        ((0, 1_000), ("a", "a"), ["a", "a"]),
    ],
)
async def test_entries_and_characters_are_bounded(
    bounds: tuple[int, int], asked: tuple[str, ...], computed: list[str]
) -> None:
    cache, found = cache_of(*bounds), list[str]()

    async def compute(text: str) -> str:
        found.append(text)
        return text

    for text in asked:
        await cache.get(text, lambda text=text: compute(text))  # type: ignore[misc]  # a default of a lambda
    assert found == computed


async def keep(cache: SharedCache[Judgement], made: Judgement) -> int:
    async def compute() -> Judgement:
        return made

    await cache.get("a", compute)
    return len(cache)


@pytest.mark.parametrize("passing", [judgement(degraded=True), judgement(broken=True)])
async def test_a_judgement_that_a_failure_may_have_made_worse_is_not_kept(passing: Judgement) -> None:
    assert await keep(JudgeCaches().judgements, passing) == 0
    assert await keep(JudgeCaches().judgements, judgement()) == 1


async def test_what_claims_quote_counts_among_the_characters() -> None:
    (claim,) = claims(U)
    spans = (claim.passage, claim.premise, claim.support, *claim.unsupported)
    chars = 20 + sum(len(span.quote) + len(span.text) for span in spans if span)
    for room, kept in ((chars, 1), (chars - 1, 0)):
        caches = JudgeCaches(JudgementCacheConfig(max_chars=room))
        assert await keep(caches.judgements, judgement(claims=[claim])) == kept
