"""Texts that a tokenizer took apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.evidence.text.read import ReadText, read_respaced


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        ("The 71 - year - old paid 1, 600 ( left ).", "The 71-year-old paid 1,600 ( left )."),
        ("It rose 31. 8 per cent.", "It rose 31.8 per cent."),
        ("They won 2 - 0 in the U. S. today.", "They won 2-0 in the U.S. today."),
        ("A non - binary word.", "A non-binary word."),
        ("She sent 235, 000 letters.", "She sent 235,000 letters."),
    ],
)
def test_what_was_taken_apart_is_put_together(apart: str, together: str) -> None:
    read = read_respaced("source", apart)
    assert read.text == together
    assert read.whole().quote == apart


@pytest.mark.parametrize(
    "text",
    [
        "In 2012, 300 people came.",
        "He is 23. 100 men left.",
        "The party - which won - and the rest.",
        "Rooms 1, 200 and 3.",
        "She ran 10 - and then rested.",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert read_respaced("source", text).text == text


def test_a_decimal_no_longer_ends_a_sentence() -> None:
    assert len(ReadText.of("source", "It rose 31. 8 per cent in a year. Then it fell.", 700).passages) == 2


@given(st.text(alphabet="ab1 ,.-'`()ﬁ２é", max_size=80))
def test_every_place_leads_back_to_what_was_sent(original: str) -> None:
    read = read_respaced("source", original)
    for index in range(len(read.text)):
        passage = read.passage(index, index + 1)
        assert original[passage.start : passage.end] == passage.quote
