"""Refuses what one request may not ask for, before any work is done on it."""

import sys
from collections.abc import Iterator, Sequence

from pipeline.errors import InvalidInputError
from pipeline.evaluate import text_ids
from pipeline.evaluate.aggregate import applicable_components, applied_weights
from pipeline.evaluate.comparison import Comparison
from pipeline.evaluate.config import EvaluateConfig, EvaluateLimits, NliMode, PrecisionSource
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum
from pipeline.text.check import check_text


def check_input(datum: GoldStandardDatum, generated: GeneratedSummary, config: EvaluateConfig) -> None:
    """Checks sizes and contents of all texts, and that the weights leave something to score.

    Raises:
        InvalidInputError: for the first field that breaks a rule.
    """
    limits = config.limits
    check_text(text_ids.GENERATED, generated.text, limits.max_summary_chars, may_be_blank=True)
    check_text(text_ids.SOURCE, datum.entry.text, limits.max_source_chars)
    check_text(text_ids.GOLD_SUMMARY, datum.summary.summary, limits.max_summary_chars)
    check_text(text_ids.MAIN_THEME, datum.summary.main_theme, limits.max_item_chars, may_be_blank=True)
    for field, text, max_chars in _items(datum, limits):
        check_text(field, text, max_chars)
    _check_count("datum.summary.logical_outline", datum.summary.logical_outline, limits.max_list_items)
    _check_count("datum.summary.entity_list", datum.summary.entity_list, limits.max_list_items)
    applied_weights(applicable_components(datum.summary), config.weights)


def check_pairs(comparisons: Sequence[Comparison], config: EvaluateConfig) -> None:
    """Checks how many NLI pairs there would be; in pruned mode at most `pruned_top_k` for each comparison.

    Raises:
        InvalidInputError: too many.
    """
    top_k = config.pruned_top_k if config.nli_mode is NliMode.PRUNED else sys.maxsize
    count = sum(min(len(comparison.premises), top_k) for comparison in comparisons)
    if count > config.limits.max_nli_pairs:
        expected = f"at most {config.limits.max_nli_pairs} NLI pairs (the pruned mode needs fewer)"
        raise InvalidInputError(_field_to_blame(config), expected, f"{count} pairs")


def check_text_count(count: int, config: EvaluateConfig) -> None:
    """Checks how many texts there would be to embed.

    Raises:
        InvalidInputError: too many.
    """
    if count > config.limits.max_embedding_texts:
        expected = f"at most {config.limits.max_embedding_texts} texts to embed"
        raise InvalidInputError(_field_to_blame(config), expected, f"{count} texts")


def _field_to_blame(config: EvaluateConfig) -> str:
    reads_source = config.precision_source is PrecisionSource.SOURCE_TEXT
    return "options.precision_source" if reads_source else text_ids.GENERATED


def _items(datum: GoldStandardDatum, limits: EvaluateLimits) -> Iterator[tuple[str, str, int]]:
    summary = datum.summary
    for index, fact in enumerate(summary.key_facts):
        yield text_ids.key_fact(index), fact, limits.max_item_chars
    for index, point in enumerate(summary.logical_outline):
        yield text_ids.outline_point(index), point, limits.max_item_chars
    for index, entity in enumerate(summary.entity_list):
        yield text_ids.entity(index), entity, limits.max_entity_chars


def _check_count(field: str, items: Sequence[str], max_count: int) -> None:
    if len(items) > max_count:
        raise InvalidInputError(field, f"at most {max_count} items", f"{len(items)} items")
