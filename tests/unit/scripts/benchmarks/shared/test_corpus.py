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


def lengths(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def test_lengths_follow_the_mix(tokenizer: Tokenizer) -> None:
    percentiles = quantiles(lengths(Corpus(WORDS, tokenizer, seed=1).texts(1_000)), n=100)
    assert percentiles[9] == pytest.approx(14, abs=1)
    assert percentiles[49] == pytest.approx(32, abs=1)
    assert percentiles[98] == pytest.approx(161, rel=0.1)


def test_two_draws_hold_the_same_amount_of_work(tokenizer: Tokenizer) -> None:
    corpus = Corpus(WORDS, tokenizer, seed=1)
    drawn = [corpus.texts(200) for _ in range(2)]
    assert Corpus(WORDS, tokenizer, seed=1).texts(200) == drawn[0]
    first, second = (sum(lengths(texts)) for texts in drawn)
    assert first == pytest.approx(second, rel=0.03)


def test_no_text_comes_twice_even_from_a_short_source(tokenizer: Tokenizer) -> None:
    texts = Corpus(" ".join(WORDS.split()[:300]), tokenizer, seed=1).texts(2_000)
    assert len(set(texts)) == len(texts)


def test_excerpts_come_from_the_whole_source_although_the_model_reads_little(tokenizer: Tokenizer) -> None:
    tokenizer.enable_truncation(128)
    words = {word for text in Corpus(WORDS, tokenizer, seed=1).texts(500) for word in text.split()}
    assert len(words) > 4_000


def test_both_sides_of_a_pair_make_its_length(tokenizer: Tokenizer) -> None:
    pairs = Corpus(WORDS, tokenizer, seed=1).pairs(500)
    totals = lengths([f"{premise} {hypothesis}" for premise, hypothesis in pairs])
    assert quantiles(totals, n=100)[49] == pytest.approx(32, abs=1)


def test_strings_are_collected_from_anywhere_in_a_document() -> None:
    assert strings_of({"a": ["x", {"b": "y"}], "c": 3, "d": None}) == ["x", "y"]
