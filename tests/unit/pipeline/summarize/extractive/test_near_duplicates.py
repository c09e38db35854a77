import dataclasses

import numpy as np

from pipeline.summarize.extractive.near_duplicates import DuplicateRule, find_near_duplicates
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from tests.fakes_pipeline import FixedEmbedder, ScriptedEntailment
from tests.unit.pipeline.summarize.extractive.manual import count_tokens

RULE = DuplicateRule(min_cosine=0.85, min_entailment=0.6, max_pairs=8, across_origins_only=False)
FIRST = "The pump can move cold water out of the basin."
SECOND = "Cold water is moved by the pump out of the basin."
OTHER = "Operators should clean the filters every single week."
VECTORS = {FIRST: (1.0, 0.0), SECOND: (0.9, 0.436), OTHER: (0.0, 1.0)}
BOTH_WAYS = {(FIRST, SECOND): 0.9, (SECOND, FIRST): 0.8}


async def find(
    *texts: str,
    script: dict[tuple[str, str], float] | None = None,
    rule: DuplicateRule = RULE,
    vectors: dict[str, tuple[float, float]] | None = None,
    default: float = 0.0,
) -> tuple[dict[int, int], ScriptedEntailment]:
    excerpts = read_excerpts(texts, count_tokens)
    entailment = ScriptedEntailment(script, default)
    embedded = await FixedEmbedder(vectors or VECTORS).embed([excerpt.text for excerpt in excerpts])
    found = await find_near_duplicates(
        excerpts, range(len(excerpts)), embedded.astype(np.float64), rule=rule, entailment=entailment
    )
    return found, entailment


async def test_the_later_of_two_sentences_that_entail_each_other_is_dropped() -> None:
    found, entailment = await find(FIRST, OTHER, SECOND, script=BOTH_WAYS)
    assert found == {2: 0}
    assert entailment.calls == [[(FIRST, SECOND), (SECOND, FIRST)]]


async def test_one_way_is_not_enough() -> None:
    found, _ = await find(FIRST, SECOND, script={(FIRST, SECOND): 0.9, (SECOND, FIRST): 0.5})
    assert found == {}


async def test_sentences_that_are_not_close_are_never_asked_about() -> None:
    _, entailment = await find(FIRST, OTHER, default=1.0)
    assert entailment.calls == []


async def test_a_sentence_with_a_value_of_its_own_is_kept_and_the_poorer_one_dropped() -> None:
    richer = "Cold water is moved by the pump out of the basin at 5.5 bar."
    vectors = {FIRST: (1.0, 0.0), richer: (1.0, 0.0)}
    assert (await find(FIRST, richer, vectors=vectors, default=1.0))[0] == {0: 1}


async def test_two_sentences_with_different_values_are_never_asked_about() -> None:
    left, right = "The pump moves cold water at 5.5 bar.", "The pump moves cold water at 6.5 bar."
    found, entailment = await find(left, right, vectors={left: (1.0, 0.0), right: (1.0, 0.0)}, default=1.0)
    assert (found, entailment.calls) == ({}, [])


async def test_names_at_the_start_of_a_sentence_count() -> None:
    left, right = "HashGrowA waits until the others are done.", "HashGrowB waits until the others are done."
    assert (await find(left, right, vectors={left: (1.0, 0.0), right: (1.0, 0.0)}, default=1.0))[0] == {}


async def test_a_sentence_that_points_back_is_not_compared() -> None:
    left, right = "This makes the water move out of the basin.", "This moves the water out of the basin."
    assert (await find(left, right, vectors={left: (1.0, 0.0), right: (1.0, 0.0)}, default=1.0))[0] == {}


async def test_a_sentence_that_another_needs_is_not_dropped() -> None:
    follower = "It does so all day and all night long."
    vectors = {**VECTORS, follower: (0.0, -1.0)}
    found, _ = await find(FIRST, f"{SECOND} {follower}", script=BOTH_WAYS, vectors=vectors)
    assert found == {}


async def test_sentences_of_one_text_were_compared_when_it_was_made() -> None:
    rule = dataclasses.replace(RULE, across_origins_only=True)
    assert (await find(f"{FIRST} {SECOND}", script=BOTH_WAYS, rule=rule))[0] == {}
    assert (await find(FIRST, SECOND, script=BOTH_WAYS, rule=rule))[0] == {1: 0}


async def test_pairs_are_bounded_and_one_of_every_clique_survives() -> None:
    texts = [f"The pump can move {word} water out." for word in ("cold", "cool", "fresh", "clear", "clean", "river")]
    vectors = dict.fromkeys(texts, (1.0, 0.0))
    found, entailment = await find(*texts, vectors=vectors, default=1.0)
    assert len(entailment.calls) == 1
    assert len(entailment.calls[0]) == 2 * RULE.max_pairs
    assert found
    assert not set(found.values()) & set(found)
