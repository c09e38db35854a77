"""A slow reader never stalls the graph and never grows memory."""

import asyncio

from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.events import BatchDone, Drafted, Event, EventChannel, Phase, SummaryProgress
from pipeline.summarize.result import SummaryWarning
from pipeline.summarize.retention import Retention


def batch_done(index: int) -> BatchDone:
    progress = SummaryProgress(Phase.MAP, 1, index + 1, 100, 0, LlmUsage(), 1.0, None)
    return BatchDone(
        batch_index=index,
        batch_count=100,
        chunk_indexes=(index, index),
        pages=(1, 1),
        usage=LlmUsage(),
        is_reused=False,
        retention=Retention(()),
        result_key="key",
        progress=progress,
    )


async def take_all(channel: EventChannel) -> list[Event]:
    channel.close()
    events = []
    while (event := await channel.take()) is not None:
        events.append(event)
    return events


async def test_the_oldest_progress_is_dropped_and_counted() -> None:
    channel = EventChannel(2)
    for index in range(5):
        channel.offer(batch_done(index))
    events = await take_all(channel)
    kept = [(event.batch_index, event.progress.joined_events) for event in events if isinstance(event, BatchDone)]
    assert kept == [(3, 3), (4, 0)]


async def test_other_events_are_never_dropped_and_keep_their_place() -> None:
    channel = EventChannel(1)
    warnings = [SummaryWarning("code", str(index)) for index in range(20)]
    for index, warning in enumerate(warnings):
        channel.offer(batch_done(index))
        channel.offer(warning)
    events = await take_all(channel)
    assert events[:-2] == warnings[:-1]
    assert isinstance(events[-2], BatchDone)
    assert events[-1] == warnings[-1]


async def test_a_reader_who_wants_texts_gets_every_batch() -> None:
    channel = EventChannel(None)
    for index in range(1_000):
        channel.offer(batch_done(index))
    assert len(await take_all(channel)) == 1_000


async def pieces_of(*drafts: Drafted, taken: int) -> list[Drafted]:
    """What a reader gets who takes the first pieces at once, and the others when all is written."""
    channel = EventChannel(2, include_draft=True)
    pieces: list[Event | None] = []
    for number, draft in enumerate(drafts):
        channel.offer(draft)
        if number < taken:
            pieces.append(await channel.take())
    return [piece for piece in [*pieces, *await take_all(channel)] if isinstance(piece, Drafted)]


async def test_a_reader_gets_what_follows_what_he_has_and_a_slow_one_no_gap() -> None:
    drafts = [Drafted(1, text) for text in ("Oil", "Oil the", "Oil the pump.")]
    assert await pieces_of(*drafts, taken=3) == [
        Drafted(1, "Oil", begins_anew=True),
        Drafted(1, " the"),
        Drafted(1, " pump."),
    ]
    drafts = [Drafted(1, "word " * count) for count in range(1, 1_000)]
    first, rest = await pieces_of(*drafts, taken=1)
    assert (first.text + rest.text, rest.begins_anew) == (drafts[-1].text, False)


async def test_a_text_that_begins_anew_or_is_checked_replaces_what_was_read() -> None:
    drafts = (Drafted(1, "Oil the"), Drafted(1, ""), Drafted(1, "Never"), Drafted(2, "Never oil"))
    assert [(one.iteration, one.text, one.begins_anew) for one in await pieces_of(*drafts, taken=4)] == [
        *((1, "Oil the", True), (1, "", True), (1, "Never", False), (2, "Never oil", True))
    ]
    checked = (Drafted(1, "Oil the"), Drafted(1, "Oil the pump"), Drafted(1, "Oil the pump.", is_checked=True))
    assert await pieces_of(*checked, taken=1) == [
        Drafted(1, "Oil the", begins_anew=True),
        Drafted(1, "Oil the pump.", begins_anew=True, is_checked=True),
    ]


async def test_drafts_keep_their_place_among_other_events() -> None:
    channel = EventChannel(2, include_draft=True)
    for text in ("Oil", "Oil it"):
        channel.offer(SummaryWarning("code", text))
        channel.offer(Drafted(1, text))
    channel.offer(SummaryWarning("code", "end"))
    kinds = [event.text if isinstance(event, Drafted) else type(event).__name__ for event in await take_all(channel)]
    assert kinds == ["SummaryWarning", "SummaryWarning", "Oil it", "SummaryWarning"]


async def test_only_readers_who_want_drafts_get_them() -> None:
    channel = EventChannel(2)
    plain = channel.copy(2, include_draft=False)
    before = channel.wants_drafts
    reader = channel.copy(2, include_draft=True)
    assert (before, channel.wants_drafts) == (False, True)
    channel.offer(Drafted(1, "Oil"))
    late = channel.copy(2, include_draft=True)
    assert await take_all(channel) == await take_all(plain) == []
    assert await take_all(reader) == await take_all(late) == [Drafted(1, "Oil", begins_anew=True)]


async def test_a_waiting_reader_is_woken() -> None:
    channel = EventChannel(2)
    reader = asyncio.create_task(channel.take())
    await asyncio.sleep(0)
    channel.offer(SummaryWarning("code", "text"))
    assert await reader == SummaryWarning("code", "text")
    reader = asyncio.create_task(channel.take())
    await asyncio.sleep(0)
    channel.close()
    assert await reader is None
