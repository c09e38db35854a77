"""Chunks of sentences."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.evaluator import chunk_spans
from pipeline.evaluate.hard_fails import read_whole
from pipeline.evaluate.result import ChunkSpan
from pipeline.reading.characters import normalize
from tests.fakes_pipeline import WordTokenizer


def chunks(text: str, max_tokens: int) -> tuple[ChunkSpan, ...]:
    return chunk_spans(read_whole(normalize("t", text), 700), WordTokenizer().offsets(text), max_tokens)


def test_chunks_end_where_sentences_end() -> None:
    text = "One two three. Four five six. Seven eight nine."  # 4 tokens each, with the full stop
    assert [(text[c.start : c.end], c.token_count) for c in chunks(text, 9)] == [
        ("One two three. Four five six.", 8),
        ("Seven eight nine.", 4),
    ]


def test_a_sentence_longer_than_a_chunk_is_cut_between_tokens() -> None:
    text = "one two three four five. Six."
    assert [text[c.start : c.end] for c in chunks(text, 4)] == ["one two three four", "five. Six."]


def test_a_text_without_tokens_is_one_chunk() -> None:
    (only,) = chunk_spans(read_whole(normalize("t", "x"), 700), [], 64)
    assert (only.text, only.token_count) == ("x", 1)


@given(st.lists(st.sampled_from(["alpha", "beta.", "Gamma", "\n\n", "- ", "!"]), max_size=60), st.integers(1, 9))
def test_chunks_hold_every_token_once_and_none_is_too_long(parts: list[str], max_tokens: int) -> None:
    text = " ".join(parts)
    tokens = WordTokenizer().offsets(text)
    packed = chunks(text, max_tokens)
    assert sum(c.token_count for c in packed) == max(1, len(tokens))
    assert all(c.token_count <= max_tokens for c in packed)
    assert [t for c in packed for t in tokens if c.start <= t[0] and t[1] <= c.end] == tokens
