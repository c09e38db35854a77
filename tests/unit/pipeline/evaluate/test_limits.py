import pytest

from pipeline.errors import InvalidInputError
from pipeline.evaluate.comparison import Comparison
from pipeline.evaluate.config import EvaluateConfig, EvaluateLimits, EvaluateWeights
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum
from pipeline.evaluate.evaluator import check_input, check_pairs, check_text_count
from pipeline.reading.passage import TextSpan

LIMITS = EvaluateLimits(
    max_source_chars=100,
    max_summary_chars=50,
    max_item_chars=20,
    max_entity_chars=10,
    max_list_items=3,
    max_nli_pairs=6,
)
CONFIG = EvaluateConfig(limits=LIMITS, pruned_top_k=2)


def datum(text: str = "t", **summary: object) -> GoldStandardDatum:
    return GoldStandardDatum.model_validate({"entry": {"text": text}, "summary": {"summary": "s", **summary}})


@pytest.mark.parametrize(
    ("bad", "generated", "field", "got"),
    [
        (datum("x" * 101), "g", "datum.entry.text", "101 characters"),
        (datum(summary="x" * 51), "g", "datum.summary.summary", "51 characters"),
        (datum(), "x" * 51, "generated.text", "51 characters"),
        (datum(main_theme="x" * 21), "g", "datum.summary.main_theme", "21 characters"),
        (datum(key_facts=["f"] * 9 + ["x" * 21]), "g", "datum.summary.key_facts[9]", "21 characters"),
        (datum(logical_outline=["x" * 21]), "g", "datum.summary.logical_outline[0]", "21 characters"),
        (datum(logical_outline=["x"] * 4), "g", "datum.summary.logical_outline", "4 items"),
        (datum(entity_list=["x" * 11]), "g", "datum.summary.entity_list[0]", "11 characters"),
        (datum(entity_list=["x"] * 4), "g", "datum.summary.entity_list", "4 items"),
        (datum(" \n"), "g", "datum.entry.text", "only white space"),
        (datum(entity_list=["ok", " "]), "g", "datum.summary.entity_list[1]", "only white space"),
        (datum(), "a\ud800", "generated.text", "a lone surrogate at character 1"),
    ],
)
def test_what_is_too_much_or_no_text_is_named(bad: GoldStandardDatum, generated: str, field: str, got: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_input(bad, GeneratedSummary.model_construct(text=generated), CONFIG)
    assert (caught.value.field, caught.value.got) == (field, got)


def test_the_largest_allowed_input_passes() -> None:
    largest = datum("x" * 100, summary="x" * 50, logical_outline=["x" * 20] * 3, entity_list=["x" * 10] * 3)
    check_input(largest, GeneratedSummary(text="x" * 50), CONFIG)
    check_input(datum(), GeneratedSummary(text=""), CONFIG)  # empty is a hard fail, not an error


def test_weights_must_leave_a_component_that_applies() -> None:
    weights = EvaluateWeights(facts=0, entities=1, flow=0, semantic=0, length=0)
    with pytest.raises(InvalidInputError) as caught:
        check_input(datum(), GeneratedSummary(text="g"), EvaluateConfig(weights=weights))
    assert caught.value.field == "options.weights"
    check_input(datum(entity_list=["e"]), GeneratedSummary(text="g"), EvaluateConfig(weights=weights))


TEXT = TextSpan("t", 0, 1, "x", "x")


def test_pairs_are_counted_as_the_mode_scores_them() -> None:
    comparisons = [Comparison.exact([TEXT] * 3, (TEXT,) * 3)]
    with pytest.raises(InvalidInputError, match="9 pairs") as caught:
        check_pairs(comparisons, CONFIG)
    assert caught.value.field == "generated.text"
    check_pairs(comparisons, CONFIG.with_overrides({"nli_mode": "pruned"}))


def test_a_long_source_is_blamed_on_the_option_that_reads_it() -> None:
    config = EvaluateConfig(limits=EvaluateLimits(max_embedding_texts=1), precision_source="source_text")
    with pytest.raises(InvalidInputError, match="2 texts") as caught:
        check_text_count(2, config)
    assert caught.value.field == "options.precision_source"
