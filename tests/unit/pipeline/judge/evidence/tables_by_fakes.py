"""Builds tables with stand-ins for the models."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace

from pipeline.judge.config import EvidenceConfig
from pipeline.judge.evidence.build import Assistant, build_evidence
from pipeline.judge.evidence.plan import EvidenceRequest, ReadSource
from pipeline.judge.evidence.proposals import ProposalSet, ProposalTask, Propose
from pipeline.judge.evidence.table import EvidenceTable, EvidenceTimings
from pipeline.off_loop import OffLoop
from pipeline.protocols import Embedder, Entailment
from tests.fakes_pipeline import fake_models

ARTICLE = """The council of Brookfield voted on Tuesday to close the old steel bridge over the river for two years.
Mayor Anna Holt said the bridge, built in 1931, had become unsafe after engineers found cracks in three supports.
Repairs are expected to cost $4.2 million, of which the state will pay half. About 12,000 cars cross the bridge every
day, and drivers will be sent over the motorway bridge at Hatton, eight miles to the north. Shop owners in the old town
fear that they will lose customers. Tom Reed has sold books on Bridge Street for 30 years. The council rejected his
proposal to keep one lane open. Work is due to begin in March."""
SUMMARY = """The council of Brookfield voted on Tuesday to close the old steel bridge. Repairs are expected to cost
$42 million, of which the state will pay half. Shop owners fear that they will lose customers."""


async def build_async(  # noqa: PLR0913 (what the table is made of)
    source: str = ARTICLE,
    summary: str = SUMMARY,
    *,
    config: EvidenceConfig | None = None,
    entailment: Entailment | None = None,
    embedder: Embedder | None = None,
    propose: Propose | None = None,
    executor: Executor | None = None,
) -> EvidenceTable:
    request, models = EvidenceRequest(ReadSource(source), summary), fake_models(entailment, embedder)
    return await build_evidence(request, models, config, assistant=Assistant(propose), off_loop=OffLoop(executor))


def build(
    source: str = ARTICLE,
    summary: str = SUMMARY,
    *,
    config: EvidenceConfig | None = None,
    entailment: Entailment | None = None,
    propose: Propose | None = None,
) -> EvidenceTable:
    return asyncio.run(build_async(source, summary, config=config, entailment=entailment, propose=propose))


def timeless(table: EvidenceTable) -> EvidenceTable:
    """Returns a table without what differs from run to run."""
    return replace(table, timings=EvidenceTimings())


class ScriptedProposals:
    """Proposes what a function makes of the task. Remembers the task."""

    def __init__(self, write: Callable[[ProposalTask], ProposalSet]) -> None:
        self.tasks: list[ProposalTask] = []
        self._write = write

    async def __call__(self, task: ProposalTask) -> ProposalSet:
        self.tasks.append(task)
        return self._write(task)
