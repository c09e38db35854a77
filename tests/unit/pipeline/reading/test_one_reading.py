"""Numbers that the readers of the judge, the gate and the terms once read each in its own way, and how all do now.

Where they still differ it is on purpose, and stands here: terms are words as they are written, quantities are values.
"""

from math import isnan

import pytest

from pipeline.reading.values import TermKind, find_numbers, find_quantities, find_terms


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2,3", [1, 2, 3]),  # the judge read the first alone
        ("4,2 Millionen", [4.2]),  # the judge read 4
        ("1.403,50", [1403.5]),  # the judge read 1.403
        ("1,403.50", [1403.5]),
        ("1.2.3", []),  # the judge read 1.2
        ("192.168.0.1", []),  # the judge read 192.168
        ("A380", []),
        ("1.403", [1.403]),  # for the gate 1403 too, as Germans write it
        ("5 m", [5]),
        ("5m", [5e6]),  # for the gate and the terms five metres too
    ],
)
def test_quantities_are_read_in_one_way(text: str, values: list[float]) -> None:
    assert [quantity.value for quantity in find_quantities(text)] == values


@pytest.mark.parametrize(
    ("text", "readings", "unit"),
    [
        ("2,000 rows", {"2000", "2"}, None),
        ("1.403 rows", {"1403", "1.403"}, None),
        ("5.0 kg", {"5"}, "kg"),
        ("05 kilograms", {"5"}, "kg"),
        ("5-mm bolt", {"5"}, "mm"),
        ("45 lbs", {"45"}, "lb"),  # the gate read kilograms: its table of units was cut at the ends of its lines
        ("300 PSI", {"300"}, "psi"),  # and terabytes
        ("5 pixels", {"5"}, "pixel"),  # and lines
        ("5 N·m", {"5"}, "Nm"),
        ("5m", {"5"}, "m"),
        ("P-12", {"12"}, None),
        ("1.2.3", {"1.2.3"}, None),
    ],
)
def test_digits_have_readings_and_a_unit(text: str, readings: set[str], unit: str | None) -> None:
    (number,) = find_numbers(text)
    assert (set(number.readings), number.unit) == (readings, unit)
    assert number.is_part == isnan(number.value)


def test_a_number_of_hundreds_of_digits_is_read() -> None:
    (number,) = find_numbers("1" + "0" * 400)
    assert number.value == float("inf")


@pytest.mark.parametrize("text", ["20 °C", "12 l/min", "5 mm", "16GB", "±5%", "30 days", "2,000 PSI"])
def test_terms_and_quantities_have_the_same_units(text: str) -> None:
    (number,) = find_numbers(text)
    assert number.unit is not None
    assert TermKind.UNIT in {term.kind for term in find_terms(text)}
