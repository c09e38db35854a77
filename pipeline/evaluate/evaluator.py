"""The five-factor loss of a generated summary against a golden reference (docs/concepts/evaluation.md)."""

import logging
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial

from pipeline.evaluate.comparison import exact_pair_count, unique_pairs
from pipeline.evaluate.components import component_scores, loss_of, score_facts, score_flow, score_semantic
from pipeline.evaluate.config import EvaluateConfig, NliMode
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum
from pipeline.evaluate.entities import score_entities
from pipeline.evaluate.hard_fails import read_summary
from pipeline.evaluate.plan import EvaluatePlan, check_input, make_plan
from pipeline.evaluate.result import Components, ComponentScore, EvaluateTimings, Evaluation, HardFail
from pipeline.model_answers import Embeddings, Pair, PairScores, PairUsage
from pipeline.off_loop import OffLoop, Stopwatch
from pipeline.protocols import Models, Tokenizer

logger = logging.getLogger(__name__)


class Evaluator:
    """Computes the loss. Holds no state between calls; one object serves any number of them at once.

    Args:
        config: how to score.
        executor: where work that may take longer than 5 ms runs, so that the event loop stays free; the caller owns
            it. None: in the loop's own thread, for scripts and tests.
    """

    def __init__(self, config: EvaluateConfig | None = None, *, executor: Executor | None = None) -> None:
        self._config = config or EvaluateConfig()
        self._off_loop = OffLoop(executor)

    async def evaluate(self, datum: GoldStandardDatum, generated: GeneratedSummary, models: Models) -> Evaluation:
        """Returns the loss of one summary with everything it was computed from.

        Each model is asked once: one list of texts to embed, then one list of all NLI pairs.

        Raises:
            InvalidInputError: a field breaks a rule; raised before any model runs.
            ModelOutputError: a model's answer is unusable.
        """
        config, stopwatch, identities = self._config, Stopwatch(), models.identities

        draft = await self._off_loop(partial(_heuristics, datum, generated, models.tokenizer, config))
        stopwatch.lap("heuristics_ms")
        if isinstance(draft, HardFail):
            logger.info("evaluate loss=1 hard_fail=%s", draft.rule)
            return Evaluation(1.0, draft, (), None, config, identities, PairUsage(0, 0), _timings(stopwatch))

        embeddings = await Embeddings.ask(models.embedder, draft.texts)
        stopwatch.lap("embedding_ms")

        plan, pairs = await self._off_loop(partial(_choose_pairs, draft, embeddings, config))
        answers = await PairScores.ask(models.entailment, pairs)
        stopwatch.lap("nli_ms")

        components = await self._off_loop(partial(_score, plan, embeddings, answers, config))
        scores = component_scores(components, config.weights)
        nli = PairUsage(len(pairs), exact_pair_count(plan.comparisons))
        _log(scores, nli)
        stopwatch.lap("aggregation_ms")
        return Evaluation(loss_of(scores), None, scores, components, config, identities, nli, _timings(stopwatch))


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


def _score(plan: EvaluatePlan, embeddings: Embeddings, answers: PairScores, config: EvaluateConfig) -> Components:
    """Scores the components that apply."""
    recall, precision, flow = (one.best(answers, config.hit_threshold) for one in plan.comparisons)
    return Components(
        facts=score_facts(recall, precision) if recall else None,
        entities=score_entities(plan.entities, embeddings, config.entity_context_threshold) if plan.entities else None,
        flow=score_flow(flow) if flow else None,
        semantic=score_semantic(plan.generated_chunks, plan.gold_chunks, embeddings),
        length=plan.length,
    )


def _log(scores: Sequence[ComponentScore], nli: PairUsage) -> None:
    parts = " ".join(f"{part.name}={part.score:.4f}" for part in scores if part.applicable)
    logger.info("evaluate loss=%.4f %s pairs=%d", loss_of(scores), parts, nli.scored_pair_count)


def _timings(stopwatch: Stopwatch) -> EvaluateTimings:
    return EvaluateTimings(stopwatch.total_ms, **stopwatch.laps)
