import numpy as np
import pytest

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.entities import contexts, score_entities, search_entities
from pipeline.evaluate.result import EntitiesResult, EntityStatus
from pipeline.model_answers import Embeddings
from pipeline.reading.characters import normalize
from tests.fakes_pipeline import bag_of_words


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
    assert (evidence.status, evidence.mention, evidence.context_cosine) == (
        EntityStatus.VALID_WITHOUT_CONTEXT,
        None,
        None,
    )
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
