import pytest

from pipeline.errors import InvalidInputError, parse
from pipeline.evaluate.config import EvaluateConfig, EvaluateWeights, PrecisionSource
from pipeline.evaluate.datum import GoldStandardDatum


@pytest.mark.parametrize(
    ("overrides", "field", "expected", "got"),
    [
        ({"weights": {"facts": float("nan")}}, "options.weights.facts", "a finite number", "nan"),
        ({"weights": {"facts": float("inf")}}, "options.weights.facts", "a finite number", "inf"),
        ({"weights": {"facts": -0.1}}, "options.weights.facts", "greater than or equal to 0", "-0.1"),
        ({"weights": {"facts": 0.5}}, "options.weights", "weights that sum to 1", "a sum of 1.1"),
        ({"hit_threshold": 0}, "options.hit_threshold", "greater than 0", "0"),
        ({"hit_threshold": float("nan")}, "options.hit_threshold", "less than or equal to 1", "nan"),
        ({"precision_source": "web"}, "options.precision_source", "'gold' or 'source_text'", "str of length 3"),
        ({"entity_max_matches": 0}, "options.entity_max_matches", "greater than or equal to 1", "0"),
        ({"no_such": 1}, "options.no_such", "no such field", "one"),
    ],
)
def test_a_bad_option_is_named_with_what_was_expected(
    overrides: dict[str, object], field: str, expected: str, got: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        EvaluateConfig().with_overrides(overrides)
    assert (caught.value.field, caught.value.expected, caught.value.got) == (field, expected, got)


def test_overrides_leave_the_rest_as_it_was() -> None:
    config = EvaluateConfig(hit_threshold=0.7).with_overrides({"precision_source": PrecisionSource.SOURCE_TEXT})
    assert (config.hit_threshold, config.precision_source) == (0.7, PrecisionSource.SOURCE_TEXT)


def test_weights_may_miss_one_by_rounding_only() -> None:
    third = 0.3333333
    EvaluateWeights(facts=third, entities=third, flow=third, semantic=0, length=0)  # within 1e-6
    with pytest.raises(ValueError, match="sum to 1"):
        EvaluateWeights(facts=0.33333, entities=0.33333, flow=0.33333, semantic=0, length=0)


def datum(**summary: object) -> dict[str, object]:
    return {"entry": {"text": "t"}, "summary": {"summary": "s", **summary}}


@pytest.mark.parametrize("count", [1, 9, 21])
def test_key_facts_are_ten_to_twenty_or_none(count: int) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(GoldStandardDatum, datum(key_facts=["f"] * count), "datum")
    assert caught.value.field == "datum.summary.key_facts"
    assert caught.value.expected == "10 to 20 facts, or none"
    assert caught.value.got == f"{count} facts"


@pytest.mark.parametrize("count", [0, 10, 20])
def test_ten_to_twenty_key_facts_or_none_are_accepted(count: int) -> None:
    assert len(parse(GoldStandardDatum, datum(key_facts=["f"] * count), "datum").summary.key_facts) == count


def test_errors_never_quote_the_callers_text() -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(GoldStandardDatum, datum(entity_list="secret name"), "datum")
    assert "secret" not in str(caught.value)
    assert caught.value.field == "datum.summary.entity_list"


def test_a_missing_field_is_named() -> None:
    with pytest.raises(InvalidInputError, match=r"datum\.summary: expected a value, got nothing"):
        parse(GoldStandardDatum, {"entry": {"text": "t"}}, "datum")
