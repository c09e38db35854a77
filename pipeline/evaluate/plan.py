"""What one evaluation will ask of the models, worked out before any of them runs."""

from dataclasses import dataclass, replace

from pipeline.evaluate import text_ids
from pipeline.evaluate.comparison import Comparison
from pipeline.evaluate.config import EvaluateConfig, NliMode, PrecisionSource
from pipeline.evaluate.datum import GoldStandardDatum
from pipeline.evaluate.embeddings import Embeddings
from pipeline.evaluate.entities import EntitySearch, contexts, search_entities
from pipeline.evaluate.facts import precision_comparisons, recall_comparisons
from pipeline.evaluate.flow import flow_comparisons
from pipeline.evaluate.length import score_length
from pipeline.evaluate.limits import check_pairs, check_text_count
from pipeline.evaluate.pruning import compared_texts, prune
from pipeline.evaluate.result import LengthResult
from pipeline.evaluate.semantic import WeightedChunk, weighted_chunks
from pipeline.evaluate.split_text import SplitText
from pipeline.protocols import Tokenizer
from pipeline.text.normalize import normalize
from pipeline.text.tokens import token_offsets


@dataclass(frozen=True, slots=True)
class Plan:
    """One evaluation between the heuristics and the models.

    Attributes:
        recall: one comparison for each key fact.
        precision: one for each generated sentence; empty without key facts.
        flow: one for each outline point.
        entities: one search for each entity.
        generated_chunks: of the summary, for the semantic component.
        gold_chunks: of the gold summary.
        length: needs no model.
        texts: to embed, without repeats.
    """

    recall: tuple[Comparison, ...]
    precision: tuple[Comparison, ...]
    flow: tuple[Comparison, ...]
    entities: tuple[EntitySearch, ...]
    generated_chunks: tuple[WeightedChunk, ...]
    gold_chunks: tuple[WeightedChunk, ...]
    length: LengthResult
    texts: tuple[str, ...]

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All that the NLI model is asked."""
        return (*self.recall, *self.precision, *self.flow)

    def pruned(self, embeddings: Embeddings, top_k: int) -> "Plan":
        """Returns the plan with only the `top_k` closest premises of every comparison chosen."""
        return replace(
            self,
            recall=prune(self.recall, embeddings, top_k),
            precision=prune(self.precision, embeddings, top_k),
            flow=prune(self.flow, embeddings, top_k),
        )


def make_plan(datum: GoldStandardDatum, summary: SplitText, *, tokenizer: Tokenizer, config: EvaluateConfig) -> Plan:
    """Cuts all texts into what the components compare. The CPU-heavy step of a long source: run it off the loop.

    Raises:
        InvalidInputError: the models would have too much to do.
    """
    gold = SplitText.of(normalize(text_ids.GOLD_SUMMARY, datum.summary.summary), config.max_sentence_chars)
    source = normalize(text_ids.SOURCE, datum.entry.text)
    entities = [normalize(text_ids.entity(index), name) for index, name in enumerate(datum.summary.entity_list)]
    outline = [normalize(text_ids.outline_point(index), p) for index, p in enumerate(datum.summary.logical_outline)]

    sentences = summary.claims()
    recall, precision = _facts_comparisons(datum, summary, gold, config)
    flow = flow_comparisons([point.whole() for point in outline], sentences)
    check_pairs((*recall, *precision, *flow), config)

    searches = search_entities(entities, summary.source, (gold.source, source), config)
    tokens = token_offsets(tokenizer, summary.source.text)
    generated_chunks = weighted_chunks(summary, tokens, config.chunk_tokens)
    gold_chunks = weighted_chunks(gold, token_offsets(tokenizer, gold.source.text), config.chunk_tokens)
    length = score_length(
        len(tokens),
        len(token_offsets(tokenizer, source.text)),
        declared_input_tokens=datum.entry.token_count,
        tokenizer_name=tokenizer.name,
    )

    texts = [passage.text for passage, _ in (*generated_chunks, *gold_chunks)] + contexts(searches)
    if config.nli_mode is NliMode.PRUNED:
        texts.extend(compared_texts((*recall, *precision, *flow)))
    unique_texts = tuple(dict.fromkeys(texts))
    check_text_count(len(unique_texts), config)
    return Plan(recall, precision, flow, searches, generated_chunks, gold_chunks, length, unique_texts)


def _facts_comparisons(
    datum: GoldStandardDatum, summary: SplitText, gold: SplitText, config: EvaluateConfig
) -> tuple[tuple[Comparison, ...], tuple[Comparison, ...]]:
    """Returns the comparisons for recall and for precision; none without key facts."""
    facts = [normalize(text_ids.key_fact(index), fact) for index, fact in enumerate(datum.summary.key_facts)]
    if not facts:
        return (), ()
    recall = recall_comparisons([fact.whole() for fact in facts], summary.windows(config.window_sentences))
    if config.precision_source is PrecisionSource.SOURCE_TEXT:
        texts = [normalize(text_ids.SOURCE, datum.entry.text)]
    else:
        texts = [*facts, normalize(text_ids.MAIN_THEME, datum.summary.main_theme)]
    split = [SplitText.of(text, config.max_sentence_chars) for text in texts]
    if config.precision_source is PrecisionSource.GOLD:
        split.insert(0, gold)
    # Text by text: a window never crosses from one into another.
    windows = tuple(window for text in split for window in text.windows(config.window_sentences))
    return recall, precision_comparisons(summary.claims(), windows)
