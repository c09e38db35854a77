"""The five-factor loss of a generated summary against a golden reference (docs/concepts/evaluation.md).

What the models will be asked is worked out, and refused if too much, before any of them runs. In pruned mode, of each
hypothesis' premises only those that the embedder finds closest are scored.
"""

import logging
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from pipeline.errors import InvalidInputError
from pipeline.evaluate.comparison import Comparison, exact_pair_count, unique_pairs
from pipeline.evaluate.components import (
    applicable_components,
    applied_weights,
    component_scores,
    loss_of,
    score_facts,
    score_flow,
    score_length,
    score_semantic,
)
from pipeline.evaluate.config import EvaluateConfig, NliMode, PrecisionSource
from pipeline.evaluate.datum import (
    ENTITIES,
    GENERATED,
    GOLD_SUMMARY,
    KEY_FACTS,
    MAIN_THEME,
    OUTLINE,
    SOURCE,
    GeneratedSummary,
    GoldStandardDatum,
)
from pipeline.evaluate.entities import EntitySearch, contexts, score_entities, search_entities
from pipeline.evaluate.hard_fails import SplitText, read_summary
from pipeline.evaluate.result import ChunkSpan, Components, EvaluateTimings, Evaluation, HardFail, LengthResult
from pipeline.model_answers import Embeddings, Pair, PairScores, PairUsage
from pipeline.off_loop import OffLoop, Stopwatch
from pipeline.protocols import Models, Tokenizer
from pipeline.reading.characters import NormalizedText, check_text, normalize
from pipeline.reading.windows import Chunk, split_chunks, token_offsets

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

        plan = await self._off_loop(partial(_plan, datum, generated, models.tokenizer, config))
        stopwatch.lap("heuristics_ms")
        if isinstance(plan, HardFail):
            logger.info("evaluate loss=1 hard_fail=%s", plan.rule)
            return Evaluation(1.0, plan, (), None, config, identities, PairUsage(0, 0), _timings(stopwatch))

        embeddings = await Embeddings.ask(models.embedder, plan.texts)
        stopwatch.lap("embedding_ms")

        comparisons, pairs = await self._off_loop(partial(_choose_pairs, plan, embeddings, config))
        answers = await PairScores.ask(models.entailment, pairs)
        stopwatch.lap("nli_ms")

        components = await self._off_loop(partial(_score, plan, comparisons, embeddings, answers, config))
        scores = component_scores(components, config.weights)
        nli, loss = PairUsage(len(pairs), exact_pair_count(comparisons)), loss_of(scores)
        parts = " ".join(f"{part.name}={part.score:.4f}" for part in scores if part.applicable)
        logger.info("evaluate loss=%.4f %s pairs=%d", loss, parts, nli.scored_pair_count)
        stopwatch.lap("aggregation_ms")
        return Evaluation(loss, None, scores, components, config, identities, nli, _timings(stopwatch))


def _timings(stopwatch: Stopwatch) -> EvaluateTimings:
    return EvaluateTimings(stopwatch.total_ms, **stopwatch.laps)


@dataclass(frozen=True, slots=True)
class EvaluatePlan:
    """One evaluation between the heuristics and the models.

    Attributes:
        comparisons: recall: the key facts, with the windows of the generated summary. Precision: the generated
            sentences, with the windows of the gold texts, or of the source; none without key facts. Flow: the outline
            points, with the single generated sentences.
        texts: to embed, without repeats.
    """

    comparisons: tuple[Comparison, Comparison, Comparison]
    entities: tuple[EntitySearch, ...]
    generated_chunks: tuple[ChunkSpan, ...]
    gold_chunks: tuple[ChunkSpan, ...]
    length: LengthResult
    texts: tuple[str, ...]


def _plan(
    datum: GoldStandardDatum, generated: GeneratedSummary, tokenizer: Tokenizer, config: EvaluateConfig
) -> EvaluatePlan | HardFail:
    """Checks the input, then the hard fails, then cuts all texts into what the components compare.

    The CPU-heavy step of a long source: run it off the loop.
    """
    check_input(datum, generated, config)
    summary = read_summary(generated, config)
    if isinstance(summary, HardFail):
        return summary
    gold = SplitText.of(normalize(GOLD_SUMMARY, datum.summary.summary), config.max_sentence_chars)
    source = normalize(SOURCE, datum.entry.text)
    outline = _normalized(OUTLINE, datum.summary.logical_outline)
    flow = Comparison.exact((point.whole() for point in outline), summary.claims())
    comparisons = (*_facts_comparisons(datum, summary, gold, config), flow)
    check_pairs(comparisons, config)

    entities = _normalized(ENTITIES, datum.summary.entity_list)
    searches = search_entities(entities, summary.source, (gold.source, source), config)
    tokens = token_offsets(tokenizer, summary.source.text)
    generated_chunks = chunk_spans(summary, tokens, config.chunk_tokens)
    gold_chunks = chunk_spans(gold, token_offsets(tokenizer, gold.source.text), config.chunk_tokens)
    length = score_length(
        len(tokens),
        len(token_offsets(tokenizer, source.text)),
        declared_input_tokens=datum.entry.token_count,
        tokenizer_name=tokenizer.name,
    )
    texts = [chunk.text for chunk in (*generated_chunks, *gold_chunks)] + contexts(searches)
    if config.nli_mode is NliMode.PRUNED:
        texts += [text for comparison in comparisons for text in comparison.texts]
    unique_texts = tuple(dict.fromkeys(texts))
    check_text_count(len(unique_texts), config)
    return EvaluatePlan(comparisons, searches, generated_chunks, gold_chunks, length, unique_texts)


