import pytest

from pipeline.errors import InvalidInputError
from pipeline.evaluate.config import EvaluateConfig, EvaluateLimits, EvaluateWeights
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum
from pipeline.evaluate.evaluator import check_count, check_input

LIMITS = EvaluateLimits(
    max_source_chars=100,
    max_summary_chars=50,
    max_item_chars=20,
    max_entity_chars=10,
    max_list_items=3,
)
CONFIG = EvaluateConfig(limits=LIMITS)


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


def test_too_much_for_a_model_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="7 NLI pairs") as caught:
        check_count(7, 6, "NLI pairs")
    assert caught.value.field == "generated.text"
    check_count(6, 6, "NLI pairs")
