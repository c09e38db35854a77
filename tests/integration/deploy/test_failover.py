"""Three real servers behind the real Envoy with the shipped configuration, on a real Postgres."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.integration.deploy.cluster import Cluster, running_cluster
from tests.integration.deploy.failover import kill_each, kill_while_summarizing, restart_each
from tests.integration.summarize.summaries import PASS
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.summarize.postgres_server import running_postgres

pytestmark = [
    pytest.mark.deploy,
    pytest.mark.asyncio(loop_scope="module"),  # one cluster: each server takes seconds to start
    pytest.mark.timeout(600),
]

Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with running_postgres() as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def endpoint() -> AsyncIterator[ScriptedEndpoint]:
    async with ScriptedEndpoint(Script(replies=(PASS,), author=write)) as endpoint:
        yield endpoint


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(
    tiny_models: Path, tmp_path_factory: pytest.TempPathFactory, postgres_url: str, endpoint: ScriptedEndpoint
) -> AsyncIterator[Cluster]:
    variables: dict[str, str | Path] = {
        "MODELS_DIR": tiny_models,
        "INFERENCE__RUNTIME__WARMUP_S": "0.05",
        "INFERENCE__RUNTIME__WORKERS": "1",
        "SUMMARY_STORAGE__POSTGRES_URL": postgres_url,
        "SUMMARIZE__LEASE_TTL_S": "3600",  # a dead server's lease is not waited for
        "LLM__BASE_URL": endpoint.base_url,
        "LLM__MODEL": "scripted",
        "SUMMARY_TRUST__EXACT": "false",  # it asks again, beyond the plan
        "SUMMARIZE__DETAIL": "full",  # the texts of the script have no length to hold
    }
    async with running_cluster(tmp_path_factory.mktemp("cluster"), variables) as cluster:
        yield cluster


async def test_no_call_fails_when_any_server_is_killed(cluster: Cluster, record_property: Record) -> None:
    load = await kill_each(cluster)
    record_property("failover_failed", load.failed.total())
    assert not load.failed
    assert load.answered >= 300


async def test_a_rolling_restart_loses_no_call(cluster: Cluster) -> None:
    load, codes = await restart_each(cluster)
    assert not load.failed
    assert codes == [0, 0, 0]


async def test_a_summary_goes_on_on_another_server_and_repeats_no_finished_call(
    cluster: Cluster, endpoint: ScriptedEndpoint, record_property: Record
) -> None:
    resumed = await kill_while_summarizing(cluster, endpoint, 203)
    record_property("failover_repeated", resumed.repeated)
    record_property("failover_went_on_s", resumed.went_on_s)
    assert 0 < resumed.finished < resumed.planned
    assert resumed.repeated == 0
    assert resumed.answered == resumed.planned
