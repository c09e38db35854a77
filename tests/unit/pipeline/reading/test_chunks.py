"""Chunks of sentences, and the tokens in them."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.chunks import Chunk, split_chunks, token_offsets
from pipeline.reading.sentences import split_sentences
from tests.fakes_pipeline import WordTokenizer


def chunks(text: str, max_tokens: int) -> list[Chunk]:
    return split_chunks(WordTokenizer().offsets(text), split_sentences(text, 700), max_tokens)


def test_chunks_end_where_sentences_end() -> None:
    text = "One two three. Four five six. Seven eight nine."  # 4 tokens each, with the full stop
    assert [(text[c.start : c.end], c.token_count) for c in chunks(text, 9)] == [
        ("One two three. Four five six.", 8),
        ("Seven eight nine.", 4),
    ]


def test_a_sentence_longer_than_a_chunk_is_cut_between_tokens() -> None:
    text = "one two three four five. Six."
    assert [text[c.start : c.end] for c in chunks(text, 4)] == ["one two three four", "five. Six."]


def test_a_text_without_tokens_has_no_chunks() -> None:
    assert chunks("  ", 4) == []


@given(st.lists(st.sampled_from(["alpha", "beta.", "Gamma", "\n\n", "- ", "!"]), max_size=60), st.integers(1, 9))
def test_chunks_hold_every_token_once_and_none_is_too_long(parts: list[str], max_tokens: int) -> None:
    text = " ".join(parts)
    tokens = WordTokenizer().offsets(text)
    packed = chunks(text, max_tokens)
    assert sum(c.token_count for c in packed) == len(tokens)
    assert all(c.token_count <= max_tokens for c in packed)
    assert [t for c in packed for t in tokens if c.start <= t[0] and t[1] <= c.end] == tokens


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
