"""The five-factor loss of a generated summary against a golden reference (README, Loss).

Measures the phases of one evaluation.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from time import perf_counter
from typing import TypeVar

from pipeline.evaluate.comparison import (
    NO_PROBABILITIES,
    Comparison,
    EntailmentEvidence,
    Pair,
    Verdicts,
    exact_pair_count,
    unique_pairs,
)
from pipeline.evaluate.config import EvaluateConfig, NliMode
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum
from pipeline.evaluate.entities import score_entities
from pipeline.evaluate.facts import score_facts
from pipeline.evaluate.flow import score_flow
from pipeline.evaluate.hard_fails import read_summary
from pipeline.evaluate.loss import component_scores, loss_of
from pipeline.evaluate.plan import EvaluatePlan, check_input, make_plan
from pipeline.evaluate.result import Components, ComponentScore, EvaluateTimings, Evaluation, HardFail, Models, NliUsage
from pipeline.evaluate.semantic import score_semantic
from pipeline.model_answers import Embeddings
from pipeline.protocols import Embedder, Entailment, Tokenizer

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Evaluator:
    """Computes the loss. Holds no state between calls; one object serves any number of them at once.

    Args:
        config: how to score.
        executor: where work that may take longer than 5 ms runs, so that the event loop stays free; the caller owns
            it. None: in the loop's own thread, for scripts and tests.
    """

    def __init__(self, config: EvaluateConfig | None = None, *, executor: Executor | None = None) -> None:
        self._config = config or EvaluateConfig()
        self._executor = executor

    async def evaluate(
        self,
        datum: GoldStandardDatum,
        generated: GeneratedSummary,
        *,
        entailment: Entailment,
        embedder: Embedder,
        tokenizer: Tokenizer,
    ) -> Evaluation:
        """Returns the loss of one summary with everything it was computed from.

        Each model is asked once: one list of texts to embed, then one list of all NLI pairs.

        Raises:
            InvalidInputError: a field breaks a rule; raised before any model runs.
            ModelOutputError: a model's answer is unusable.
        """
        config, stopwatch = self._config, Stopwatch()
        models = Models(entailment.identity, embedder.identity, tokenizer.name)

        draft = await self._run(partial(_heuristics, datum, generated, tokenizer, config))
        stopwatch.lap()
        if isinstance(draft, HardFail):
            logger.info("evaluate loss=1 hard_fail=%s", draft.rule)
            return Evaluation(1.0, draft, (), None, config, models, NliUsage(0, 0), stopwatch.timings())

        embeddings = Embeddings(draft.texts, await embedder.embed(draft.texts))
        stopwatch.lap()

        plan, pairs = await self._run(partial(_choose_pairs, draft, embeddings, config))
        verdicts = Verdicts(pairs, await entailment.entail(pairs) if pairs else NO_PROBABILITIES)
        stopwatch.lap()

        components = await self._run(partial(_score, plan, embeddings, verdicts, config))
        scores = component_scores(components, config.weights)
        nli = NliUsage(len(pairs), exact_pair_count(plan.comparisons))
        _log(scores, nli)
        stopwatch.lap()
        return Evaluation(loss_of(scores), None, scores, components, config, models, nli, stopwatch.timings())

    async def _run(self, work: Callable[[], T]) -> T:
        """Runs CPU work of more than 5 ms where it does not hold up the event loop."""
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


def _heuristics(
    datum: GoldStandardDatum, generated: GeneratedSummary, tokenizer: Tokenizer, config: EvaluateConfig
) -> EvaluatePlan | HardFail:
    """Checks the input, then the hard fails, then works out what to ask the models."""
    check_input(datum, generated, config)
    summary = read_summary(generated, config)
    if isinstance(summary, HardFail):
        return summary
    return make_plan(datum, summary, tokenizer=tokenizer, config=config)


def _choose_pairs(
    plan: EvaluatePlan, embeddings: Embeddings, config: EvaluateConfig
) -> tuple[EvaluatePlan, list[Pair]]:
    """Returns all pairs of the request; in pruned mode only the closest premises of each hypothesis."""
    if config.nli_mode is NliMode.PRUNED:
        plan = plan.pruned(embeddings, config.pruned_top_k)
    return plan, unique_pairs(plan.comparisons)


def _score(plan: EvaluatePlan, embeddings: Embeddings, verdicts: Verdicts, config: EvaluateConfig) -> Components:
    """Scores the components that apply."""

    def best(comparisons: Sequence[Comparison]) -> list[EntailmentEvidence]:
        return [verdicts.best(comparison, config.hit_threshold) for comparison in comparisons]

    return Components(
        facts=score_facts(best(plan.recall), best(plan.precision)) if plan.recall else None,
        entities=score_entities(plan.entities, embeddings, config.entity_context_threshold) if plan.entities else None,
        flow=score_flow(best(plan.flow)) if plan.flow else None,
        semantic=score_semantic(plan.generated_chunks, plan.gold_chunks, embeddings),
        length=plan.length,
    )


def _log(scores: Sequence[ComponentScore], nli: NliUsage) -> None:
    parts = " ".join(f"{part.name}={part.score:.4f}" for part in scores if part.applicable)
    logger.info("evaluate loss=%.4f %s pairs=%d", loss_of(scores), parts, nli.scored_pair_count)


class Stopwatch:
    """Counts the milliseconds of consecutive phases."""

    def __init__(self) -> None:
        self._laps_s = [perf_counter()]

    def lap(self) -> None:
        """Ends a phase, of which there are four: heuristics, embedding, nli, aggregation."""
        self._laps_s.append(perf_counter())

    def timings(self) -> EvaluateTimings:
        """Returns what was measured; phases that were not reached took 0."""
        phases = [1_000 * (end - start) for start, end in zip(self._laps_s, self._laps_s[1:], strict=False)]
        heuristics_ms, embedding_ms, nli_ms, aggregation_ms = phases + [0.0] * (4 - len(phases))
        return EvaluateTimings(sum(phases), heuristics_ms, embedding_ms, nli_ms, aggregation_ms)
