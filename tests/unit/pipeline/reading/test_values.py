"""Numbers, dates and units in all their spellings, when two of them say the same, and the terms of a manual."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.values import (
    DatePartKind,
    Measure,
    Quantity,
    Term,
    TermKind,
    agree,
    find_date_parts,
    find_numbers,
    find_quantities,
    find_terms,
    unit_of,
)


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
        ("1,403,000 rows", {"1403000"}, None),
        ("1.2,3,4", {"1.2,3,4"}, None),
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


def terms_of(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for term in find_terms(text):
        found.setdefault(term.kind.value, []).append(term.text)
    return found


@pytest.mark.parametrize("text", ["runs at 5 mm.", "runs at 5mm", "runs at **5** mm,", "(5 mm)", "= 5 mm", "5\u00a0mm"])
def test_a_number_and_its_unit_are_the_same_however_they_are_set(text: str) -> None:
    assert terms_of(text) == {"number": ["5"], "unit": ["5 mm"]}


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("torque 25 N·m", "25", "25 N·m"),
        ("pressure 2,000 PSI", "2000", "2000 PSI"),
        ("3.3V", "3.3", "3.3 V"),
        ("±5%", "5", "5 %"),
        ("-40 °C", "40", "40 °C"),
        ("16GB", "16", "16 GB"),
        ("9.81 m/s²", "9.81", "9.81 m/s²"),
        ("every 30 days", "30", "30 days"),
        ("100 Mbps", "100", "100 Mbps"),
        ("12 l/min", "12", "12 l/min"),
    ],
)
def test_quantities(text: str, number: str, unit: str) -> None:
    assert terms_of(text) == {"number": [number], "unit": [unit]}


@pytest.mark.parametrize("text", ["4 in a row", "5 a day", "3 pumps", "2 C programs", "7 T shirts"])
def test_a_word_that_only_looks_like_a_unit_is_none(text: str) -> None:
    assert "unit" not in terms_of(text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("version", "v2.1"),
        ("version", "5.10.0-8-amd64"),
        ("version", "1.2.3"),
        ("part_number", "P-4711/B"),
        ("part_number", "A10VSO"),
        ("part_number", "M8x1.25"),
        ("part_number", "CVE-2021-3156"),
        ("part_number", "RFC2822"),
        ("part_number", "6205-2RS"),
        ("part_number", "ext4"),
        ("path", "/etc/apt/sources.list"),
        ("path", "~/.bashrc"),
        ("path", "C:\\Windows\\System32"),
        ("path", "https://wiki.debian.org/LTS"),
        ("path", "192.168.0.1/24"),
        ("path", "2001:db8:1234:5::1"),
        ("path", "sources.list"),
        ("path", "root@example.org"),
        ("command", "--assume-yes"),
        ("command", "-y"),
        ("command", "apt_preferences(5)"),
        ("command", "check_sender_access"),
        ("command", "$HOME"),
    ],
)
def test_one_word_terms(kind: str, text: str) -> None:
    assert terms_of(f"see {text}, then go on") == {kind: [text.lower()]}


@pytest.mark.parametrize(
    "text", ["the 1st, 2nd and 20th", "well-known and built-in", "and/or", "e.g. this", "in the 1990s"]
)
def test_ordinary_words_are_no_part_numbers_and_no_paths(text: str) -> None:
    assert not set(terms_of(text)) & {"part_number", "path", "command"}


def test_what_stands_in_code_is_a_command() -> None:
    assert terms_of("Run `apt-get  install -y foo` now.")["command"] == ["-y", "apt-get install -y foo"]


def test_names_are_capitalised_neighbours() -> None:
    assert terms_of("We use Bosch Rexroth pumps, Parker, and the Debian Policy Manual.") == {
        "entity": ["bosch rexroth", "parker", "debian policy manual"]
    }


def test_the_first_word_of_a_sentence_is_no_name() -> None:
    assert terms_of("Pumps run. Valves close! Open it? Then: Close it.\nNew lines too.\n- And list items.") == {}


def test_acronyms_are_names_anywhere() -> None:
    assert terms_of("APT resolves it. LDAP too.") == {"entity": ["apt", "ldap"]}


def test_headings_hold_no_names() -> None:
    assert terms_of("# Replacing The Pump P-12\n") == {"part_number": ["p-12"]}


def test_a_unit_is_no_name() -> None:
    assert "entity" not in terms_of("It holds 300 PSI at 50 Hz.")


def test_ranges_and_dates_give_every_number() -> None:
    assert terms_of("50–60, 2021/03/04 and 1997-2003")["number"] == ["50", "60", "2021", "03", "04", "1997", "2003"]


@given(st.text(max_size=300))
def test_any_text_gives_terms_without_white_space_around_them(text: str) -> None:
    for term in find_terms(text):
        assert isinstance(term, Term)
        assert term.text == term.text.strip() != ""
        assert term.kind is TermKind(term.kind.value)


@pytest.mark.parametrize(
    ("word", "is_attached", "expected"),
    [
        ("mm", False, "mm"),
        ("millimetres", False, "mm"),
        ("in", True, "in"),
        ("in", False, None),
        ("kg/cm²", False, "kg/cm²"),
        ("N·m", False, "Nm"),
        ("lbs", False, "lb"),
        ("kilograms", False, "kg"),
        ("PSI", False, "psi"),
        ("foo", True, None),
    ],
)
def test_units(word: str, *, is_attached: bool, expected: str | None) -> None:
    assert unit_of(word, is_attached=is_attached) == expected
