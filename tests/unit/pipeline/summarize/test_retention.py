"""What survives is counted, and what is said twice is found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.terms import TermKind, find_terms
from pipeline.summarize.duplicates import DuplicateFilter
from pipeline.summarize.retention import Mentions, Retention, add_up, measure
from pipeline.summarize.writer import Extraction

SOURCE = "The pump P-12 by Bosch Rexroth runs at 2,000 PSI. See /etc/pump.conf and `pumpctl start` in v1.2."


def retention(source: str, *outputs: str) -> Retention:
    return measure(find_terms(source), [Mentions.of(output) for output in outputs])


def test_a_text_keeps_all_of_itself() -> None:
    kept = retention(SOURCE, SOURCE)
    assert kept.share == 1
    assert {kind.kind: kind.input_count for kind in kept.kinds} == dict.fromkeys(TermKind, 1)


def test_what_is_lost_is_named() -> None:
    kept = retention(SOURCE, "Bosch Rexroth pump p-12: 2000 bar")
    assert kept.of(TermKind.NUMBER).share == 1
    assert kept.of(TermKind.UNIT).missing == ("2000 PSI",)
    assert kept.of(TermKind.PART_NUMBER).share == 1
    assert kept.of(TermKind.PATH).missing == ("/etc/pump.conf",)
    assert kept.share == 3 / 7


def test_a_name_at_the_start_of_a_sentence_is_still_there() -> None:
    assert retention("made by Parker here", "Parker makes it.").of(TermKind.ENTITY).share == 1
    assert retention("by Bosch Rexroth here", "Rexroth. Bosch Rexroth.").of(TermKind.ENTITY).share == 1
    assert retention("by Bosch Rexroth here", "rexroth and then bosch").of(TermKind.ENTITY).share == 0


def test_a_term_counts_if_any_output_has_it_in_any_unit_of_its_dimension() -> None:
    assert retention("Use 5 mm and 6 mm", "5 mm", "6 mm").share == 1
    assert retention("Use 5 mm here", "Use 0.5 cm here").of(TermKind.UNIT).share == 1
    assert retention("Use 5 mm here", "Use 5 cm here").of(TermKind.UNIT).share == 0
    nothing = retention("nothing here", "")
    assert (nothing.share, nothing.of(TermKind.NUMBER).share) == (1, 1)


def test_calls_are_added_up() -> None:
    total = add_up([retention("5 mm", "5 mm"), retention("5 mm and 7 kg", "none")])
    numbers = total.of(TermKind.NUMBER)
    assert (numbers.input_count, numbers.kept_count, numbers.missing) == (3, 1, ("5", "7"))


def clean(*texts: str) -> list[str]:
    filter_ = DuplicateFilter()
    return [filter_.clean(Extraction(text, (index, index), (0, 0))) for index, text in enumerate(texts)]


def test_a_sentence_is_kept_once_where_it_first_stands() -> None:
    first, second = clean(
        "The pump must be primed. It is blue and heavy too.",
        "Oil is changed yearly. The pump must be primed. Done here now.",
    )
    assert first == "The pump must be primed. It is blue and heavy too."
    assert second == "Oil is changed yearly. Done here now."
    sentence = "The pump must be primed."
    assert clean(f"{sentence} It is blue and heavy too. {sentence}") == [f"{sentence} It is blue and heavy too."]


def test_what_was_dropped_is_remembered_with_its_chunks() -> None:
    filter_ = DuplicateFilter()
    filter_.clean(Extraction("The pump must be primed.", (0, 6), (1, 2)))
    filter_.clean(Extraction("Other words stand here. The  **pump** must be primed.", (7, 13), (2, 3)))
    (removed,) = filter_.removed
    assert removed.text == "The  **pump** must be primed."
    assert (removed.kept_chunks, removed.dropped_chunks) == ((0, 6), (7, 13))
    assert removed.is_exact


@pytest.mark.parametrize(
    "text",
    [
        "# The same heading stands here twice",
        "1. Press the red button for long.",
        "| a table row | with some words | in it |",
        "See below.",
        "a line of output without any end mark",
        "```\nThe pump must be primed.\n```",
    ],
)
def test_headings_steps_tables_code_and_scraps_stay(text: str) -> None:
    assert clean(text, f"Something of its own stands here.\n{text}")[1].endswith(text.strip())


def test_list_items_are_the_same_only_under_the_same_heading() -> None:
    item = "- Highest pressure is 200 bar here"
    first, second, third = clean(
        f"# Pump A\n{item}", f"# Pump B\n{item}", f"# Pump A\n{item}\n- And one new item of it"
    )
    assert item in first
    assert item in second
    assert third == "# Pump A\n- And one new item of it"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("It runs at -5.5 bar all day.", "It runs at 5.5 bar all day."),
        ("It needs 5 MW all day long.", "It needs 5 mW all day long."),
        ("Set it to 1.5 and go on.", "Set it to 15 and go on."),
        ("For more on this see Sec. Hydraulics.", "For more on this see Sec. Electrics."),
    ],
)
def test_what_differs_by_a_value_or_behind_an_abbreviation_is_another_sentence(left: str, right: str) -> None:
    assert clean(left, right) == [left, right]


@given(st.lists(st.text(alphabet="ab .\n#-`1", max_size=120), max_size=6))
def test_a_second_pass_changes_nothing_and_no_text_appears(texts: list[str]) -> None:
    once = clean(*texts)
    assert clean(*once) == once
    for text, kept in zip(texts, once, strict=True):
        left = iter(text)
        assert all(character in left for character in kept)  # a subsequence
