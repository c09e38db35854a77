"""Builds the evidence table: read the texts, embed once, ask the NLI model of claims and then of facts, assemble."""

import hashlib
from dataclasses import replace
from functools import partial

from pipeline.judge.cache import SharedCache
from pipeline.judge.config import EvidenceConfig
from pipeline.judge.evidence.assemble import CheckedClaims, assemble
from pipeline.judge.evidence.draft import EvidenceRequest, ReadSource, read_source, read_texts
from pipeline.judge.evidence.plan import make_plan
from pipeline.judge.evidence.proposals import ProposalSet, Propose, apply_proposals, make_task, preferred_facts
from pipeline.judge.evidence.table import EvidenceTable, EvidenceTimings
from pipeline.model_answers import CheckedScores, Embeddings, PairScores
from pipeline.off_loop import OffLoop, Stopwatch
from pipeline.protocols import Models


class SourceReader:
    """Reads sources, each once for all of its summaries that come soon.

    Args:
        off_loop: where long texts are read. None: in the event loop.
        kept: sources as read. None: nothing is kept.
        owner: for whom; nobody else is given them.
    """

    def __init__(
        self, off_loop: OffLoop | None = None, kept: SharedCache[ReadSource] | None = None, owner: str = ""
    ) -> None:
        self.off_loop = off_loop or OffLoop()
        self._kept = kept
        self._owner = owner

    async def read(self, text: str) -> ReadSource:
        """Returns a source as read, the same object for the same text while it is kept."""

        async def compute() -> ReadSource:
            return await self.off_loop(partial(read_source, text))

        if self._kept is None:
            return await compute()
        digest = hashlib.sha256(text.encode()).hexdigest()
        key = f"{self._owner} {digest}"
        return await self._kept.get(key, compute)


async def build_evidence(
    request: EvidenceRequest,
    models: Models,
    config: EvidenceConfig | None = None,
    *,
    propose: Propose | None = None,
    reader: SourceReader | None = None,
) -> EvidenceTable:
    """Returns the evidence about a summary. The same input gives the same table to the last bit, timings aside.

    Args:
        models: the embedder is asked once, with one list; the NLI model with a list of claims, then one of key points,
            at most two pairs for a claim and one for a key point, however long the source is.
        propose: asks an LLM once. None: no LLM.
        reader: reads the source, and says where long texts are read. None: in the event loop.

    Raises:
        ModelOutputError: a model's answer is unusable.
    """
    config, reader, stopwatch = config or EvidenceConfig(), reader or SourceReader(), Stopwatch()
    source, off_loop = await reader.read(request.source), reader.off_loop
    draft = await off_loop(partial(read_texts, request, source, models.tokenizer, config))
    stopwatch.lap("reading_ms")
    embeddings = await Embeddings.ask(models.embedder, draft.texts)
    stopwatch.lap("embedding_ms")
    plan = await off_loop(partial(make_plan, draft, embeddings, config))
    proposed = None
    if propose is not None:
        proposed = await propose(make_task(plan))
        if preferred := preferred_facts(plan, proposed):
            plan = await off_loop(partial(make_plan, draft, embeddings, config, preferred))
    stopwatch.lap("proposals_ms")
    said = await CheckedScores.ask(models.entailment, plan.pairs, fold_case=draft.folds_case)
    checked = await off_loop(partial(CheckedClaims.of, plan, said, models.tokenizer))
    scores = await PairScores.ask(models.entailment, checked.pairs, fold_case=draft.folds_case)
    stopwatch.lap("nli_ms")
    table = await off_loop(partial(_finish, checked, scores, models, proposed))
    stopwatch.lap("assembly_ms")
    return replace(table, timings=EvidenceTimings(stopwatch.total_ms, **stopwatch.laps))


def _finish(checked: CheckedClaims, scores: PairScores, models: Models, proposed: ProposalSet | None) -> EvidenceTable:
    table, plan = assemble(checked, scores, models), checked.plan
    return table if proposed is None else apply_proposals(table, plan, proposed, plan.config)
