"""Plays one oddity against the real client and the real graph, over a real socket."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.limiter import Clock
from pipeline.llm.openai import OpenAiChatModel
from pipeline.summarize.config import StorageConfig, SummarizeConfig, SummarizeLimits
from pipeline.summarize.document import Document, SourceChunk, SummarizeOptions, make_document
from pipeline.summarize.events import Finished
from pipeline.summarize.gate.config import TrustConfig
from pipeline.summarize.gate.gate import GatedWriter, TrustGate
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.result import SummaryResult, WarningCode
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.summarizer import open_summarizer
from scripts.benchmarks.endpoints.oddities import SILENCE, Asked, Oddity, Play
from tests.scripted_endpoint.http import Exchange, HttpConnection

BATCHES, CHUNKS = 3, 15
POLLUTION = (
    "Okay, let me look",
    "Hm, pumps",
    "<|",
    "|>",
    "THINK",
    "answer>",
    "think>",
    "◁",
    "</s>",
    "\x1b",
    "\x00",
    "\x07",
    "[31m",
)


class ImmediateClock(Clock):
    """Does not wait between attempts."""

    async def sleep(self, delay_s: float) -> None:
        """Returns at once."""


@asynccontextmanager
async def played(play: Play, first_texts: tuple[str, ...] = ()) -> AsyncIterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yields the address of an endpoint that plays, and the requests that it gets.

    Args:
        first_texts: by which the batches of the map are told apart.
    """
    requests: list[Mapping[str, Any]] = []

    async def handle(exchange: Exchange) -> None:
        if exchange.request.method == "GET":
            await exchange.send(404, b"not found", content_type="text/plain")
            return
        body = json.loads(exchange.request.body or b"{}")
        requests.append(body)
        prompt = "\n".join(str(message["content"]) for message in body.get("messages", ()))
        is_map = "FINAL" not in prompt and sum(text in prompt for text in first_texts) == 1
        batch = next((number for number, text in enumerate(first_texts, 1) if is_map and text in prompt), 0)
        sent = play(Asked(body, len(requests), batch))
        if sent is SILENCE:
            await asyncio.Event().wait()  # until the client leaves
        await exchange.send(sent.status, sent.body, content_type=sent.content_type)

    connections: set[HttpConnection] = set()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: HttpConnection(handle, connections), "127.0.0.1", 0)
    try:
        bound: socket.socket = server.sockets[0]
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1", requests
    finally:
        server.close()
        for connection in list(connections):
            connection.close()


def document() -> Document:
    """Three batches of five chunks, each 25 plain sentences that are all different, in paragraphs of five."""

    def sentence(chunk: int, number: int) -> str:
        place = f"Pump P-{chunk * 30 + number} stands in the hall of line {number}"
        return f"{place} and is driven by a motor that lets it run at {chunk + number} bar all day."

    texts = [
        "\n\n".join(" ".join(sentence(chunk, first + at) for at in range(5)) for first in range(0, 25, 5))
        for chunk in range(CHUNKS)
    ]
    chunks = [SourceChunk(number, number + 1, text) for number, text in enumerate(texts)]
    return make_document("odd", "Pumps", chunks, limits=SummarizeLimits())


@dataclass(frozen=True, slots=True)
class Played:
    """What came of an oddity.

    Attributes:
        calls: requests that the endpoint saw.
        resumed_calls: further ones when the same was asked for again.
        problem: why it counts as failed; empty if it does not.
        is_silent: whether something is lost and nothing says so.
    """

    oddity: Oddity
    result: SummaryResult
    calls: int
    resumed_calls: int
    problem: str
    is_silent: bool


async def play(oddity: Oddity, folder: Path, **settings: object) -> Played:
    """Summarizes a document twice, and judges both."""
    source = document()
    firsts = tuple(source.chunks[number].text[:40] for number in range(0, CHUNKS, CHUNKS // BATCHES))
    async with played(oddity.play, firsts) as (base_url, requests):
        config = LlmConfig.model_validate({"base_url": base_url, "model": "odd", **settings})
        storage, options = StorageConfig(directory=folder), SummarizeOptions(batch_size=CHUNKS // BATCHES)
        summarize = SummarizeConfig.model_validate({"detail": "full"})
        async with (
            Endpoint(config, clock=ImmediateClock()) as endpoint,
            open_summarizer(summarize, storage) as summarizer,
        ):
            writer = GatedWriter(LlmWriter(OpenAiChatModel(endpoint), LlmWriterConfig()), TrustGate(TrustConfig()))
            ends = []
            for _ in range(2):
                events = [event async for event in summarizer.stream(source, writer=writer, options=options)]
                last = events[-1]
                assert isinstance(last, Finished)  # noqa: S101 - the stream ends so
                ends.append((last.result, len(requests)))
    (result, calls), (_, all_calls) = ends
    problem = _problem(oddity, result)
    is_silent = problem == "no warning"
    return Played(oddity, result, calls, all_calls - calls, problem, is_silent)


def _problem(oddity: Oddity, result: SummaryResult) -> str:
    failure = result.failure.message if result.failure else ""
    if oddity.fails_with:
        return "" if oddity.fails_with in failure else f"does not say {oddity.fails_with!r}: {failure or 'DONE'}"
    if result.status is not SummaryStatus.DONE:
        return failure
    shown = "\n".join([result.text, result.critique, *result.topics])
    pollution = next((mark for mark in POLLUTION if mark in shown), "")
    if pollution:
        return f"{pollution!r} in the summary"
    if oddity.warns:
        codes = {warning.code for warning in result.warnings} - {WarningCode.SMALL_CONTEXT}
        return "" if codes else "no warning"
    return "" if result.topics else "no topics"
