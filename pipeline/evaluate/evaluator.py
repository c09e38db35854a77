"""The five-factor loss of a generated summary against a golden reference (docs/concepts/evaluation.md).

What the models will be asked is worked out, and refused if too much, before any of them runs. Facts,
claims and outline points are compared with passages, as the judge compares claims.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

from pipeline.errors import InvalidInputError
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
from pipeline.evaluate.config import EvaluateConfig, PrecisionSource
from pipeline.evaluate.datum import (
    ENTITIES,
    GENERATED,
    GOLD,
    GOLD_SUMMARY,
    KEY_FACTS,
    MAIN_THEME,
    OUTLINE,
    SOURCE,
    GeneratedSummary,
    GoldStandardDatum,
    GoldStandardSummary,
)
from pipeline.evaluate.entities import EntitySearch, contexts, score_entities, search_entities
from pipeline.evaluate.hard_fails import read_summary, read_whole
from pipeline.evaluate.result import (
    ChunkSpan,
    Components,
    EntailmentEvidence,
    EvaluateTimings,
    Evaluation,
    HardFail,
    HardFailRule,
    LengthResult,
)
from pipeline.model_answers import Embeddings, PairScores
from pipeline.off_loop import OffLoop, Stopwatch
from pipeline.protocols import Models, Tokenizer
from pipeline.reading.characters import NormalizedText, check_text, normalize
from pipeline.reading.document import ReadText
from pipeline.reading.framing import framing_length
from pipeline.reading.passage import TextSpan
from pipeline.reading.sentences import Sentence, claims
from pipeline.reading.words import token_offsets
from pipeline.support.claim_support import (
    MAX_SENTENCE_CHARS,
    SHORT_PASSAGE_CHARS,
    ClaimLabel,
    Hypothesis,
    PremiseFinder,
    Premises,
    SupportConfig,
    ask_support,
    read_support,
)


class Evaluator:
    """Computes the loss. Holds no state between calls; one object serves any number of them at once."""

    def __init__(self, config: EvaluateConfig | None = None, *, executor: Executor | None = None) -> None:
        self._config = config or EvaluateConfig()
        self._off_loop = OffLoop(executor)

    async def evaluate(self, datum: GoldStandardDatum, generated: GeneratedSummary, models: Models) -> Evaluation:
        """Returns the loss of one summary with everything it was computed from.

        Raises:
            InvalidInputError: a field breaks a rule; raised before any model runs.
            ModelOutputError: a model's answer is unusable.
        """
        config, stopwatch, identities = self._config, Stopwatch(), models.identities

        plan = await self._off_loop(partial(_plan, datum, generated, models.tokenizer, config))
        stopwatch.lap("heuristics_ms")
        if isinstance(plan, HardFail):
            timings = EvaluateTimings(stopwatch.total_ms, **stopwatch.laps)
            return Evaluation(1.0, plan, (), None, config, identities, 0, timings)

        embeddings = await Embeddings.ask(models.embedder, plan.texts)
        stopwatch.lap("embedding_ms")
        answers = await ask_support(partial(PairScores.ask, models.entailment), plan.hypotheses)
        stopwatch.lap("nli_ms")

        components = await self._off_loop(partial(_score, plan, embeddings, answers, config))
        scores = component_scores(components, config.weights)
        stopwatch.lap("aggregation_ms")
        timings = EvaluateTimings(stopwatch.total_ms, **stopwatch.laps)
        return Evaluation(loss_of(scores), None, scores, components, config, identities, len(answers), timings)


Comparison = list[tuple[TextSpan, Premises]]
"""Statements, and for each the passages of a text that speak of it: at most two, however long the text is."""


def compare(statements: Sequence[TextSpan], text: PremiseFinder) -> Comparison:
    """Finds the passages."""
    return [(statement, text.find(statement.text)) for statement in statements]


def read_statement(
    statement: TextSpan, premises: Premises, scores: PairScores, hit_threshold: float
) -> EntailmentEvidence:
    """Returns what the text says of a statement."""
    config = SupportConfig(supported=hit_threshold, partly_supported=hit_threshold)
    support = read_support(premises.hypothesis, scores, config)
    passage = None if support.premise is None else premises.passages[support.premise]
    return EntailmentEvidence(
        hypothesis=statement,
        premise=passage.span if passage else None,
        entailment=support.entailment,
        contradiction=support.contradiction,
        probability=support.probability,
        hit=passage is not None and support.label is ClaimLabel.SUPPORTED,
        sentence_index=passage.best[0] if passage else None,
    )


@dataclass(frozen=True, slots=True)
class EvaluatePlan:
    """One evaluation between the heuristics and the models."""

    comparisons: tuple[Comparison, Comparison, Comparison]  # of recall, precision and flow
    hypotheses: tuple[Hypothesis, ...]  # their statements, for the NLI model
    entities: tuple[EntitySearch, ...]
    generated_chunks: tuple[ChunkSpan, ...]
    gold_chunks: tuple[ChunkSpan, ...]
    length: LengthResult
    texts: tuple[str, ...]  # to embed, without repeats


def _plan(
    datum: GoldStandardDatum, generated: GeneratedSummary, tokenizer: Tokenizer, config: EvaluateConfig
) -> EvaluatePlan | HardFail:
    """Checks the input and the hard fails, then cuts all texts into what is compared. To be run off the loop."""
    check_input(datum, generated, config)
    summary = read_summary(generated, config)
    if isinstance(summary, HardFail):
        return summary
    source = normalize(SOURCE, datum.entry.text)
    tokens = token_offsets(tokenizer, summary.text.text)
    length = score_length(
        len(tokens),
        len(token_offsets(tokenizer, source.text)),
        declared_input_tokens=datum.entry.token_count,
        tokenizer_name=tokenizer.name,
    )
    if length.target_tokens < length.input_tokens <= length.generated_tokens:
        reason = f"the text has {length.generated_tokens} tokens, its source {length.input_tokens}"
        return HardFail(HardFailRule.NOT_SHORTER, reason, None)
    gold = read_whole(normalize(GOLD_SUMMARY, datum.summary.summary), config.max_sentence_chars)
    comparisons = _comparisons(datum, summary, config)
    hypotheses = tuple(premises.hypothesis for comparison in comparisons for _, premises in comparison)
    pairs = {pair for hypothesis in hypotheses for pair in hypothesis.pairs}
    check_count(len(pairs), config.limits.max_nli_pairs, "NLI pairs")

    entities = _normalized(ENTITIES, datum.summary.entity_list)
    searches = search_entities(entities, summary.text, (gold.text, source), config)
    generated_chunks = chunk_spans(summary, tokens, config.chunk_tokens)
    gold_chunks = chunk_spans(gold, token_offsets(tokenizer, gold.text.text), config.chunk_tokens)
    texts = [chunk.text for chunk in (*generated_chunks, *gold_chunks)] + contexts(searches)
    unique_texts = tuple(dict.fromkeys(texts))
    check_count(len(unique_texts), config.limits.max_embedding_texts, "texts to embed")
    return EvaluatePlan(comparisons, hypotheses, searches, generated_chunks, gold_chunks, length, unique_texts)


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


def _comparisons(
    datum: GoldStandardDatum, summary: ReadText, config: EvaluateConfig
) -> tuple[Comparison, Comparison, Comparison]:
    """Returns the comparisons for recall, precision and flow; the first two are empty without key facts.

    Recall: what the key facts state, with passages of the generated summary. Precision: the claims of the generated
    summary, with passages of the golden reference or of the source. Flow: the outline points, as recall.
    """
    gold, is_gold = datum.summary, config.precision_source is PrecisionSource.GOLD
    text_id, standard = (GOLD, gold_text(gold)) if is_gold else (SOURCE, datum.entry.text)
    read = ReadText.of(text_id, standard, config.max_sentence_chars)
    standard_finder = PremiseFinder(read, has_turns=not is_gold)
    told = ReadText.split(summary.text, list(_stated(summary)), summary.table)
    # Short passages alone: what else a summary says must not decide whether it tells a fact.
    finder = PremiseFinder(told, has_turns=False, most_chars=SHORT_PASSAGE_CHARS)
    flow = compare([point.whole() for point in _normalized(OUTLINE, gold.logical_outline)], finder)
    if not gold.key_facts:
        return [], [], flow
    facts = [claim for place, fact in enumerate(gold.key_facts) for claim in _claims(f"{KEY_FACTS}[{place}]", fact)]
    return compare(facts, finder), compare([told.passages[at] for at in told.claims], standard_finder), flow


def _stated(summary: ReadText) -> Iterator[Sentence]:
    """Yields what the claims of a summary state, without what only frames it: "Here is a summary:"."""
    for sentence in claims(summary.sentences):
        start = sentence.start + framing_length(summary.text.text[sentence.start : sentence.end])
        if start < sentence.end:
            yield replace(sentence, start=start)


def gold_text(gold: GoldStandardSummary) -> str:
    """Returns the golden reference as one text: the summary, the key facts and the main theme, a paragraph each."""
    return "\n\n".join(filter(None, (gold.summary, *gold.key_facts, gold.main_theme)))


def _claims(path: str, fact: str) -> list[TextSpan]:
    """Returns the sentences of a key fact; the fact itself if it has no words."""
    read = ReadText.of(path, fact, MAX_SENTENCE_CHARS)
    return [read.passages[at] for at in read.claims] or [read.text.whole()]


def _normalized(path: str, items: Sequence[str]) -> list[NormalizedText]:
    return [normalize(f"{path}[{index}]", item) for index, item in enumerate(items)]


def chunk_spans(text: ReadText, tokens: Sequence[tuple[int, int]], max_tokens: int) -> tuple[ChunkSpan, ...]:
    """Packs whole sentences into chunks that the embedder reads whole, greedily. Together they hold every token once.

    A text without tokens is one chunk of weight 1; a longer sentence is cut between tokens.
    """
    starts = [start for start, _ in tokens]
    # For each sentence, the number of tokens up to its end.
    sentence_ends = [bisect_right(starts, sentence.end - 1) for sentence in text.sentences]
    spans = list[ChunkSpan]()
    first, last = 0, 0
    while first < len(starts) or not spans:
        last = min(first + max_tokens, len(starts))
        if last < len(starts) and (fitting := bisect_right(sentence_ends, last)) and sentence_ends[fitting - 1] > first:
            last = sentence_ends[fitting - 1]
        place = (starts[first], tokens[last - 1][1]) if starts else (0, len(text.text.text))
        passage = text.passage(*place)
        spans.append(ChunkSpan(passage.start, passage.end, max(1, last - first), passage.text))
        first = last
    return tuple(spans)


def check_count(count: int, most: int, what: str) -> None:
    """Checks how much a model would be asked. Raises InvalidInputError: too much."""
    if count > most:
        raise InvalidInputError(GENERATED, f"at most {most} {what}", f"{count} {what}")


def _score(plan: EvaluatePlan, embeddings: Embeddings, answers: PairScores, config: EvaluateConfig) -> Components:
    recall, precision, flow = (
        [read_statement(*one, answers, config.hit_threshold) for one in comparison] for comparison in plan.comparisons
    )
    return Components(
        facts=score_facts(recall, precision) if recall else None,
        entities=score_entities(plan.entities, embeddings, config.entity_context_threshold) if plan.entities else None,
        flow=score_flow(flow) if flow else None,
        semantic=score_semantic(plan.generated_chunks, plan.gold_chunks, embeddings),
        length=plan.length,
    )
