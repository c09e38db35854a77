"""Summaries on a bench: the summarizer, its storage and the client as in `precis serve`, and what a summary costs."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.openai import OpenAiChatModel
from pipeline.summarize.config import StorageConfig, SummarizeConfig, SummarizeLimits
from pipeline.summarize.document import Document, SourceChunk, make_document
from pipeline.summarize.events import Event, Finished
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.plan import SummaryPlan
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.steering.wishes import SummaryDetail
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.summarizer import Summarizer, open_summarizer
from pipeline.summarize.writer import Writer

CONTEXT_TOKENS = 128_000
WORDS_PER_CHUNK = 130  # the handbook's 350 pages in 1,400 chunks
CHUNKS_PER_PAGE = 4


@dataclass(frozen=True)
class Timed:
    """One summary and what it cost.

    Attributes:
        result: complete.
        plan: worked out before.
        wall_s: from the request to the last event.
        cpu_s: of this process: everything but the endpoint.
    """

    result: SummaryResult
    plan: SummaryPlan
    wall_s: float
    cpu_s: float

    def critical_path_s(self, latency_s: float) -> float:
        """Returns the shortest time that the plan allows if nothing but the endpoint takes any.

        That is its rounds, calls that must follow one another, times the latency. Each wave of the map and each level
        of the reduction takes its calls over the calls in flight, rounded up. Reflect and topics take one each. 201
        batches with 64 in flight in waves of 64: `4 + (1 + 1 + 1 + 1) + 1 + 1` = 10 rounds.
        """
        return self.plan.rounds(self.result.iterations) * latency_s

    @property
    def cpu_ms_per_call(self) -> float:
        """CPU time of this process for each planned call, all of the graph and its storage included."""
        return 1000 * self.cpu_s / self.result.calls_done


@dataclass(frozen=True)
class SummaryBench:
    """An open summarizer with a language model behind it.

    Attributes:
        summarizer: with storage of its own.
        writer: over the scripted endpoint.
        folder: of the storage.
    """

    summarizer: Summarizer
    writer: Writer
    folder: Path

    async def time(self, document: Document) -> Timed:
        """Summarizes a document. Raises RuntimeError if that fails: a failed summary ends its stream in good order."""
        plan = await self.summarizer.plan(document, writer=self.writer)
        started_s, cpu_started_s = time.perf_counter(), time.process_time()
        result = await finished(self.summarizer.stream(document, writer=self.writer))
        wall_s, cpu_s = time.perf_counter() - started_s, time.process_time() - cpu_started_s
        return Timed(result, plan, wall_s, cpu_s)


async def finished(events: AsyncIterator[Event]) -> SummaryResult:
    """Reads a stream to its end and returns the result. Raises RuntimeError if the summary is not complete."""
    last = [event async for event in events][-1]
    if not isinstance(last, Finished):
        raise RuntimeError(f"a summary's last event is {type(last).__name__}")  # noqa: TRY004 - not an argument's type
    if last.result.status is not SummaryStatus.DONE:
        raise RuntimeError(f"a summary ended as {last.result.status}: {last.result.failure}")
    return last.result


@asynccontextmanager
async def open_bench(base_url: str, concurrency: int, **llm: object) -> AsyncIterator[SummaryBench]:
    """Opens a summarizer in a new folder, with so many calls in flight at most.

    Args:
        base_url: of the endpoint.
        concurrency: of the writer, and so the wave of the map; of the client too.
        llm: further settings of the client.
    """
    config = LlmConfig.model_validate(
        {
            "base_url": base_url,
            "model": "scripted",
            "context_tokens": CONTEXT_TOKENS,
            "rates": {"max_concurrency": concurrency},
            **llm,
        }
    )
    with TemporaryDirectory(prefix="precis-bench-") as name:
        folder = Path(name)
        async with (
            open_summarizer(SummarizeConfig(detail=SummaryDetail.FULL), StorageConfig(directory=folder)) as summarizer,
            Endpoint(config) as endpoint,
        ):
            writer = LlmWriter(OpenAiChatModel(endpoint), LlmWriterConfig(), concurrency=concurrency)
            yield SummaryBench(summarizer, writer, folder)


class Documents:
    """Cuts documents from one text, each with a number in its chunks: none is answered from another's results."""

    def __init__(self, text: str) -> None:
        self._words = text.split()
        self._count = 0

    def next(self, chunk_count: int) -> Document:
        """Returns a document of numbered chunks of 130 words; the text begins again where it ends."""
        self._count += 1
        words = self._words * (1 + chunk_count * WORDS_PER_CHUNK // len(self._words))
        chunks = []
        for index in range(chunk_count):
            start = index * WORDS_PER_CHUNK
            text = " ".join(words[start : start + WORDS_PER_CHUNK])
            chunks.append(SourceChunk(index, index // CHUNKS_PER_PAGE + 1, f"[{self._count}.{index}] {text}"))
        return make_document(f"bench-{self._count}", f"Manual {self._count}", chunks, limits=SummarizeLimits())
