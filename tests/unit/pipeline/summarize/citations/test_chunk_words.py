"""No chunk that holds a sentence is left out, and most of those that do not hold it are."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.summarize.citations.chunk_words import ChunkWords
from pipeline.summarize.gate.parts import fold, split_parts

SENTENCES = [
    "The pump",
    " runs",
    "re**start**ed",
    "a__b",
    "a_b",
    "`code`",
    "ﬁne",
    "Straße",
    "İt",
    "「止めて。」",
    "5 mm",
]
MARKS = [". ", "! ", "\n", "\n\n", "- ", "1. ", "# ", "| ", " |", "\u0301", "```\n", "*", "_", "»", "e"]
PIECES = st.sampled_from([*SENTENCES, *MARKS, "x" * 900, "x" * 1_200])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_chunk_may_hold_each_of_its_parts_and_lines(text: str) -> None:
    lines = [line.strip() for line in text.splitlines()]
    parts = [text[part.start : part.end] for part in split_parts(text)]
    words = ChunkWords(["Something else.", text])
    for part in (*parts, *lines):
        assert 1 in words.may_hold([fold(part)]), part


def test_only_chunks_with_all_words_of_a_sentence_are_looked_at() -> None:
    words = ChunkWords(["The pump runs.", "The motor runs.", "the Pump stops, and runs again"])
    assert words.may_hold(["the pump runs"]) == [0, 2]
    assert words.may_hold(["the valve runs"]) == []
    assert words.may_hold(["the motor", "again"]) == [1, 2]
