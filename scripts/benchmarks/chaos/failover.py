"""Failover: three servers behind Envoy on one Postgres, each killed under load, one of them with a running summary."""

import asyncio
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.benchmarks.shared.report import Figure
from tests.integration.deploy.cluster import running_cluster
from tests.integration.deploy.failover import LoadFailedError, kill_each, kill_while_summarizing
from tests.integration.summarize.summaries import PASS
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.summarize.postgres_server import running_postgres

_CHUNKS = 203  # of the summary that loses its server


async def failover(models: Path) -> Mapping[str, Figure]:
    """Returns calls that clients saw fail, finished calls of a summary made again, and seconds until it went on.

    Args:
        models: an absolute path.
    """
    if find_spec("envoy") is None:
        return {"failover": "not measured (needs ./scripts/setup deploy)", "failover_failed": None}
    with TemporaryDirectory(prefix="precis-") as folder, running_postgres() as url:
        async with ScriptedEndpoint(Script(replies=(PASS,), author=write)) as endpoint:
            variables: dict[str, str | Path] = {
                "MODELS_DIR": models,
                "INFERENCE__RUNTIME__WORKERS": "1",
                "SUMMARY_STORAGE__POSTGRES_URL": url,
                "LLM__BASE_URL": endpoint.base_url,
                "LLM__MODEL": "scripted",
                "SUMMARY_TRUST__EXACT": "false",  # it asks again, beyond the plan
                "SUMMARIZE__DETAIL": "full",  # the texts of the script have no length to hold
            }
            async with running_cluster(Path(folder), variables) as cluster:
                try:
                    load = await kill_each(cluster)
                    answered, failed = load.answered, load.failed.total()
                except* LoadFailedError:
                    answered, failed = 0, 1
                resumed = await asyncio.wait_for(kill_while_summarizing(cluster, endpoint, _CHUNKS), 300)
    return {
        "failover_calls": answered,
        "failover_failed": failed,
        "failover_repeated": resumed.repeated,
        "failover_went_on_s": resumed.went_on_s,
    }
