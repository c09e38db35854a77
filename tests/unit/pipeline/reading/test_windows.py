"""Windows of sentences, chunks of sentences, and the tokens in them."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.characters import normalize
from pipeline.reading.sentences import split_sentences
from pipeline.reading.windows import Chunk, sliding_windows, split_chunks, token_offsets
from tests.fakes_pipeline import WordTokenizer


def windows(text: str, sizes: tuple[int, ...]) -> list[str]:
    source = normalize("t", text)
    return [window.text for window in sliding_windows(source, split_sentences(source.text, 700), sizes)]


def test_small_windows_come_first_then_by_position() -> None:
    assert windows("A1. B2. C3.", (2, 1)) == ["A1.", "B2.", "C3.", "A1. B2.", "B2. C3."]


def test_list_marks_between_sentences_are_quoted_but_not_read() -> None:
    source = normalize("t", "- One.\n- Two.")
    window = sliding_windows(source, split_sentences(source.text, 700), (2,))[0]
    assert (window.text, window.quote, window.start, window.end) == ("One. Two.", "One.\n- Two.", 2, 13)


def test_a_text_shorter_than_every_window_is_one_window() -> None:
    assert windows("Only one.", (2, 3)) == ["Only one."]
    assert windows("", (1, 2)) == []


@given(st.integers(1, 12), st.sets(st.integers(1, 5), min_size=1))
def test_there_are_n_minus_size_plus_one_windows_of_each_size(count: int, sizes: set[int]) -> None:
    text = " ".join(f"Sentence number {index} ends." for index in range(count))
    expected = sum(max(0, count - size + 1) for size in sizes) or 1
    assert len(windows(text, tuple(sizes))) == expected


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
