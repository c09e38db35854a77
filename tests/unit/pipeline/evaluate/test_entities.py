"""Names are found by their spelling, and counted by their context."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.entities import (
    FuzzyMatch,
    SearchedText,
    contexts,
    fold,
    fold_name,
    score_entities,
    search_entities,
)
from pipeline.evaluate.result import EntitiesResult, EntityStatus
from pipeline.model_answers import Embeddings
from pipeline.reading.characters import normalize
from tests.fakes_pipeline import bag_of_words


def find(name: str, text: str, threshold: float = 0.9, limit: int = 8) -> list[str]:
    searched = SearchedText(normalize("t", text))
    matches = searched.find(fold_name(name), threshold, limit)
    return [text[slice(*searched.words.span(match.first, match.last))] for match in matches]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Ada Lovelace", "ADA LOVELACE led; Ada Lovlace wrote.", ["ADA LOVELACE", "Ada Lovlace"]),
        ("George Washington", "Washington State grew.", []),
        ("Department of Health", "the Department\nof  Health's budget", ["Department\nof  Health"]),
        ("Water Authority", "The Water-Authority said", ["Water-Authority"]),  # one word less
        ("Health-Care Act", "the Health Care Act", ["Health Care Act"]),  # one word more
        ("AT&T", "(AT&T)", ["AT&T"]),
        ("Straße", "die STRAßE", ["STRAßE"]),
        ("北京大学", "他在北京大学学习。", ["北京大学"]),
        ("Zürich", "in zürich.", ["zürich"]),
        ("Alpha", "", []),
    ],
)
def test_names_are_found_whatever_their_case_spacing_and_small_typos(name: str, text: str, expected: list[str]) -> None:
    assert find(name, text) == expected


def test_the_threshold_is_exclusive() -> None:
    assert fuzz.ratio("abcdefghij", "abcdefghiX") == 90
    assert find("abcdefghij", "abcdefghiX") == []
    assert find("abcdefghij", "abcdefghiX", threshold=0.89) == ["abcdefghiX"]


def test_the_better_of_overlapping_matches_is_kept() -> None:
    assert find("International Monetary Fund", "the International Monetary Fund a", threshold=0.5) == [
        "International Monetary Fund"
    ]


def test_of_equal_matches_the_first_are_kept() -> None:
    searched = SearchedText(normalize("t", "IBM and IBM and IBM"))
    assert searched.find(fold_name("ibm"), 0.9, 2) == [FuzzyMatch(0, 1, 1.0), FuzzyMatch(2, 3, 1.0)]


def test_a_mention_late_in_a_book_is_found() -> None:
    assert find("Ada Lovelace", "word " * 30_000 + "Ada Lovelace") == ["Ada Lovelace"]


def test_reading_stops_when_there_are_enough() -> None:
    assert find("IBM", "IBM " * 100_000, limit=3) == ["IBM"] * 3


def test_the_most_similar_words_are_told_even_far_from_the_threshold() -> None:
    searched = SearchedText(normalize("t", "Washington State grew."))
    best = searched.most_similar(fold_name("George Washington"))
    assert best is not None
    assert searched.words.span(best.first, best.last) == (0, 10)
    assert best.ratio == pytest.approx(fuzz.ratio("george washington", "washington") / 100)
    assert SearchedText(normalize("t", "...")).most_similar(fold_name("x")) is None


@given(st.text(st.sampled_from("aAßİıſK\n\t ǰ"), max_size=20))
def test_folding_keeps_every_character_in_its_place(text: str) -> None:
    folded = fold(text)
    assert len(folded) == len(text)
    assert fold(folded) == folded
    assert [c.isspace() for c in folded] == [c.isspace() for c in text]


@given(
    st.lists(st.sampled_from(["ann", "lee", "anna", "le", "of", "the"]), max_size=12), st.sampled_from([0.0, 0.5, 0.8])
)
def test_everything_above_the_threshold_touches_a_match(parts: list[str], threshold: float) -> None:
    searched = SearchedText(normalize("t", " ".join(parts)))
    words, found = searched.words, searched.find(fold_name("Ann Lee"), threshold, 99)
    matched = {index for match in found for index in range(match.first, match.last)}
    for size in (1, 2, 3):
        for first in range(len(words) - size + 1):
            window = searched.source.text[slice(*words.span(first, first + size))]
            if fuzz.ratio("ann lee", window) / 100 > threshold:
                assert matched & set(range(first, first + size))


def entities(
    names: list[str], summary: str, gold: str, source: str = "", config: EvaluateConfig | None = None
) -> EntitiesResult:
    config = config or EvaluateConfig()
    searches = search_entities(
        [normalize(f"datum.summary.entity_list[{index}]", name) for index, name in enumerate(names)],
        normalize("generated.text", summary),
        [normalize("datum.summary.summary", gold), normalize("datum.entry.text", source)],
        config,
    )
    texts = list(dict.fromkeys(contexts(searches)))
    vectors = np.array([bag_of_words(text) for text in texts], dtype=np.float32).reshape(len(texts), 512)
    return score_entities(searches, Embeddings(texts, vectors), config.entity_context_threshold)


def test_a_name_in_the_same_context_is_valid() -> None:
    result = entities(
        ["George Washington"], "In war george washington led the army.", "George Washington led the army in war."
    )
    (evidence,) = result.entities
    assert (evidence.status, evidence.fuzzy_ratio, result.score) == (EntityStatus.VALID, 1.0, 1.0)
    assert evidence.context_cosine == pytest.approx(1)
    assert evidence.match is not None
    assert (evidence.match.quote, evidence.match.start) == ("george washington", 7)
    assert evidence.mention is not None
    assert evidence.mention.text_id == "datum.summary.summary"


def test_george_washington_is_not_washington_state() -> None:
    (evidence,) = entities(["George Washington"], "Washington State taxes apples.", "George Washington led.").entities
    assert evidence.status is EntityStatus.NOT_FOUND
    assert evidence.match is not None  # the nearest words, for whoever wonders
    assert evidence.fuzzy_ratio < 0.9


def test_washington_the_president_is_not_washington_the_state() -> None:
    summary = "Farmers near Washington grow apples, pears, cherries and hops."
    result = entities(["Washington"], summary, "General Washington led the continental army through winter.")
    (evidence,) = result.entities
    assert (evidence.status, result.valid_count, result.score) == (EntityStatus.CONTEXT_MISMATCH, 0, 0)
    assert evidence.context_cosine is not None
    assert evidence.context_cosine < 0.5
    assert evidence.mention is not None


def test_one_valid_match_among_several_is_enough() -> None:
    summary = "Farmers near Washington grow apples, pears, cherries, plums, nuts, beans, oats, rye, corn and hops. " * 2
    summary += "General Washington led the continental army through winter."
    config = EvaluateConfig(entity_context_tokens=4)
    result = entities(
        ["Washington"], summary, "General Washington led the continental army through winter.", config=config
    )
    assert result.entities[0].status is EntityStatus.VALID
    assert result.entities[0].match is not None
    assert result.entities[0].match.start > 200


def test_a_mention_in_the_source_alone_counts() -> None:
    (evidence,) = entities(["Ada"], "Ada wrote programs.", "Nobody.", "Then Ada wrote programs.").entities
    assert evidence.status is EntityStatus.VALID
    assert evidence.mention is not None
    assert evidence.mention.text_id == "datum.entry.text"


def test_without_any_mention_the_spelling_decides() -> None:
    (evidence,) = entities(["Ada"], "Ada wrote programs.", "Nobody did.", "No one.").entities
    assert evidence.status is EntityStatus.VALID_WITHOUT_CONTEXT
    assert (evidence.mention, evidence.context_cosine) == (None, None)
    assert evidence.is_valid


def test_the_score_is_the_share_of_valid_entities() -> None:
    result = entities(["Ada", "Bob", "Eve", "C++"], "Ada met Eve. They wrote C++.", "Ada met Eve. They wrote C++.")
    assert [e.status for e in result.entities].count(EntityStatus.NOT_FOUND) == 1
    assert (result.valid_count, result.score) == (3, 0.75)


def test_a_summary_without_words_has_no_nearest_words() -> None:
    (evidence,) = entities(["Ada"], "+", "Ada.").entities
    assert evidence.fuzzy_ratio == 0


def test_a_context_is_the_words_around_and_the_name_itself() -> None:
    config = EvaluateConfig(entity_context_tokens=2)
    searches = search_entities(
        [normalize("e", "Ada")], normalize("g", "one two three\nAda, four five six"), [normalize("s", "Ada")], config
    )
    assert contexts(searches) == ["two three Ada, four five", "Ada"]


def test_the_number_of_contexts_is_bounded() -> None:
    config = EvaluateConfig(entity_max_matches=2, entity_max_mentions=3, entity_context_tokens=1)
    text = " ".join(f"w{index} IBM" for index in range(50))
    searches = search_entities(
        [normalize("e", "IBM")], normalize("g", text), [normalize("s", "IBM"), normalize("t", text)], config
    )
    assert len(searches[0].matches) == 2
    assert [m.passage.text_id for m in searches[0].mentions] == ["s", "t", "t"]


def test_an_entity_of_punctuation_is_searched_as_it_stands() -> None:
    assert entities(["..."], "Ada wrote.", "Ada.").entities[0].status is EntityStatus.NOT_FOUND
