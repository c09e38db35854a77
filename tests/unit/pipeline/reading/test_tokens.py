from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.windows import token_offsets
from tests.fakes_pipeline import WordTokenizer


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
