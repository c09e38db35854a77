"""The terms whose loss a reader would notice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.values import Term, TermKind, find_terms, unit_of


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


def test_a_text_of_one_word_or_one_line_takes_time_linear_in_its_length() -> None:
    for hostile in ("1" * 200_000, "A" * 200_000, "a." * 100_000, "A " * 100_000, "`" * 200_000, "5 " * 100_000):
        find_terms(hostile)  # the test's time limit would end it


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
