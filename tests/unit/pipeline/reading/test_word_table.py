"""Words as they are compared: parts of hyphenated words, in small letters."""

import pytest

from pipeline.reading.word_table import WordTable


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
