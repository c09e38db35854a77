"""Plans an evaluation: what it will ask of the models, worked out, and refused if too much, before any of them runs.

In pruned mode, of each hypothesis' premises only those that the embedder finds closest are scored.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.errors import InvalidInputError
from pipeline.evaluate import texts as text_ids
from pipeline.evaluate.comparison import Comparison
from pipeline.evaluate.components import applicable_components, applied_weights, chunk_spans, score_length
from pipeline.evaluate.config import EvaluateConfig, NliMode, PrecisionSource
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum
from pipeline.evaluate.entities import EntitySearch, contexts, search_entities
from pipeline.evaluate.result import ChunkSpan, LengthResult
from pipeline.evaluate.texts import SplitText
from pipeline.model_answers import Embeddings
from pipeline.protocols import Tokenizer
from pipeline.reading.characters import NormalizedText, check_text, normalize
from pipeline.reading.windows import token_offsets


@dataclass(frozen=True, slots=True)
class EvaluatePlan:
    """One evaluation between the heuristics and the models.

    Attributes:
        recall: the key facts, with the windows of the generated summary.
        precision: the generated sentences, with the windows of the gold texts, or of the source; none without key
            facts.
        flow: the outline points, with the single generated sentences.
        texts: to embed, without repeats.
    """

    recall: Comparison
    precision: Comparison
    flow: Comparison
    entities: tuple[EntitySearch, ...]
    generated_chunks: tuple[ChunkSpan, ...]
    gold_chunks: tuple[ChunkSpan, ...]
    length: LengthResult
    texts: tuple[str, ...]

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All that the NLI model is asked."""
        return self.recall, self.precision, self.flow

    def pruned(self, embeddings: Embeddings, top_k: int) -> "EvaluatePlan":
        """Returns the plan with only the `top_k` closest premises of every comparison chosen."""
        return replace(
            self,
            recall=self.recall.pruned(embeddings, top_k),
            precision=self.precision.pruned(embeddings, top_k),
            flow=self.flow.pruned(embeddings, top_k),
        )


def make_plan(
    datum: GoldStandardDatum, summary: SplitText, *, tokenizer: Tokenizer, config: EvaluateConfig
) -> EvaluatePlan:
    """Cuts all texts into what the components compare. The CPU-heavy step of a long source: run it off the loop.

    Raises:
        InvalidInputError: the models would have too much to do.
    """
    gold = SplitText.of(normalize(text_ids.GOLD_SUMMARY, datum.summary.summary), config.max_sentence_chars)
    source = normalize(text_ids.SOURCE, datum.entry.text)
    entities = _normalized(text_ids.ENTITIES, datum.summary.entity_list)
    outline = _normalized(text_ids.OUTLINE, datum.summary.logical_outline)

    recall, precision = _facts_comparisons(datum, summary, gold, config)
    flow = Comparison.exact((point.whole() for point in outline), summary.claims())
    check_pairs((recall, precision, flow), config)

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
        texts += [*recall.texts, *precision.texts, *flow.texts]
    unique_texts = tuple(dict.fromkeys(texts))
    check_text_count(len(unique_texts), config)
    return EvaluatePlan(recall, precision, flow, searches, generated_chunks, gold_chunks, length, unique_texts)


def _facts_comparisons(
    datum: GoldStandardDatum, summary: SplitText, gold: SplitText, config: EvaluateConfig
) -> tuple[Comparison, Comparison]:
    """Returns the comparisons for recall and for precision; none without key facts."""
    facts = _normalized(text_ids.KEY_FACTS, datum.summary.key_facts)
    if not facts:
        return Comparison(), Comparison()
    recall = Comparison.exact((fact.whole() for fact in facts), summary.windows(config.window_sentences))
    if config.precision_source is PrecisionSource.SOURCE_TEXT:
        texts = [normalize(text_ids.SOURCE, datum.entry.text)]
    else:
        texts = [*facts, normalize(text_ids.MAIN_THEME, datum.summary.main_theme)]
    split = [SplitText.of(text, config.max_sentence_chars) for text in texts]
    if config.precision_source is PrecisionSource.GOLD:
        split.insert(0, gold)
    # Text by text: a window never crosses from one into another.
    windows = tuple(window for text in split for window in text.windows(config.window_sentences))
    return recall, Comparison.exact(summary.claims(), windows)


def _normalized(path: str, items: Sequence[str]) -> list[NormalizedText]:
    return [normalize(f"{path}[{index}]", item) for index, item in enumerate(items)]


def check_input(datum: GoldStandardDatum, generated: GeneratedSummary, config: EvaluateConfig) -> None:
    """Checks all texts, and that the weights leave something to score. Raises InvalidInputError for the first field."""
    limits = config.limits
    check_text(text_ids.GENERATED, generated.text, limits.max_summary_chars, may_be_blank=True)
    check_text(text_ids.SOURCE, datum.entry.text, limits.max_source_chars)
    check_text(text_ids.GOLD_SUMMARY, datum.summary.summary, limits.max_summary_chars)
    check_text(text_ids.MAIN_THEME, datum.summary.main_theme, limits.max_item_chars, may_be_blank=True)
    max_chars = {text_ids.ENTITIES: limits.max_entity_chars}
    lists = {name: getattr(datum.summary, name.rpartition(".")[2]) for name in text_ids.LISTS}
    for name, items in lists.items():
        for index, item in enumerate(items):
            check_text(f"{name}[{index}]", item, max_chars.get(name, limits.max_item_chars))
    for name in (text_ids.OUTLINE, text_ids.ENTITIES):
        if (count := len(lists[name])) > limits.max_list_items:
            raise InvalidInputError(name, f"at most {limits.max_list_items} items", f"{count} items")
    applied_weights(applicable_components(datum.summary), config.weights)


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
    return "options.precision_source" if reads_source else text_ids.GENERATED
