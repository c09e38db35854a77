"""Numbers, dates and units in all their spellings, when two of them say the same, and the terms of a manual."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.terms import TermKind, find_terms
from pipeline.reading.values import (
    Date,
    Quantity,
    Values,
    agree,
    competes,
    find_values,
    is_certain,
    unit_of,
)
from pipeline.support.claim_support import differs, written_as


def read(text: str) -> Quantity:
    (quantity,) = find_values(text)
    assert isinstance(quantity, Quantity)
    return quantity


@pytest.mark.parametrize(
    ("text", "meanings"),
    [
        ("67 million", [("", 67e6)]),
        ("76m", [("", 76e6), ("length", 76)]),
        ("$1.2bn", [("USD", 1.2e9)]),
        ("USD 1,500,000", [("USD", 1.5e6)]),
        ("12 pounds", [("mass", 5.44310844), ("GBP", 12)]),
        ("five", [("", 5)]),
        ("two hundred and fifty thousand", [("", 250_000)]),
        ("half a million", [("", 500_000)]),
        ("one and a half million", [("", 1.5e6)]),
        ("a dozen", [("", 12)]),
        ("1,403", [("", 1_403)]),
        ("1.403", [("", 1.403), ("", 1_403)]),  # as Germans write it
        ("1.403,50", [("", 1403.5)]),
        ("1 403 000", [("", 1_403_000), ("", 1), ("", 403), ("", 0)]),
        ("98. 7", [("", 98.7), ("", 98), ("", 7)]),  # as tokenizers leave it
        ("1" + "0" * 400, [("", float("inf"))]),
        ("20 per cent", [("percent", 20)]),
        ("2 percentage points", [("points", 2)]),
        ("21st", [("ordinal", 21)]),
        ("third", [("ordinal", 3)]),
        ("−5 °C", [("temperature", 268.15)]),
        ("minus five degrees", [("angle", -5)]),
        ("12 square kilometres", [("length2", 12e6)]),
        ("60 miles per hour", [("length/time", 26.8224)]),
        ("9.81 m/s²", [("length/time2", 9.81)]),
        ("5-mm bolt", [("length", 0.005)]),
        ("5m", [("", 5e6), ("length", 5)]),
        ("15:00", [("clock", 900)]),
        ("2:05 p.m.", [("clock", 845)]),
        ("2:05", [("clock", 125), ("clock", 845)]),
        ("9.30 am", [("clock", 570)]),
        ("noon", [("clock", 720)]),
        ("80p", [("GBP", 0.8)]),
        ("Room 12B", [("", 12)]),
        ("line 5 m", [("length", 5)]),
        ("10 m per second squared", [("length/time2", 10)]),
        ("1h45", [("time", 6300)]),
        ("8 stone 4", [("mass", 52.616703)]),
        ("5W-30 oil", [("", 5), ("", 30)]),
    ],
)
def test_a_number_is_read_in_any_spelling(text: str, meanings: list[tuple[str, float]]) -> None:
    amounts = [amount for value in find_values(text) if isinstance(value, Quantity) for amount in value.amounts]
    assert [amount.dimension for amount in amounts] == [dimension for dimension, _ in meanings]
    assert [amount.value for amount in amounts] == pytest.approx([value for _, value in meanings])


@pytest.mark.parametrize(
    "text",
    ["1.2.3", "10.0.0.1", "A380, F16 and x86_64", "P-4x or someone often", "one of them", "the second half of it"],
)
def test_parts_of_words_and_codes_are_no_numbers(text: str) -> None:
    assert [value for value in find_values(text) if text[value.start].isdigit() and text[value.start - 1] != "-"] == []


@pytest.mark.parametrize("text", ["28-24", "10 to 20", "5 km 5 km", "30 min 1 h", "1 h 90 min", "1 h 30 times"])
def test_numbers_beside_each_other_are_several(text: str) -> None:
    assert len(find_values(text)) == 2


SAME = [
    ("67 million", "67,000,000"),
    ("about 1 h 30 min", "95 minutes"),
    ("67 million", "67.3 million"),
    ("more than 40", "43"),
    ("about 100", "97"),
    ("$4.2m", "$4.2 million"),
    ("4.2 million dollars", "USD 4,200,000"),
    ("5,000 metres", "5 km"),
    ("8 km", "5 miles"),  # converted and rounded
    ("two weeks", "14 days"),
    ("68 °F", "20 °C"),
    ("2:05 pm", "14:05"),
    ("400", "400 litres"),
    ("14 March 2025", "2025-03-14"),
    ("March 2025", "14 March 2025"),
    ("3/4/2024", "4 March 2024"),
    ("2.5 miles", "21⁄2 miles"),
    *(("11/16 inch", "0.6875 inches"), ("2.5 hours", "two and a half hours"), ("an hour and a half", "90 minutes")),
    *(("half of them", "50%"), ("cut by half.", "50%"), ("1.25 million", "1'250'000"), ("15:00 UTC", "17:00 CEST")),
    *(("15:00 UTC", "3 pm"), ("5%", "5–10 %"), ("2 mm", "2, 4 and 5 mm"), ("2.5 km", "2 km and 500 m")),
    ("1985", "the 1980s"),
    *(("40 litres a minute", "40 l/min"), ("15 mg/kg/day", "15 mg per kg per day")),
    *(("8.5 L/100 km", "8.5 litres per 100 km"), ("250 kN/m²", "250 kPa"), ("90 N m", "90 Nm")),
    ("62 kWh/m² a year", "62 kilowatt-hours per square metre each year"),
    ("0.035 W/(m·K)", "0.035 W/m·K"),
    ("Rs. 4.5 crore", "45 million rupees"),
    ("Q3", "September"),
    ("£26", "26 pounds a year"),
    *(
        ("8 pm ET", "5 pm PT"),
        ("5 foot 4", "64 inches"),
        ("6'2\"", "6 ft 2 in"),
        ("Q3 2021", "the third quarter of 2021"),
    ),
    *(("2 out of 3", "two thirds"), ("one in ten", "10%"), ("quarter past six", "18:15"), ("twenty to nine", "8:40")),
    *(("at 0615 hours", "6:15 am"), ("2 million", "2 to 3 million"), ("$2m", "$2-3 million")),
    *(("2.5 years", "two-and-a-half years"), ("3 m", "3 x 4 m"), ("a million", "10^6"), ("2 mm", "2 * 10^-3 m")),
    *(("$5 a tonne", "USD 5 per 1000 kg"), ("5 dollars a tonne", "$5"), ("€18", "€18/m² a month"), ("3%", "3% a year")),
    *(("£ 440 m", "£440million"), ("$5 bn", "5 billion dollars"), ("€12 per megawatt-hour", "12 EUR/MWh")),
]
OTHER = [
    ("67 million", "76 million"),
    ("third", "3"),
    ("more than 40", "12"),
    ("4.25", "4.2"),
    ("2.5", "2.4"),
    *(("3", "3,000"), ("2 litres", "2 gallons"), ("200 s", "200 ms"), ("12 l/h", "12 l/min"), ("$900", "€900")),
    *(("$5/kg", "$5/t"), ("£12 an hour", "£12 a day"), ("12 EUR/kWh", "12 EUR/MWh"), ("3% per month", "3% per year")),
    *(("106", "10^6"), ("10^9", "10^6"), ("2 × 10^3 kg", "2 × 10^6 kg")),
    ("2%", "2 percentage points"),
    ("5 °C", "−5 °C"),
    ("8 am", "8 pm"),
    ("14 March", "15 March"),
    ("14 March", "in March"),
    ("12345678901", "12345678902"),
    ("a third of them", "40 %"),
    *(("15:00 UTC", "15:00 CET"), ("the 1960s", "the '80s"), ("40 litres a minute", "40 litres an hour")),
    *(("Q3", "Q2"), ("67P", "£0.67"), ("16:9", "4:09 pm"), ("two-thirds full", "one-third full")),
    ("the third quarter of 2021", "May 2021"),
    ("15 mg/kg/day", "15 mg/kg/h"),
    ("0.035 W/(m·K)", "0.035 kW/(m·K)"),
    *(("5m", "5 km"), ("8 pm ET", "7 pm ET"), ("one in three", "two out of three"), ("for 1830 hours", "6:30 pm")),
]


@pytest.mark.parametrize(("claimed", "stated"), SAME)
def test_the_same_value_agrees(claimed: str, stated: str) -> None:
    assert agree(find_values(claimed)[0], find_values(stated)[0])
    assert Values(f"It was {stated}.").states(find_values(claimed)[0])


@pytest.mark.parametrize(("claimed", "stated"), OTHER)
def test_another_value_does_not_agree(claimed: str, stated: str) -> None:
    assert not agree(find_values(claimed)[0], find_values(stated)[0])


@pytest.mark.parametrize(
    ("left", "right", "is_rival"),
    [
        *(("$900", "€900", True), ("2%", "2 percentage points", True), ("61%", "2 percentage points", False)),
        *(("5 km", "5 kg", False), ("5 km", "3 March", False)),
    ],
)
def test_values_of_one_kind_compete(left: str, right: str, *, is_rival: bool) -> None:
    assert competes(find_values(left)[0], find_values(right)[0]) == is_rival


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5 km", True), ("May 2017", True), ("twelve", False), ("by a third", False), ("the 2nd", False)],
)
def test_a_value_with_a_unit_can_only_be_of_its_kind(text: str, *, expected: bool) -> None:
    assert is_certain(find_values(text)[0]) is expected


@pytest.mark.parametrize(
    ("text", "stated", "expected"),
    [
        ("It starts at 15:00.", "It starts at 3 pm.", "It starts at 3 pm."),
        ("It is 5,000 metres long.", "a pier of 5 km", "It is 5 km long."),
        ("They paid USD 1,500,000.", "paid $1.5 million", "They paid $1.5 million."),
        ("They met on 2024-03-05.", "on 5 March 2024", "They met on 5 March 2024."),
        ("It has more than 40 rooms.", "has 43 rooms", "It has more than 40 rooms."),
    ],
)
def test_a_value_is_written_as_the_source_writes_it(text: str, stated: str, expected: str) -> None:
    assert written_as(text, stated) == expected


@pytest.mark.parametrize(
    ("claim", "is_other"),
    [
        ("It is 250 feet long.", True),
        ("It is 0.25 km long.", False),
        ("It is 250 long.", False),
        *(("5 kg", False), ("Built in 1932.", True), ("Half of it is closed.", True), ("A third of it is.", False)),
        ("Boards of 1 m and 50 cm are sold.", False),
    ],
)
def test_a_quantity_differs_where_the_source_has_only_others_of_its_dimension(claim: str, *, is_other: bool) -> None:
    source = "The pier of 1931 is 250 metres long. Boards of 50 cm and 1 m are sold. A third of it is closed."
    assert differs(claim, [source], Values(source)) == is_other


def days(text: str) -> list[frozenset[tuple[int | None, ...]]]:
    return [value.days for value in find_values(text) if isinstance(value, Date)]


@pytest.mark.parametrize(
    "text", ["July 1, 1969", "1 July 1969", "1st of july 1969", "Jul. 1, 1969", "1969-07-01", "since July 1, 1969"]
)
def test_a_date_is_the_same_in_any_order(text: str) -> None:
    assert days(text) == [{(1969, 7, 1, None)}]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("They may march on the august house.", []),
        ("In May they met on 3 March.", [(None, 5, None, None), (None, 3, 3, None)]),
        ("On Thursday, as in 2014", [(None, None, None, 4), (2014, None, None, None)]),
        ("It cost 2,014 or 2014.5 and fell by 1900%", []),
        ("It has 2000 people on 1850 metres", []),
        ("In 2009 people began to protest.", [(2009, None, None, None)]),
        ("the 2019 elections, and 1800 rpm", [(2019, None, None, None)]),
    ],
)
def test_months_and_years_need_a_date_around_them(text: str, dates: list[tuple[int | None, ...]]) -> None:
    assert days(text) == [{date} for date in dates]


@pytest.mark.parametrize("text", ["20 °C", "15 litres per minute", "5 mm", "16GB", "±5%", "2 h 30 min", "2000 mAh"])
def test_terms_and_quantities_have_the_same_units(text: str) -> None:
    assert "" not in read(text).dimensions
    (unit,) = [term.text for term in find_terms(text) if term.kind is TermKind.UNIT]
    assert agree(read(unit), read(text))


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
        ("9.81 m/s²", "9.81", "9.81 m/s²"),
    ],
)
def test_quantities(text: str, number: str, unit: str) -> None:
    assert terms_of(text) == {"number": [number], "unit": [unit]}


@pytest.mark.parametrize("text", ["4 in a row", "5 a day", "3 pumps", "2 C programs", "7 T shirts"])
def test_a_word_that_only_looks_like_a_unit_is_none(text: str) -> None:
    assert "unit" not in terms_of(text)


ONE_WORD_TERMS = {
    "version": "v2.1 5.10.0-8-amd64 1.2.3",
    "part_number": "P-4711/B A10VSO M8x1.25 CVE-2021-3156 RFC2822 6205-2RS ext4",
    "path": "/etc/apt/sources.list ~/.bashrc C:\\Windows\\System32 sources.list https://wiki.debian.org/LTS "
    "192.168.0.1/24 2001:db8:1234:5::1 root@example.org",
    "command": "--assume-yes -y apt_preferences(5) check_sender_access $HOME",
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in ONE_WORD_TERMS.items() for text in texts.split()]
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


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("We use Bosch Rexroth pumps, and the Debian Manual.", {"entity": ["bosch rexroth", "debian manual"]}),
        ("Pumps run. Valves close! Open it? Then: Close it.\nNew lines too.\n- And list items.", {}),
        ("APT resolves it. LDAP too.", {"entity": ["apt", "ldap"]}),
        ("# Replacing The Pump P-12\n", {"part_number": ["p-12"]}),
        ("It holds 300 PSI.", {"number": ["300"], "unit": ["300 PSI"]}),
        ("50–60, 2021/03/04 and 1997-2003", {"number": ["50", "60", "2021", "03", "04", "1997", "2003"]}),
    ],
)
def test_names_are_capitalised_neighbours_inside_sentences(text: str, terms: dict[str, list[str]]) -> None:
    assert terms_of(text) == terms


@given(st.text(max_size=300))
def test_any_text_gives_terms_without_white_space_around_them(text: str) -> None:
    for term in find_terms(text):
        assert term.text == term.text.strip() != ""


@pytest.mark.parametrize(
    ("word", "is_attached", "expected"),
    [
        ("millimetres", False, "mm"),
        ("in", True, "in"),
        ("in", False, None),
        ("kg/cm²", False, "kg/cm2"),
        ("N·m", False, "N·m"),
        ("PSI", False, "psi"),
        ("foo", True, None),
    ],
)
def test_units(word: str, *, is_attached: bool, expected: str | None) -> None:
    unit = unit_of(word, is_attached=is_attached)
    assert (unit and unit.name) == expected
