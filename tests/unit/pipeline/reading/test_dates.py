"""Parts of dates, and words that only look like months."""

import pytest

from pipeline.reading.values import DatePartKind, find_date_parts


def parts(text: str) -> list[tuple[DatePartKind, int]]:
    return [(part.kind, part.value) for part in find_date_parts(text)]


@pytest.mark.parametrize("text", ["July 1, 1969", "1 July 1969", "1st of july 1969", "Jul. 1, 1969", "1969-07-01"])
def test_a_date_has_the_same_parts_in_any_order(text: str) -> None:
    assert sorted(parts(text)) == [(DatePartKind.DAY, 1), (DatePartKind.MONTH, 7), (DatePartKind.YEAR, 1969)]


def test_months_that_are_verbs_need_a_date_around_them() -> None:
    assert parts("They may march on the august house.") == []
    assert parts("In May they met on 3 March.") == [
        (DatePartKind.MONTH, 5),
        (DatePartKind.DAY, 3),
        (DatePartKind.MONTH, 3),
    ]


def test_weekdays_and_years_stand_alone() -> None:
    assert parts("On Thursday, as in 2014") == [(DatePartKind.WEEKDAY, 4), (DatePartKind.YEAR, 2014)]


def test_amounts_are_no_years() -> None:
    assert parts("It cost 2,014 or 2014.5 and fell by 1900%") == []
    assert parts("It has 2000 people on 1850 metres") == []
    assert parts("In 2009 people began to protest.") == [(DatePartKind.YEAR, 2009)]
    assert parts("the 2019 elections") == [(DatePartKind.YEAR, 2019)]


def test_a_part_says_where_it_stands() -> None:
    text = "since July 1, 1969"
    assert [text[part.start : part.end] for part in find_date_parts(text)] == ["July", "1", "1969"]
