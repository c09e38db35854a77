"""What is counted, not timed: calls, and what a faulty endpoint costs. The endpoint answers at once."""

from dataclasses import replace

from pipeline.summarize.config import SummarizeLimits
from pipeline.summarize.document import Document, SourceChunk, make_document
from scripts.benchmarks.shared.report import Figure
from scripts.benchmarks.summaries.bench import CHUNKS_PER_PAGE, Documents, open_bench
from scripts.benchmarks.summaries.endpoint_process import FAIL, EndpointProcess, scripted
from tests.scripted_endpoint.faults import Fault

CONCURRENCY = 16  # the client's default
CHAPTER_CHUNKS = 70  # ten batches
NEW_TEXT = "A new paragraph says that the motor of the third pump draws 5 A and is replaced every 90 days."
FAULTS = dict.fromkeys((Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.RESET, Fault.HANG, Fault.TRUNCATED_JSON), 0.06)
# The product's defaults are for endpoints that take seconds; with them the bench would wait most of its time.
FAULTY = {"timeouts": {"attempt_s": 0.5}, "retries": {"base_delay_s": 0.1, "max_timeouts": 10}}


async def count_calls(documents: Documents, chunks: int) -> dict[str, Figure]:
    """Counts the requests for a document, and what the plan says."""
    with EndpointProcess(scripted()) as endpoint:
        async with open_bench(endpoint.base_url, CONCURRENCY) as bench:
            timed = await bench.time(documents.next(chunks))
        return {f"calls_{chunks}": endpoint.seen().requests, f"planned_{chunks}": timed.plan.calls()}


async def count_second_iteration(documents: Documents, chunks: int) -> dict[str, Figure]:
    """Counts the requests when the critic is never content: a second iteration, accepted with a warning."""
    with EndpointProcess(scripted(critic=FAIL)) as endpoint:
        async with open_bench(endpoint.base_url, CONCURRENCY) as bench:
            timed = await bench.time(documents.next(chunks))
        requests = endpoint.seen().requests
    return {f"calls_{chunks}_second": requests, f"planned_{chunks}_second": timed.plan.calls(2)}


async def count_edits(documents: Documents, chunks: int) -> dict[str, Figure]:
    """Counts the requests for a document that was summarized before it was edited, for each edit by itself."""
    first = documents.next(chunks)
    texts = [chunk.text for chunk in first.chunks]
    middle, chapter = chunks // 2, range(chunks // 3, chunks // 3 + CHAPTER_CHUNKS)
    edits = {
        "calls_rename": replace(first, document_id="renamed", name="Renamed"),
        "calls_insert": _edited(first, [*texts[:middle], NEW_TEXT, *texts[middle:]]),
        "calls_append": _edited(first, [*texts, NEW_TEXT]),
        "calls_chapter": _edited(first, [f"Anew: {text}" if i in chapter else text for i, text in enumerate(texts)]),
    }
    figures: dict[str, Figure] = {}
    with EndpointProcess(scripted()) as endpoint:
        async with open_bench(endpoint.base_url, CONCURRENCY) as bench:
            await bench.time(first)
            for name, document in edits.items():
                endpoint.seen()  # counts from here on
                await bench.time(document)
                figures[name] = endpoint.seen().requests
    return figures


def _edited(document: Document, texts: list[str]) -> Document:
    chunks = [SourceChunk(index, index // CHUNKS_PER_PAGE + 1, text) for index, text in enumerate(texts)]
    return make_document(document.document_id, document.name, chunks, limits=SummarizeLimits())


async def measure_faults(text: str, chunks: int, seed: int) -> dict[str, Figure]:
    """Summarizes a document without and with faults in 30% of the requests; nothing is lost if both are the same.

    Args:
        text: of the document, which is the same in every run.
        chunks: of the document.
        seed: of the faults, so that the same requests fail in every run.

    Raises:
        RuntimeError: the summaries differ.
    """
    document = Documents(text).next(chunks)
    with EndpointProcess(scripted()) as endpoint:
        async with open_bench(endpoint.base_url, CONCURRENCY) as bench:
            good = await bench.time(document)
    with EndpointProcess(scripted(faults=FAULTS, seed=seed)) as endpoint:
        async with open_bench(endpoint.base_url, CONCURRENCY, **FAULTY) as bench:
            faulty = await bench.time(document)
        seen = endpoint.seen()
    if faulty.result.text != good.result.text:
        raise RuntimeError("a faulty endpoint changed the summary")
    return {
        "faulty_calls_ratio": seen.requests / faulty.plan.calls(),
        "faulty_share": seen.faults / seen.requests,
        "faulty_answers_repeated": seen.repeated,
        "faulty_wall_s": faulty.wall_s,
    }
