"""Builds the evidence table: read the texts, embed once, ask the NLI model of claims and then of facts, assemble."""

from dataclasses import replace
from functools import partial

from pipeline.judge.evidence.assemble import CheckedClaims, assemble
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.draft import EvidenceRequest, read_texts
from pipeline.judge.evidence.plan import make_plan
from pipeline.judge.evidence.proposals import Proposals, ProposalSet, apply_proposals, make_task, preferred_facts
from pipeline.judge.evidence.table import EvidenceTable, EvidenceTimings
from pipeline.model_answers import Embeddings, PairScores
from pipeline.off_loop import OffLoop, Stopwatch
from pipeline.protocols import Models

IN_THE_LOOP = OffLoop()


async def build_evidence(
    request: EvidenceRequest,
    models: Models,
    config: EvidenceConfig | None = None,
    *,
    proposals: Proposals | None = None,
    off_loop: OffLoop = IN_THE_LOOP,
) -> EvidenceTable:
    """Returns the evidence about a summary. The same input gives the same table to the last bit, timings aside.

    Args:
        models: the embedder is asked once, with one list; the NLI model with a list of claims, then one of key points,
            a pair for each, however long the source is.
        proposals: asked once. None: no LLM.
        off_loop: where long texts are read.

    Raises:
        ModelOutputError: a model's answer is unusable.
    """
    config, stopwatch = config or EvidenceConfig(), Stopwatch()
    draft = await off_loop(partial(read_texts, request, models.tokenizer, config))
    stopwatch.lap("reading_ms")
    embeddings = await Embeddings.ask(models.embedder, draft.texts)
    stopwatch.lap("embedding_ms")
    plan = await off_loop(partial(make_plan, draft, embeddings, config))
    proposed = None
    if proposals is not None:
        proposed = await proposals.propose(make_task(plan, config))
        if preferred := preferred_facts(plan, proposed):
            plan = await off_loop(partial(make_plan, draft, embeddings, config, preferred))
    stopwatch.lap("proposals_ms")
    scores = await PairScores.ask(models.entailment, plan.pairs)
    checked = await off_loop(partial(CheckedClaims.of, plan, scores, models.tokenizer))
    scores = await PairScores.ask(models.entailment, checked.pairs)
    stopwatch.lap("nli_ms")
    table = await off_loop(partial(_finish, checked, scores, models, proposed))
    stopwatch.lap("assembly_ms")
    return replace(table, timings=EvidenceTimings(stopwatch.total_ms, **stopwatch.laps))


def _finish(checked: CheckedClaims, scores: PairScores, models: Models, proposed: ProposalSet | None) -> EvidenceTable:
    table, plan = assemble(checked, scores, models), checked.plan
    return table if proposed is None else apply_proposals(table, plan, proposed, plan.config)
