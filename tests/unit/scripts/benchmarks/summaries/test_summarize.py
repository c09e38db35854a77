"""The bench of summaries, small: what it counts and what it refuses to report."""

from pathlib import Path

import pytest

from scripts.benchmarks.summaries.bench import Documents, open_bench
from scripts.benchmarks.summaries.counts import count_calls, count_second_iteration
from scripts.benchmarks.summaries.endpoint_process import FAIL, EndpointProcess, scripted
from scripts.benchmarks.summaries.series import Load, measure_series
from scripts.benchmarks.summaries.summarize import run

TEXT = "Close the inlet valve V-12 before the pump starts at 1,450 rpm. " * 40


@pytest.fixture
def documents() -> Documents:
    return Documents(TEXT)


async def test_calls_are_those_that_the_endpoint_saw_and_the_plan_said(documents: Documents) -> None:
    assert await count_calls(documents, 15) == {"calls_15": 3 + 1 + 1 + 1, "planned_15": 6}
    assert await count_second_iteration(documents, 15) == {"calls_15_second": 11, "planned_15_second": 11}


async def test_a_document_is_never_answered_from_another_ones_results(documents: Documents) -> None:
    with EndpointProcess(scripted()) as endpoint:
        async with open_bench(endpoint.base_url, 2) as bench:
            first, second = [await bench.time(documents.next(15)) for _ in range(2)]
        seen = endpoint.seen()
        assert endpoint.seen().requests == 0  # those are told
    assert (seen.requests, seen.answered, seen.repeated, seen.faults) == (12, 12, 0, 0)
    assert first.result.calls_reused == second.result.calls_reused == 0


async def test_a_series_is_refused_when_the_endpoint_saw_something_else(documents: Documents) -> None:
    with EndpointProcess(scripted(critic=FAIL)) as endpoint, pytest.raises(RuntimeError, match="planned 6 calls"):
        await measure_series(endpoint, documents, Load(concurrency=4, chunks=15))


def test_a_rule_that_there_is_not_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no rule nobody; there are antecedents, .*value-bonus"):
        run(tmp_path, tmp_path, quick=True, without=["nobody"])
