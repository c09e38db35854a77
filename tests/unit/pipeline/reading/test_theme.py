"""The theme of a source: its most central sentence, or as much of its beginning as fits."""

from collections.abc import Callable

import pytest

from pipeline.reading.document import ReadText
from pipeline.reading.salience import find_theme
from tests.fakes_pipeline import WordTokenizer


class NoTokens(WordTokenizer):
    def offsets(self, text: str) -> list[tuple[int, int]]:
        return []


@pytest.mark.parametrize("tokenizer", [NoTokens, WordTokenizer])
@pytest.mark.parametrize("char", ["\u200b", "\ufeff", "\u00ad", "\u202e", "\ue000", "\x00", "\x1b", " "])
def test_a_source_of_characters_that_are_nobodys_token_has_a_theme(
    char: str, tokenizer: Callable[[], WordTokenizer]
) -> None:
    theme, index = find_theme(ReadText.of("source", char * 3_000, 700), (), tokenizer(), 20)
    assert index is None
    assert 0 <= theme.start <= theme.end <= 3_000


def test_a_beginning_without_a_sentence_is_cut_at_a_word() -> None:
    theme, _ = find_theme(ReadText.of("source", "pump " * 3_000, 700), (), WordTokenizer(), 20)
    assert theme.text.split() == ["pump"] * 20
