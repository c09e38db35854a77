"""Numbers in all their spellings, and when two of them say the same."""

import pytest

from pipeline.reading.values import Measure, Quantity, agree, find_quantities


def read(text: str) -> Quantity:
    (quantity,) = find_quantities(text)
    return quantity


@pytest.mark.parametrize(
    ("text", "value", "measure"),
    [
        ("67 million", 67e6, Measure.PLAIN),
        ("76m", 76e6, Measure.PLAIN),
        ("$1.2bn", 1.2e9, Measure.PLAIN),
        ("five", 5, Measure.PLAIN),
        ("twenty-five", 25, Measure.PLAIN),
        ("two hundred and fifty thousand", 250_000, Measure.PLAIN),
        ("half a million", 500_000, Measure.PLAIN),
        ("a dozen", 12, Measure.PLAIN),
        ("1,403", 1_403, Measure.PLAIN),
        ("20 per cent", 20, Measure.PERCENT),
        ("20%", 20, Measure.PERCENT),
        ("21st", 21, Measure.ORDINAL),
        ("third", 3, Measure.ORDINAL),
    ],
)
def test_a_number_is_read_in_any_spelling(text: str, value: float, measure: Measure) -> None:
    quantity = read(text)
    assert (quantity.value, quantity.measure) == (value, measure)
    assert text[quantity.start : quantity.end] == text


@pytest.mark.parametrize(
    ("claimed", "stated"),
    [
        ("67 million", "67,000,000"),
        ("67 million", "67.3 million"),
        ("five", "5"),
        ("20%", "20 per cent"),
        ("more than 40", "43"),
        ("about 100", "97"),
        ("$4.2m", "$4.2 million"),
    ],
)
def test_the_same_number_agrees(claimed: str, stated: str) -> None:
    assert agree(read(claimed), read(stated))


@pytest.mark.parametrize(
    ("claimed", "stated"),
    [
        ("67 million", "76 million"),
        ("67 million", "67"),
        ("five", "6"),
        ("20%", "20"),
        ("third", "3"),
        ("more than 40", "12"),
        ("4.25", "4.2"),
        ("2.5", "2.4"),
    ],
)
def test_another_number_does_not_agree(claimed: str, stated: str) -> None:
    assert not agree(read(claimed), read(stated))


def test_parts_of_words_and_of_other_numbers_are_no_numbers() -> None:
    assert [quantity.value for quantity in find_quantities("The A380 and the F16 met someone often")] == []
    assert [quantity.value for quantity in find_quantities("28-24")] == [28, 24]
