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
from pipeline.evaluate.limits import check_work
from pipeline.evaluate.pruning import compared_texts, prune
from pipeline.evaluate.result import LengthResult
from pipeline.evaluate.semantic import WeightedChunk, weighted_chunks
from pipeline.evaluate.split_text import SplitText
from pipeline.protocols import Tokenizer
from pipeline.text.normalize import normalize
from pipeline.text.passage import Passage


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
    facts = [normalize(text_ids.key_fact(index), fact) for index, fact in enumerate(datum.summary.key_facts)]
    outline = [normalize(text_ids.outline_point(index), p) for index, p in enumerate(datum.summary.logical_outline)]
    entities = [normalize(text_ids.entity(index), name) for index, name in enumerate(datum.summary.entity_list)]
    sentences = summary.claims()
    recall = recall_comparisons([fact.whole() for fact in facts], summary.windows(config.window_sentences))
    precision = precision_comparisons(sentences, _precision_windows(datum, gold, config)) if facts else ()
    flow = flow_comparisons([point.whole() for point in outline], sentences)
    searches = search_entities(entities, summary.source, (gold.source, source), config)
    generated_tokens = tokenizer.offsets(summary.source.text)
    generated_chunks = weighted_chunks(summary, generated_tokens, config.chunk_tokens)
    gold_chunks = weighted_chunks(gold, tokenizer.offsets(gold.source.text), config.chunk_tokens)
    length = score_length(
        len(generated_tokens),
        len(tokenizer.offsets(source.text)),
        declared_input_tokens=datum.entry.token_count,
        tokenizer_name=tokenizer.name,
    )
    texts = [passage.text for passage, _ in (*generated_chunks, *gold_chunks)] + contexts(searches)
    if config.nli_mode is NliMode.PRUNED:
        texts.extend(compared_texts((*recall, *precision, *flow)))
    plan = Plan(
        recall, precision, flow, searches, generated_chunks, gold_chunks, length, texts=tuple(dict.fromkeys(texts))
    )
    check_work(plan.comparisons, len(plan.texts), config)
    return plan


def _precision_windows(datum: GoldStandardDatum, gold: SplitText, config: EvaluateConfig) -> tuple[Passage, ...]:
    """Returns what generated sentences are checked against; a window never crosses from one text into another."""
    if config.precision_source is PrecisionSource.SOURCE_TEXT:
        texts = [normalize(text_ids.SOURCE, datum.entry.text)]
    else:
        facts = enumerate(datum.summary.key_facts)
        texts = [normalize(text_ids.key_fact(index), fact) for index, fact in facts]
        texts.append(normalize(text_ids.MAIN_THEME, datum.summary.main_theme))
    split = [SplitText.of(text, config.max_sentence_chars) for text in texts]
    if config.precision_source is PrecisionSource.GOLD:
        split.insert(0, gold)
    return tuple(window for text in split for window in text.windows(config.window_sentences))
