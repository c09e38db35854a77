"""Words, and the table of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.word_table import WordTable
from pipeline.reading.words import split_words, token_offsets
from tests.fakes_pipeline import WordTokenizer


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


class CountingTokenizer(WordTokenizer):
    def __init__(self) -> None:
        self.longest_chars = 0

    def offsets(self, text: str) -> list[tuple[int, int]]:
        self.longest_chars = max(self.longest_chars, len(text))
        return super().offsets(text)


@given(st.lists(st.sampled_from(["word ", "x" * 3_000 + " ", "\n", "... "]), max_size=20))
def test_steps_change_nothing(parts: list[str]) -> None:
    text = "".join(parts)
    assert token_offsets(WordTokenizer(), text) == WordTokenizer().offsets(text)


def test_no_step_is_long_even_without_white_space() -> None:
    tokenizer = CountingTokenizer()
    offsets = token_offsets(tokenizer, "x" * 100_000 + " " + "word " * 10_000)
    assert tokenizer.longest_chars <= 8_000
    assert offsets[-1] == (149_996, 150_000)
