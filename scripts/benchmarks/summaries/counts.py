"""What is counted, not timed: calls, checkpoints, and what a faulty endpoint costs. The endpoint answers at once."""

from scripts.benchmarks.shared.report import Figure
from scripts.benchmarks.summaries.bench import Documents, open_bench
from scripts.benchmarks.summaries.checkpoint_growth import checkpoint_bytes
from scripts.benchmarks.summaries.endpoint_process import FAIL, Behaviour, EndpointProcess

CONCURRENCY = 16  # the client's default
BATCH_CHUNKS = 7
GROWTH_BATCHES = 200
FAULTS = dict.fromkeys(("rate_limit", "server_error", "reset", "hang", "truncated_json"), 0.06)
# The product's defaults are for endpoints that take seconds; with them the bench would wait most of its time.
FAULTY = {"timeouts": {"attempt_s": 0.5}, "retries": {"base_delay_s": 0.1}}


async def count_calls(documents: Documents, chunks: int) -> dict[str, Figure]:
    """Counts the requests for a document, and what the plan says."""
    with EndpointProcess(Behaviour()) as endpoint:
        async with open_bench(endpoint.base_url, CONCURRENCY) as bench:
            timed = await bench.time(documents.next(chunks))
        return {f"calls_{chunks}": endpoint.seen().requests, f"planned_{chunks}": timed.plan.calls()}


async def count_second_iteration(documents: Documents, chunks: int) -> dict[str, Figure]:
    """Counts the requests when the critic is never content: a second iteration, accepted with a warning."""
    with EndpointProcess(Behaviour(critic=FAIL)) as endpoint:
        async with open_bench(endpoint.base_url, CONCURRENCY) as bench:
            timed = await bench.time(documents.next(chunks))
        requests = endpoint.seen().requests
    return {f"calls_{chunks}_second": requests, f"planned_{chunks}_second": timed.plan.calls(2)}


async def measure_growth(documents: Documents) -> dict[str, Figure]:
    """Compares the bytes of the checkpoints of 400 batches with those of 200."""
    sizes = []
    with EndpointProcess(Behaviour()) as endpoint:
        for batches in (GROWTH_BATCHES, 2 * GROWTH_BATCHES):
            async with open_bench(endpoint.base_url, CONCURRENCY) as bench:
                sizes.append(await checkpoint_bytes(bench, documents.next(batches * BATCH_CHUNKS)))
    return {"checkpoint_growth": sizes[1] / sizes[0], "checkpoint_kb_200": sizes[0] / 1000}


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
    with EndpointProcess(Behaviour()) as endpoint:
        async with open_bench(endpoint.base_url, CONCURRENCY) as bench:
            good = await bench.time(document)
    with EndpointProcess(Behaviour(faults=FAULTS, seed=seed)) as endpoint:
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
