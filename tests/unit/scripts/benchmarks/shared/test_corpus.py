from statistics import quantiles

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from scripts.benchmarks.shared.corpus import Corpus, strings_of

WORDS = " ".join(f"word{number}" for number in range(5_000))


@pytest.fixture
def tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))  # noqa: S106 - a token, not a password
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def test_lengths_follow_the_mix(tokenizer: Tokenizer) -> None:
    lengths = [len(text.split()) for text in Corpus(WORDS, tokenizer, seed=1).texts(1_000)]
    percentiles = quantiles(lengths, n=100)
    assert percentiles[9] == pytest.approx(14, abs=1)
    assert percentiles[49] == pytest.approx(32, abs=1)
    assert percentiles[98] == pytest.approx(161, rel=0.1)


def test_no_text_comes_twice_even_from_a_short_source(tokenizer: Tokenizer) -> None:
    texts = Corpus(" ".join(WORDS.split()[:300]), tokenizer, seed=1).texts(2_000)
    assert len(set(texts)) == len(texts)


def test_strings_are_collected_from_anywhere_in_a_document() -> None:
    assert strings_of({"a": ["x", {"b": "y"}], "c": 3, "d": None}) == ["x", "y"]
