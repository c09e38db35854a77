"""Each owner sees what it would see alone: no other's summaries, names or answers, and no trace of them."""

import asyncio
import re
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from uuid import uuid4

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pipeline.summarize.errors import SummarizeError, UnknownSummaryError
from pipeline.summarize.events import Accepted, Event, Finished
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.summarizer import Summarizer
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in

OWNERS = ("", "a", "b")
DOCUMENTS = [numbered_document(3), numbered_document(4)]


class Step(NamedTuple):
    """What an owner does."""

    owner: str
    action: str
    document: int
    key: str | None
    whose: str  # owner of the summary that it asks for
    nth: int  # of that owner's summaries; beyond the last: an id that nobody has


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(OWNERS),
        st.sampled_from(["stream", "leave", "get", "resume", "cancel"]),
        st.integers(0, len(DOCUMENTS) - 1),
        st.sampled_from([None, "invoice", "owned:invoice"]),
        st.sampled_from(OWNERS),
        st.integers(0, 2),
    ),
    min_size=2,
    max_size=9,
)


class Play:
    """Carries out steps and keeps what each owner saw, with ids replaced by their order among its own."""

    def __init__(self, summarizer: Summarizer) -> None:
        self.ids: dict[str, list[str]] = defaultdict(list)
        self.seen: dict[str, list[str]] = defaultdict(list)
        self._summarizer = summarizer

    async def step(self, step: Step) -> None:
        try:
            outcome = await self._outcome(step, self._summarizer.owned_by(step.owner))
        except SummarizeError as error:
            outcome = type(error).__name__, str(error)
        text = repr(outcome)
        for position, summary_id in enumerate(self.ids[step.owner]):
            text = text.replace(summary_id, f"own-{position}")
        self.seen[step.owner].append(re.sub("[0-9a-f]{32}", "unknown", text))

    async def _outcome(self, step: Step, summarizer: Summarizer) -> object:
        writer = ScriptedWriter()
        ids = self.ids[step.whose]
        summary_id = ids[step.nth] if step.nth < len(ids) else uuid4().hex
        match step.action:
            case "stream" | "leave":
                stream = summarizer.stream(DOCUMENTS[step.document], writer=writer, idempotency_key=step.key)
                first = await anext(stream)
                assert isinstance(first, Accepted)
                if first.summary_id not in self.ids[step.owner]:
                    self.ids[step.owner].append(first.summary_id)
                rest = [] if step.action == "leave" else await read_all(stream)
                await stream.aclose()
                return [first, *map(timeless, rest)], len(writer.asked)
            case "resume":
                events = await read_all(summarizer.resume(summary_id, writer=writer))
                return [*map(timeless, events)], len(writer.asked)
            case "get":
                view = await summarizer.get(summary_id)
                return replace(view, result=untimed(view.result))
            case _:
                await summarizer.cancel(summary_id)
                return None


def untimed(result: SummaryResult) -> SummaryResult:
    return replace(result, elapsed_s=0.0, total_elapsed_s=0.0)


def timeless(event: Event) -> Event | str:
    """Returns what of an event does not depend on the clock."""
    if isinstance(event, Finished):
        return replace(event, result=untimed(event.result))
    return event if isinstance(event, Accepted) else type(event).__name__


async def played(place: Path | str, steps: Sequence[Step]) -> dict[str, list[str]]:
    """Returns what each owner sees."""
    async with summarizer_in(place) as summarizer:
        play = Play(summarizer)
        for step in steps:
            await play.step(step)
    return play.seen


@settings(max_examples=15, deadline=None, derandomize=True, phases=[Phase.generate])  # to shrink takes minutes
@given(STEPS)
def test_what_an_owner_sees_does_not_depend_on_the_others(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        together = asyncio.run(played(Path(folder), steps))
    for owner in OWNERS:
        with TemporaryDirectory() as folder:
            alone = asyncio.run(played(Path(folder), [step for step in steps if step.owner == owner]))
        assert together[owner] == alone[owner]


async def test_owners_do_not_meet_in_either_database(tmp_path: Path, postgres_url_or_none: str | None) -> None:
    place, key = postgres_url_or_none or tmp_path, uuid4().hex
    names = [f"{key} {owner}" for owner in "ab"]
    document = numbered_document(3, text=key)
    async with summarizer_in(place) as root:
        first, second = (root.owned_by(name) for name in names)
        writers = ScriptedWriter(), ScriptedWriter()
        made = result_of(await read_all(first.stream(document, writer=writers[0], idempotency_key=key)))
        other = result_of(await read_all(second.stream(document, writer=writers[1], idempotency_key=key)))
        assert other.summary_id != made.summary_id
        assert len(writers[0].asked) == len(writers[1].asked) == other.calls_done
        rows = await root.store._database.fetch("SELECT COUNT(*) FROM texts WHERE body LIKE ?", f"%{key}%")  # noqa: SLF001
        assert rows == [(6,)]  # each has its own, or the time to store them would tell of the other's
        assert other.calls_reused == 0
        for stranger in (second, root, root.owned_by("c")):
            with pytest.raises(UnknownSummaryError):
                await stranger.get(made.summary_id)
            with pytest.raises(UnknownSummaryError):
                await stranger.cancel(made.summary_id)
            with pytest.raises(UnknownSummaryError):
                await read_all(stranger.resume(made.summary_id, writer=writers[1]))
        got = (await first.get(made.summary_id)).result
        assert replace(got, intermediate_summaries=()) == made


async def test_summaries_of_servers_that_knew_no_owners_belong_to_nobody_with_a_key(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path) as summarizer:
        made = result_of(await read_all(summarizer.stream(DOCUMENTS[0], writer=writer, idempotency_key="invoice")))
    await asyncio.to_thread(forget_owners, tmp_path / "summaries.sqlite")
    async with summarizer_in(tmp_path) as summarizer:
        again = result_of(await read_all(summarizer.stream(DOCUMENTS[0], writer=writer, idempotency_key="invoice")))
        assert again.summary_id == made.summary_id
        with pytest.raises(UnknownSummaryError):
            await summarizer.owned_by("a").get(made.summary_id)


def forget_owners(path: Path) -> None:
    """Makes rows what they were before summaries had owners."""
    with closing(sqlite3.connect(path)) as connection, connection:
        changed = connection.execute("UPDATE summaries SET request = json_remove(request, '$.owner')")
        assert changed.rowcount == 1
