"""Words, and the table of them."""

import pytest

from pipeline.reading.word_table import WordTable
from pipeline.reading.words import split_words


def spelled(text: str) -> list[str]:
    words = split_words(text)
    return [text[start:end] for start, end in zip(words.starts, words.ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AT&T sued C++ users, e.g. in the U.S.", ["AT&T", "sued", "C++", "users", "e.g", "in", "the", "U.S"]),
        ("Labor's (new) “rule”—or not", ["Labor", "new", "rule", "or", "not"]),
        ("the workers’ claims, ‘so’ Ann’s", ["the", "workers", "claims", "so", "Ann"]),
        ("**bold** and/or x_y", ["bold", "and", "or", "x_y"]),
        ("北京 University大学", ["北", "京", "University", "大", "学"]),
        (" ... — ", []),
        ("", []),
    ],
)
def test_words_are_free_of_punctuation_around_them(text: str, expected: list[str]) -> None:
    assert spelled(text) == expected


def test_a_span_of_words_is_clipped_to_the_text() -> None:
    words = split_words("one two, three")
    assert words.span(1, 2) == (4, 7)
    assert words.span(-5, 99) == (0, 14)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A 31-year-old pump", ["a", "31", "year", "old", "pump"]),
        ("31 - year - old", ["31", "year", "old"]),
        ("a‐–‐b, ‑c and d-‐e", ["a", "b", "c", "and", "d", "e"]),
        ("Ann’s STRASSE, Straße", ["ann", "strasse", "strasse"]),
        ("İt is", ["i̇t", "is"]),
        ("x" * 450 + "-y", ["x" * 200, "x" * 200, "x" * 50, "y"]),
        ("", []),
    ],
)
def test_words_are_cut_at_hyphens_and_folded(text: str, words: list[str]) -> None:
    table = WordTable.of(text)
    assert table.words == words
    assert [table.raw(at).casefold() for at in range(len(table))] == words
    assert len(table.stems) == len(table.content) == len(words)
