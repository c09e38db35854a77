import pytest

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
