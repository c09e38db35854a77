"""The witness itself: does the scripted endpoint do and count what it says?"""

import asyncio
import http.client
import json
import sys
from urllib.parse import urlsplit

import pytest

from tests.integration.support.server_process import ROOT
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.unit.pipeline.llm.models import bench, request


def test_draws_depend_on_seed_content_and_attempt_only() -> None:
    plan = FaultPlan({Fault.RESET: 0.3, Fault.HTML: 0.2}, seed=1)
    draws = [plan.draw(f"content {n}", attempt) for n in range(2000) for attempt in (1, 2)]
    assert draws == [plan.draw(f"content {n}", attempt) for n in range(2000) for attempt in (1, 2)]
    assert draws.count(Fault.RESET) == pytest.approx(0.3 * len(draws), rel=0.1)
    assert draws.count(Fault.HTML) == pytest.approx(0.2 * len(draws), rel=0.1)
    other = FaultPlan(plan.shares, seed=2)
    assert draws != [other.draw(f"content {n}", attempt) for n in range(2000) for attempt in (1, 2)]


async def test_it_runs_as_a_process_that_tells_what_it_saw() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.scripted_endpoint", "--reply", "pumps=All of them."),
        *("--fault", "server_error=1.0"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    base_url = (await process.stdout.readline()).decode().strip()
    async with bench(base_url=base_url, retries={"max_attempts": 3}) as at:
        with pytest.raises(Exception, match="HTTP 500"):
            await at.model.complete(request())
    seen = await asyncio.to_thread(_get_json, base_url.replace("/v1", "/log"))
    assert (seen["request_count"], seen["answered_count"], seen["faults"]) == (3, 0, {"server_error": 3})
    process.terminate()
    assert await process.wait() == 0


def _get_json(url: str) -> dict[str, object]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request("GET", urlsplit(url).path)
    value: dict[str, object] = json.load(connection.getresponse())
    connection.close()
    return value
