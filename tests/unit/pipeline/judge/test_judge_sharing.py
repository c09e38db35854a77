"""Judgements that are shared, streamed, cancelled or fail."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pipeline.errors import ModelOutputError
from pipeline.judge.judge import Judge, JudgeCaches
from pipeline.judge.judgement import EvidenceReady, Judgement
from pipeline.protocols import Float32
from tests.fakes_pipeline import OverlapEntailment, fake_models
from tests.unit.pipeline.judge.judging import REQUEST, TWIN, Fakes, GatedEntailment


async def test_a_request_that_comes_again_asks_no_model_and_streams_the_same_events() -> None:
    fakes = Fakes()
    judge = Judge(caches=JudgeCaches())
    first = await fakes.events(judge=judge)
    asked = len(fakes.entailment.calls)
    second = await fakes.events(judge=judge)
    assert len(fakes.entailment.calls) == asked
    assert second[:-1] == first[:-1]
    assert isinstance(second[-1], Judgement)
    assert isinstance(first[-1], Judgement)
    assert (first[-1].is_cached, second[-1].is_cached) == (False, True)
    other = await fakes.judge(replace(REQUEST, frameworks=(TWIN,)), judge)
    assert not other.is_cached


async def test_what_one_owner_asked_is_not_known_to_another() -> None:
    caches, fakes = JudgeCaches(), Fakes()
    first, other, again = [await fakes.judge(judge=Judge(caches=caches, owner=owner)) for owner in ("a", "b", "a")]
    assert [one.is_cached for one in (first, other, again)] == [False, False, True]
    assert len(caches.sources) == 2


async def test_equal_streams_at_once_share_the_work_and_all_send_everything() -> None:
    entailment = GatedEntailment()
    fakes, judge = Fakes(entailment), Judge(caches=JudgeCaches())
    request = replace(REQUEST, frameworks=(TWIN,))
    streams = [asyncio.create_task(fakes.events(request, judge)) for _ in range(3)]
    await entailment.asked.wait()
    entailment.gate.set()
    first, *others = await asyncio.gather(*streams)
    assert len(entailment.calls) == 2  # claims, then key points
    assert [len(events) for events in (first, *others)] == [7, 7, 7]
    assert all(events[:-1] == first[:-1] for events in others)


async def test_closing_a_stream_ends_its_work() -> None:
    entailment = GatedEntailment()
    stream = Judge().stream(REQUEST, fake_models(entailment))
    reading = asyncio.create_task(anext(stream))
    await entailment.asked.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await stream.aclose()
    assert entailment.cancelled


async def test_a_reader_that_stops_holds_up_nobody_else() -> None:
    fakes, judge = Fakes(), Judge(caches=JudgeCaches())
    slow = judge.stream(REQUEST, fakes.models())
    assert isinstance(await anext(slow), EvidenceReady)
    assert (await fakes.judge(judge=judge)).is_cached  # though the stream has not been read to its end
    await slow.aclose()


async def test_a_models_failure_ends_judgement_and_stream_and_is_not_kept() -> None:
    class Broken(OverlapEntailment):
        async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
            raise ModelOutputError("no numbers")

    caches = JudgeCaches()
    judge = Judge(caches=caches)
    with pytest.raises(ModelOutputError):
        await Fakes(Broken()).judge(judge=judge)
    with pytest.raises(ModelOutputError):
        await Fakes(Broken()).events(judge=judge)
    assert len(caches.judgements) == 0
    assert not (await Fakes().judge(judge=judge)).is_cached
