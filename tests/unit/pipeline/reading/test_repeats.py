"""A statement that comes again in the same words counts once."""

from dataclasses import replace

import pytest

from pipeline.reading.repeats import without_repeats
from pipeline.reading.sentences import BlockKind, Sentence
from pipeline.reading.summary_text import read_summary
from tests.unit.pipeline.judge.evidence.tables_by_fakes import SUMMARY, build
from tests.unit.pipeline.reading.test_unrelated import SOURCE

FIRST = "The council of Brookfield voted on Tuesday to close the old steel bridge."

BLOCK = Sentence(0, 0, BlockKind.PROSE)


def read(summary: str) -> list[str]:
    made = read_summary("summary", summary, 700, SOURCE)
    return [passage.text for passage in made.passages]


@pytest.mark.parametrize(
    ("again", "left"),
    [
        (f"Again: {FIRST}", []),
        (f"To repeat, {FIRST.upper()}", ["To repeat,"]),
        (f"“{FIRST}” That is what it says.", ["That is what it says."]),
        (f"As was said: {FIRST[:-1]}, or so.", []),
        (f"False: {FIRST}", ["False:"]),
        (f"Contrary to rumours, {FIRST}", ["Contrary to rumours,"]),
    ],
)
def test_an_announced_repeat_keeps_alone_what_its_announcement_says(again: str, left: list[str]) -> None:
    found = read(f"{SUMMARY} {again}")
    assert found[0] == FIRST
    assert [text for text in found[3:] if any(map(str.isalnum, text))] == left


@pytest.mark.parametrize(
    "other", [f"Mayor Anna Holt of Hatton denied: {FIRST}", "The council voted, and Tom Reed sold books."]
)
def test_what_says_something_of_the_source_besides_stays_whole(other: str) -> None:
    assert read(f"{FIRST} {other}") == [FIRST, other]


def test_a_repeat_behind_a_full_stop_that_the_splitter_missed_counts_once() -> None:
    second = "The bridge of Brookfield has been unsafe for a month."
    assert read(f"Ann told all. {second} Bob told all. {second} Ann told all.").count(second) == 1
    made = [replace(BLOCK, start=start, end=end) for start, end in ((0, 13), (14, 81))]
    text = f"{'Ann told all.'} {second} Ann told all."
    assert [text[one.start : one.end] for one in without_repeats(text, made, SOURCE)] == ["Ann told all.", second]


def test_the_announced_repeat_changes_no_other_claim_whatever_its_place() -> None:
    before = build().claims
    for summary in (f"{SUMMARY} Again: {FIRST}", f"Again: {FIRST} {SUMMARY}"):
        table = build(summary=summary)
        assert [(one.passage.text, one.probability) for one in table.claims] == [
            (one.passage.text, one.probability) for one in before
        ]
        assert table.notes == ("repeated_sentence: 1 sentence left out",)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("4.2 million", "42 million"),
        ("-5 degrees", "5 degrees"),
        ("12 percent", "1.2 percent"),
        ("5%", "$5"),
        ("1:10", "110"),
        ("19/11", "1911"),
        (".5", "5"),
        ("18", "1-8"),
        ("1⁄2", "12"),
        ("< 5%", "> 5%"),
        ("C++", "C#"),
        ("A- painted", "A+ painted"),
    ],
)
def test_another_number_is_another_statement(true: str, false: str) -> None:
    told = [f"The bridge of Brookfield has {number} on it." for number in (true, false)]
    assert read(" ".join(told)) == told
    assert len(read(f"{told[0]} To repeat: {told[1]}")) > 1


def test_the_same_number_in_groups_is_the_same() -> None:
    assert len(read("The bridge had 1,000 visitors. The bridge had 1000 visitors.")) == 1
