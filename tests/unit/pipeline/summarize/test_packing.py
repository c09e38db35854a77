"""No text is skipped, and no prompt is over its budget."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pipeline.summarize.document import SourceChunk
from pipeline.summarize.packing import Packer, fit_context, head_by_tokens, split_by_tokens, tail_by_tokens
from pipeline.summarize.plan import ChunkBatch, join_parts, split_chunks

TEXTS = st.text(alphabet="ab .\n!?1é", max_size=400)


def batches_of(chunks: list[SourceChunk], batch_size: int, budget: int, overhead: int = 0) -> list[ChunkBatch]:
    parts = list(split_chunks(chunks, max(1, budget - overhead), count))
    packer = Packer([part.token_count + overhead for part in parts], batch_size, budget)
    return [join_parts(parts[cut.start : cut.stop]) for cut in packer.cuts()]


def count(text: str) -> int:
    """Words and marks, one token each: not additive at the seams, like real tokenizers."""
    return len(re.findall(r"\w+|[^\w\s]", text))


@given(TEXTS, st.integers(1, 40))
def test_parts_are_the_text_and_fit(text: str, max_tokens: int) -> None:
    parts = split_by_tokens(text, max_tokens, count)
    assert "".join(parts) == text
    assert all(count(part) <= max_tokens for part in parts)


def test_a_text_is_cut_where_a_paragraph_or_sentence_ends_and_a_long_number_anywhere() -> None:
    text = "One two three.\n\nFour five six. Seven eight nine."
    assert split_by_tokens(text, 6, count) == ["One two three.\n\n", "Four five six. ", "Seven eight nine."]
    parts = split_by_tokens("7" * 250, 100, len)
    assert "".join(parts) == "7" * 250
    assert len(parts) == 3


def test_a_chinese_text_is_cut_where_a_sentence_ends_and_never_inside_a_number() -> None:
    text = "水泵的额定压力为0.26兆帕。请勿空转！阀门在12,500转时关闭。密封件在三十秒内损坏，维修需要两天。"
    for size in range(8, 40):
        parts = split_by_tokens(text, size, len)
        assert "".join(parts) == text
        assert not any(before[-1] in "0.2" and after[0] in ".26" for before, after in pairwise(parts))
        assert all(re.findall(r"\d[\d.,]*\d", part) == [n for n in ("0.26", "12,500") if n in part] for part in parts)
    assert split_by_tokens(text, 23, len)[0] == "水泵的额定压力为0.26兆帕。请勿空转！"


def test_a_chunk_of_two_million_characters_is_split_in_time_linear_in_its_length() -> None:
    seen = 0

    def counting(text: str) -> int:
        nonlocal seen
        seen += len(text)
        return (len(text) + 3) // 4

    text = "word " * 400_000
    parts = split_by_tokens(text, 4_000, counting)
    assert "".join(parts) == text
    assert seen < 6 * len(text)


@given(st.lists(TEXTS, max_size=30), st.integers(1, 9), st.integers(4, 60), st.integers(0, 3))
def test_batches_hold_every_chunk_in_order_within_the_budget(
    texts: list[str], batch_size: int, budget: int, overhead: int
) -> None:
    chunks = [SourceChunk(index, 0, text) for index, text in enumerate(texts)]
    batches = batches_of(chunks, batch_size, budget, overhead)
    packed = [chunk for batch in batches for chunk in batch.chunks]
    for index, text in enumerate(texts):
        kept = "".join(chunk.text for chunk in packed if chunk.chunk_index == index)
        assert "".join(kept.split()) == "".join(text.split())  # parts of white space alone are no text
    assert [chunk.chunk_index for chunk in packed] == sorted(chunk.chunk_index for chunk in packed)
    for batch in batches:
        assert 1 <= len(batch.chunks) <= batch_size
        assert batch.token_count == sum(count(chunk.text) for chunk in batch.chunks)
        assert len(batch.chunks) == 1 or batch.token_count + len(batch.chunks) * overhead <= budget


def test_a_batch_takes_fewer_chunks_when_they_are_long() -> None:
    chunks = [SourceChunk(index, 0, "word " * 40) for index in range(6)]
    batches = batches_of(chunks, 7, 100)
    assert [len(batch.chunks) for batch in batches] == [2, 2, 2]


def test_context_is_filled_from_the_newest_in_order_and_of_what_does_not_fit_the_end_is_kept() -> None:
    texts = ["oldest one.", "middle two.", "newest three."]
    assert fit_context(texts, 100, count) == tuple(texts)
    assert fit_context(texts, 6, count) == ("middle two.", "newest three.")
    longer = ["This is the first of all sentences here. Then comes a second.", "newest three."]
    assert fit_context(longer, 10, count) == ("Then comes a second.", "newest three.")
    assert fit_context(texts, 0, count) == ()


@given(TEXTS, st.integers(0, 40))
def test_heads_and_tails_are_ends_of_the_text_that_fit(text: str, max_tokens: int) -> None:
    head, tail = head_by_tokens(text, max_tokens, count), tail_by_tokens(text, max_tokens, count)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert max(count(head), count(tail)) <= max_tokens
