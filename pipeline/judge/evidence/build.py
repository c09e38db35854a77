"""Builds the evidence table: read the texts, embed once, ask the NLI model once, assemble."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import TypeVar

from pipeline.judge.evidence.assemble import Instruments, assemble
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.draft import read_texts
from pipeline.judge.evidence.plan import EvidencePlan, make_plan
from pipeline.judge.evidence.proposals import Proposals, ProposalSet, apply_proposals, make_task, preferred_facts
from pipeline.judge.evidence.table import EvidenceModels, EvidenceTable, EvidenceTimings
from pipeline.model_answers import NO_PROBABILITIES, Embeddings, PairScores
from pipeline.protocols import Embedder, Entailment, Tokenizer

T = TypeVar("T")


async def build_evidence(  # noqa: PLR0913 (two texts, and what reads them)
    source: str,
    summary: str,
    *,
    config: EvidenceConfig | None = None,
    entailment: Entailment,
    embedder: Embedder,
    tokenizer: Tokenizer,
    proposals: Proposals | None = None,
    executor: Executor | None = None,
) -> EvidenceTable:
    """Returns the evidence about a summary. The same input gives the same table to the last bit, timings aside.

    Args:
        source: the whole article; not blank.
        summary: not blank.
        config: the settings.
        entailment: asked once, with one list of at most a few hundred pairs whatever the length of the source.
        embedder: asked once, with one list.
        tokenizer: the embedder's own.
        proposals: asked once. None: no LLM.
        executor: where work that may take longer than 5 ms runs; the caller owns it. None: in the loop's own thread.

    Raises:
        ModelOutputError: a model's answer is unusable.
    """
    config, watch, run = config or EvidenceConfig(), _Watch(), _Runner(executor)
    instruments = Instruments(tokenizer, config, EvidenceModels(entailment.identity, embedder.identity, tokenizer.name))
    draft = await run(partial(read_texts, source, summary, tokenizer, config))
    watch.lap()
    embeddings = Embeddings(draft.texts, await embedder.embed(draft.texts))
    watch.lap()
    plan = await run(partial(make_plan, draft, embeddings, config))
    proposed = None
    if proposals is not None:
        proposed = await proposals.propose(make_task(plan, config))
        if preferred := preferred_facts(plan, proposed):
            plan = await run(partial(make_plan, draft, embeddings, config, preferred))
    watch.lap()
    pairs = plan.pairs
    scores = PairScores(pairs, await entailment.entail(pairs) if pairs else NO_PROBABILITIES)
    watch.lap()
    table = await run(partial(_finish, plan, scores, instruments, proposed))
    watch.lap()
    return replace(table, timings=watch.timings())


def _finish(
    plan: EvidencePlan, scores: PairScores, instruments: Instruments, proposed: ProposalSet | None
) -> EvidenceTable:
    table = assemble(plan, scores, instruments)
    return table if proposed is None else apply_proposals(table, plan, proposed, instruments.config)


class _Runner:
    """Runs CPU work where it does not hold up the event loop."""

    def __init__(self, executor: Executor | None) -> None:
        self._executor = executor

    async def __call__(self, work: Callable[[], T]) -> T:
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


class _Watch:
    """Counts the milliseconds of five phases: reading, embedding, planning with proposals, nli, assembly."""

    def __init__(self) -> None:
        self._laps_s = [perf_counter()]

    def lap(self) -> None:
        self._laps_s.append(perf_counter())

    def timings(self) -> EvidenceTimings:
        laps = [1_000 * (end - start) for start, end in pairwise(self._laps_s)]
        return EvidenceTimings(sum(laps), *laps)
