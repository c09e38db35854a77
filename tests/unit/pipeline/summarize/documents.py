"""Documents and summarizers for the tests of this folder."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from pipeline.summarize.config import StorageConfig, SummarizeConfig, SummarizeLimits
from pipeline.summarize.document import Document, SourceChunk, SummarizeOptions, make_document
from pipeline.summarize.events import Event, Finished, Shown
from pipeline.summarize.plan import Planner, SummaryPlan
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.summarizer import Summarizer, open_summarizer
from pipeline.summarize.writer import Writer

LIMITS = SummarizeLimits()
DEFAULTS = SummarizeOptions()


def numbered_document(chunk_count: int, *, name: str = "Pump manual", text: str = "") -> Document:
    """A document whose chunks are short and all different, four on a page."""
    chunks = [
        SourceChunk(index, index // 4 + 1, f"Pump P-{index} runs at {index} bar. {text}")
        for index in range(chunk_count)
    ]
    return make_document("manual-1", name, chunks, limits=LIMITS)


def full_plan(document: Document, writer: Writer, **options: object) -> SummaryPlan:
    """Plans a summary with batches as full as they may be."""
    planner = Planner(document, writer, SummarizeConfig(), SummarizeOptions.model_validate(options))
    return planner.plan(list(planner.packer.cuts()), [""] * len(planner.parts))


@asynccontextmanager
async def summarizer_in(place: Path | str, **settings: object) -> AsyncIterator[Summarizer]:
    """Opens a summarizer in a folder, or in the Postgres of a URL; open it again to come after a restart.

    In full detail unless told otherwise: the texts of a scripted writer have no length that could be held.
    """
    config = SummarizeConfig.model_validate({"detail": "full", **settings})
    storage = StorageConfig(postgres_url=SecretStr(place)) if isinstance(place, str) else StorageConfig(directory=place)
    async with open_summarizer(config, storage) as summarizer:
        yield summarizer


async def read_all(events: AsyncIterator[Event]) -> list[Event]:
    """Reads a stream to its end."""
    return [event async for event in events]


async def events_of(
    place: Path | str,
    document: Document,
    writer: Writer,
    *,
    options: SummarizeOptions = DEFAULTS,
    shown: Shown = Shown(),  # noqa: B008 - frozen
    **settings: object,
) -> list[Event]:
    """Summarizes a document with a summarizer of its own."""
    async with summarizer_in(place, **settings) as summarizer:
        return await read_all(summarizer.stream(document, writer=writer, options=options, shown=shown))


async def summary_of(place: Path | str, document: Document, writer: Writer, **choices: Any) -> SummaryResult:  # noqa: ANN401
    """Returns the result of `events_of`."""
    return result_of(await events_of(place, document, writer, **choices))


def result_of(events: Iterable[Event]) -> SummaryResult:
    """Returns the result, which is the last event."""
    *_, last = events
    assert isinstance(last, Finished)
    return last.result