def check_input(datum: GoldStandardDatum, generated: GeneratedSummary, config: EvaluateConfig) -> None:
    """Checks all texts, and that the weights leave something to score. Raises InvalidInputError for the first field."""
    limits = config.limits
    check_text(GENERATED, generated.text, limits.max_summary_chars, may_be_blank=True)
    check_text(SOURCE, datum.entry.text, limits.max_source_chars)
    check_text(GOLD_SUMMARY, datum.summary.summary, limits.max_summary_chars)
    check_text(MAIN_THEME, datum.summary.main_theme, limits.max_item_chars, may_be_blank=True)
    lists = {
        KEY_FACTS: (datum.summary.key_facts, limits.max_item_chars),
        OUTLINE: (datum.summary.logical_outline, limits.max_item_chars),
        ENTITIES: (datum.summary.entity_list, limits.max_entity_chars),
    }
    for name, (items, max_chars) in lists.items():
        for index, item in enumerate(items):
            check_text(f"{name}[{index}]", item, max_chars)
    for name in (OUTLINE, ENTITIES):
        if (count := len(lists[name][0])) > limits.max_list_items:
            raise InvalidInputError(name, f"at most {limits.max_list_items} items", f"{count} items")
    applied_weights(applicable_components(datum.summary), config.weights)


def _facts_comparisons(
    datum: GoldStandardDatum, summary: SplitText, gold: SplitText, config: EvaluateConfig
) -> tuple[Comparison, Comparison]:
    """Returns the comparisons for recall and for precision; none without key facts."""
    facts = _normalized(KEY_FACTS, datum.summary.key_facts)
    if not facts:
        return Comparison(), Comparison()
    recall = Comparison.exact((fact.whole() for fact in facts), summary.windows(config.window_sentences))
    if config.precision_source is PrecisionSource.SOURCE_TEXT:
        texts = [normalize(SOURCE, datum.entry.text)]
    else:
        texts = [*facts, normalize(MAIN_THEME, datum.summary.main_theme)]
    split = [SplitText.of(text, config.max_sentence_chars) for text in texts]
    if config.precision_source is PrecisionSource.GOLD:
        split.insert(0, gold)
    # Text by text: a window never crosses from one into another.
    windows = tuple(window for text in split for window in text.windows(config.window_sentences))
    return recall, Comparison.exact(summary.claims(), windows)


def _normalized(path: str, items: Sequence[str]) -> list[NormalizedText]:
    return [normalize(f"{path}[{index}]", item) for index, item in enumerate(items)]


def chunk_spans(text: SplitText, token_offsets: Sequence[tuple[int, int]], max_tokens: int) -> tuple[ChunkSpan, ...]:
    """Cuts a text into chunks that the embedder reads whole. A text without tokens is one chunk of weight 1."""
    chunks = split_chunks(token_offsets, text.sentences, max_tokens) or [Chunk(0, len(text.source.text), 1)]
    passages = ((text.source.passage(chunk.start, chunk.end), chunk.token_count) for chunk in chunks)
    return tuple(ChunkSpan(passage.start, passage.end, count, passage.text) for passage, count in passages)


def check_pairs(comparisons: Sequence[Comparison], config: EvaluateConfig) -> None:
    """Checks how many NLI pairs there would be. Raises InvalidInputError: too many."""
    top_k = config.pruned_top_k if config.nli_mode is NliMode.PRUNED else sys.maxsize
    count = sum(len(one.hypotheses) * min(len(one.premises), top_k) for one in comparisons)
    if count > config.limits.max_nli_pairs:
        expected = f"at most {config.limits.max_nli_pairs} NLI pairs (the pruned mode needs fewer)"
        raise InvalidInputError(_field_to_blame(config), expected, f"{count} pairs")


def check_text_count(count: int, config: EvaluateConfig) -> None:
    """Checks how many texts there would be to embed. Raises InvalidInputError: too many."""
    if count > config.limits.max_embedding_texts:
        expected = f"at most {config.limits.max_embedding_texts} texts to embed"
        raise InvalidInputError(_field_to_blame(config), expected, f"{count} texts")


def _field_to_blame(config: EvaluateConfig) -> str:
    reads_source = config.precision_source is PrecisionSource.SOURCE_TEXT
    return "options.precision_source" if reads_source else GENERATED


def _choose_pairs(
    plan: EvaluatePlan, embeddings: Embeddings, config: EvaluateConfig
) -> tuple[tuple[Comparison, ...], list[Pair]]:
    """Returns all comparisons and their pairs; in pruned mode only with the closest premises of each hypothesis."""
    comparisons: tuple[Comparison, ...] = plan.comparisons
    if config.nli_mode is NliMode.PRUNED:
        comparisons = tuple(one.pruned(embeddings, config.pruned_top_k) for one in comparisons)
    return comparisons, unique_pairs(comparisons)


def _score(
    plan: EvaluatePlan,
    comparisons: Sequence[Comparison],
    embeddings: Embeddings,
    answers: PairScores,
    config: EvaluateConfig,
) -> Components:
    """Scores the components that apply."""
    recall, precision, flow = (one.best(answers, config.hit_threshold) for one in comparisons)
    return Components(
        facts=score_facts(recall, precision) if recall else None,
        entities=score_entities(plan.entities, embeddings, config.entity_context_threshold) if plan.entities else None,
        flow=score_flow(flow) if flow else None,
        semantic=score_semantic(plan.generated_chunks, plan.gold_chunks, embeddings),
        length=plan.length,
    )
