import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.values import find_numbers
from pipeline.summarize.gate.findings import FaultKind
from pipeline.summarize.gate.values import KnownNumbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0,2,4 and 1,4,7,10", [{"0"}, {"2"}, {"4"}, {"1"}, {"4"}, {"7"}, {"10"}]),
        ("1,403,000 rows", [{"1403000"}]),
        ("1.403 rows", [{"1403", "1.403"}]),
        ("1.2,3,4", [{"1.2,3,4"}]),
        ("version 1.2.3", [{"1.2.3"}]),
    ],
)
def test_numbers_are_read_as_what_they_may_mean(text: str, values: list[set[str]]) -> None:
    assert [set(amount.readings) for amount in find_numbers(text)] == values


@given(st.text("0123456789.,- kg°%()٣²", max_size=30) | st.text())
def test_any_text_can_be_read(text: str) -> None:
    amounts = list(find_numbers(text))
    assert [amount.start for amount in amounts] == sorted(amount.start for amount in amounts)
    assert all(amount.readings for amount in amounts)
    KnownNumbers.of(text)


@pytest.mark.parametrize(("stated", "written"), [("45 lb", "45 kg"), ("300 psi", "300 TB"), ("5 m", "5 mm")])
def test_another_unit_is_a_fault_however_it_is_spelled(stated: str, written: str) -> None:
    assert list(KnownNumbers.of(f"It takes {stated}.").faults(f"It takes {written}.")) == [(FaultKind.UNIT, written)]
    assert list(KnownNumbers.of(f"It takes {stated}.").faults(f"It takes {stated}.")) == []
