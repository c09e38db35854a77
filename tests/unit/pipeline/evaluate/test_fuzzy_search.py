import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from pipeline.evaluate.entities import FuzzyMatch, SearchedText, fold, fold_name
from pipeline.reading.characters import normalize


def find(name: str, text: str, threshold: float = 0.9, limit: int = 8) -> list[str]:
    searched = SearchedText(normalize("t", text))
    matches = searched.find(fold_name(name), threshold, limit)
    return [text[slice(*searched.words.span(match.first, match.last))] for match in matches]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "George Washington",
            "GEORGE WASHINGTON led; George Washngton wrote.",
            ["GEORGE WASHINGTON", "George Washngton"],
        ),
        ("George Washington", "Washington State grew.", []),
        ("Department of Health", "the Department\nof  Health's budget", ["Department\nof  Health"]),
        ("Water Authority", "The Water-Authority said", ["Water-Authority"]),  # one word less
        ("Health-Care Act", "the Health Care Act", ["Health Care Act"]),  # one word more
        ("AT&T", "(AT&T)", ["AT&T"]),
        ("Straße", "die STRAßE", ["STRAßE"]),
        ("北京大学", "他在北京大学学习。", ["北京大学"]),
        ("Zürich", "in zürich.", ["zürich"]),
        ("Alpha", "", []),
    ],
)
def test_names_are_found_whatever_their_case_spacing_and_small_typos(name: str, text: str, expected: list[str]) -> None:
    assert find(name, text) == expected


def test_the_threshold_is_exclusive() -> None:
    assert fuzz.ratio("abcdefghij", "abcdefghiX") == 90
    assert find("abcdefghij", "abcdefghiX") == []
    assert find("abcdefghij", "abcdefghiX", threshold=0.89) == ["abcdefghiX"]


def test_the_better_of_overlapping_matches_is_kept() -> None:
    assert find("International Monetary Fund", "the International Monetary Fund a", threshold=0.5) == [
        "International Monetary Fund"
    ]


def test_of_equal_matches_the_first_are_kept() -> None:
    searched = SearchedText(normalize("t", "IBM and IBM and IBM"))
    assert searched.find(fold_name("ibm"), 0.9, 2) == [FuzzyMatch(0, 1, 1.0), FuzzyMatch(2, 3, 1.0)]


def test_a_mention_late_in_a_book_is_found() -> None:
    assert find("Ada Lovelace", "word " * 30_000 + "Ada Lovelace") == ["Ada Lovelace"]


def test_reading_stops_when_there_are_enough() -> None:
    assert find("IBM", "IBM " * 100_000, limit=3) == ["IBM"] * 3


def test_the_most_similar_words_are_told_even_far_from_the_threshold() -> None:
    searched = SearchedText(normalize("t", "Washington State grew."))
    best = searched.most_similar(fold_name("George Washington"))
    assert best is not None
    assert searched.words.span(best.first, best.last) == (0, 10)
    assert best.ratio == pytest.approx(fuzz.ratio("george washington", "washington") / 100)
    assert SearchedText(normalize("t", "...")).most_similar(fold_name("x")) is None


@given(st.text(st.sampled_from("aAßİıſK\n\t ǰ"), max_size=20))
def test_folding_keeps_every_character_in_its_place(text: str) -> None:
    folded = fold(text)
    assert len(folded) == len(text)
    assert fold(folded) == folded
    assert [c.isspace() for c in folded] == [c.isspace() for c in text]


@given(
    st.lists(st.sampled_from(["ann", "lee", "anna", "le", "of", "the"]), max_size=12), st.sampled_from([0.0, 0.5, 0.8])
)
def test_everything_above_the_threshold_touches_a_match(parts: list[str], threshold: float) -> None:
    searched = SearchedText(normalize("t", " ".join(parts)))
    words, found = searched.words, searched.find(fold_name("Ann Lee"), threshold, 99)
    matched = {index for match in found for index in range(match.first, match.last)}
    for size in (1, 2, 3):
        for first in range(len(words) - size + 1):
            window = searched.source.text[slice(*words.span(first, first + size))]
            if fuzz.ratio("ann lee", window) / 100 > threshold:
                assert matched & set(range(first, first + size))
