"""Which sentences have which words, and how close they are."""

from math import log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.document import ReadText
from pipeline.reading.index import Closeness, WordIndex
from pipeline.reading.word_table import WordTable


def index_of(text: str) -> WordIndex:
    return WordIndex(ReadText.of("source", text, 700))


def stems(text: str) -> list[str]:
    table = WordTable.of(text)
    return table.content_stems(range(len(table)))


CATS = index_of("The cats were sleeping all night. The cats were eating all day. The dogs were barking.")


def test_a_stem_weighs_more_the_fewer_sentences_have_it() -> None:
    assert (CATS.rarity("cat"), CATS.rarity("dog"), CATS.rarity("eleph")) == (log1p(3 / 2), log1p(3), log1p(3))
    assert [CATS.sentence_count(stem) for stem in ("cat", "dog", "eleph")] == [2, 1, 0]
    assert [CATS.has(sentence, "cat") for sentence in (-1, 0, 1, 2, 3)] == [False, True, True, False, False]


def test_each_sentence_has_the_summed_weight_of_its_stems() -> None:
    weights = {"cat": 2.0, "day": 3.0, "eleph": 5.0}
    assert CATS.weighted(weights).tolist() == [2, 5, 0]
    assert CATS.shares(weights).tolist() == [0.2, 0.5, 0]


def test_without_weight_there_is_no_share() -> None:
    assert CATS.shares({}).tolist() == [0, 0, 0]
    assert CATS.weighted({}).tolist() == [0, 0, 0]
    assert index_of("...").shares({"cat": 1.0}).tolist() == []


@given(st.dictionaries(st.sampled_from(["cat", "dog", "day", "night", "eleph"]), st.floats(0.5, 4)))
def test_a_share_is_of_all_weight(weights: dict[str, float]) -> None:
    shares = CATS.shares(weights)
    assert ((shares >= 0) & (shares <= 1 + 1e-12)).all()
    assert shares * sum(weights.values()) == pytest.approx(CATS.weighted(weights))


def test_sentences_that_were_not_embedded_are_close_to_nothing() -> None:
    closeness = Closeness(np.array([[1.0, 0.0], [0.6, 0.8]]), (0, 2), 3)
    assert closeness.cosines(np.array([0.6, 0.8])) == pytest.approx([0.6, 0, 1])


def test_the_share_of_salient_words_counts_by_sentences() -> None:
    # Stems by sentences: cat 2, and one each for sleep, night, eat, day, dog, bark: 8 in all.
    assert CATS.salient_share(stems("A cat was seen; it barks.")) == 3 / 8
    assert CATS.salient_share(stems("Nothing of it.")) == 0
    assert CATS.salient_share(stems("Dogs bark by day, cats eat, and sleep at night.")) == 1
