import numpy as np

from pipeline.summarize.duplicates import find_entailed, find_repeats
from pipeline.summarize.extractive.excerpt import read_excerpts
from pipeline.summarize.extractive.selection import Material
from tests.fakes_pipeline import FixedEmbedder, ScriptedEntailment
from tests.unit.pipeline.summarize.extractive.manual import count_tokens

MAX_PAIRS = 8
FIRST = "The pump can move cold water out of the basin."
SECOND = "Cold water is moved by the pump out of the basin."
OTHER = "Operators should clean the filters every single week."
VECTORS = {FIRST: (1.0, 0.0), SECOND: (0.9, 0.436), OTHER: (0.0, 1.0)}
CLOSE = (1.0, 0.0)


async def material(*texts: str, vectors: dict[str, tuple[float, float]] | None = None) -> Material:
    excerpts = read_excerpts(texts, count_tokens)
    embedded = await FixedEmbedder(vectors or VECTORS).embed([excerpt.text for excerpt in excerpts])
    return Material(excerpts, range(len(excerpts)), embedded.astype(np.float64), frozenset())


async def find(
    *texts: str, script: dict[tuple[str, str], float] | None = None, default: float = 0.0, keeps_needed: bool = True
) -> tuple[dict[int, int], ScriptedEntailment]:
    said = [excerpt.text for excerpt in read_excerpts(texts, count_tokens)]
    made = await material(*texts, vectors={**dict.fromkeys(said, CLOSE), **VECTORS})
    entailment = ScriptedEntailment(script, default)
    chosen = frozenset(range(len(made.excerpts)))
    return await find_entailed(made, chosen, entailment, max_pairs=MAX_PAIRS, keeps_needed=keeps_needed), entailment


async def test_the_later_of_two_sentences_that_entail_each_other_is_dropped_and_else_the_one_that_says_less() -> None:
    found, entailment = await find(FIRST, OTHER, SECOND, script={(FIRST, SECOND): 0.9, (SECOND, FIRST): 0.9})
    assert found == {2: 0}
    assert entailment.calls == [[(FIRST, SECOND), (SECOND, FIRST)]]
    assert (await find(FIRST, SECOND, script={(FIRST, SECOND): 0.9}))[0] == {1: 0}
    assert (await find(FIRST, SECOND, script={(SECOND, FIRST): 0.9}))[0] == {0: 1}
    assert (await find(FIRST, SECOND, script={(SECOND, FIRST): 0.5}))[0] == {}


async def test_sentences_that_are_not_close_or_not_chosen_are_never_asked_about() -> None:
    _, entailment = await find(FIRST, OTHER, default=1.0)
    assert entailment.calls == []
    entailment = ScriptedEntailment(default=1.0)
    chosen = frozenset({0})
    made = await material(FIRST, SECOND)
    assert await find_entailed(made, chosen, entailment, max_pairs=MAX_PAIRS, keeps_needed=False) == {}
    assert entailment.calls == []


async def test_a_sentence_with_a_value_of_its_own_is_kept_and_the_poorer_one_dropped() -> None:
    richer = "Cold water is moved by the pump out of the basin at 5.5 bar."
    assert (await find(FIRST, richer, default=1.0))[0] == {0: 1}


async def test_two_sentences_with_different_values_or_names_are_both_kept() -> None:
    left, right = "The pump moves cold water at 5.5 bar.", "The pump moves cold water at 6.5 bar."
    found, entailment = await find(left, right, default=1.0)
    assert (found, entailment.calls) == ({}, [])
    left, right = "HashGrowA waits until the others are done.", "HashGrowB waits until the others are done."
    assert (await find(left, right, default=1.0))[0] == {}


async def test_a_sentence_that_points_back_is_not_compared() -> None:
    left, right = "This makes the water move out of the basin.", "This moves the water out of the basin."
    assert (await find(left, FIRST, right, default=1.0, keeps_needed=False))[0] == {}


async def test_a_sentence_that_another_needs_is_kept_where_that_one_stays() -> None:
    follower = "It does so all day and all night long."
    texts = (FIRST, f"{SECOND} {follower}")
    assert (await find(*texts, script={(FIRST, SECOND): 0.9}))[0] == {}
    assert (await find(*texts, script={(FIRST, SECOND): 0.9}, keeps_needed=False))[0] == {1: 0}


async def test_pairs_are_bounded_and_one_of_every_clique_survives() -> None:
    texts = [f"The pump can move {word} water out." for word in ("cold", "cool", "fresh", "clear", "clean", "river")]
    found, entailment = await find(*texts, default=1.0)
    assert len(entailment.calls) == 1
    assert len(entailment.calls[0]) == 2 * MAX_PAIRS
    assert found
    assert not set(found.values()) & set(found)


def repeats(text: str) -> dict[int, int]:
    return find_repeats(read_excerpts([text], count_tokens))


def test_a_sentence_is_a_repeat_wherever_it_stands_again_unless_a_letter_or_a_step_differs() -> None:
    text = "The pump moves cold water. A valve is open.\n\nHere is more.\n\nThe **pump** moves cold water."
    assert repeats(text) == {3: 0}
    assert repeats("Power is about 5 MW. Power is about 5 mW. power is about 5 MW.") == {2: 0}
    procedure = "1. Open the valve of the pump.\n2. See above.\n\n$ pumpctl start now please\n\n"
    assert repeats(f"{procedure}See below.\n\nThen again:\n\n{procedure}See below.") == {}


def test_list_items_repeat_under_the_same_heading_only() -> None:
    item = "- the seal of the pump\n\nThere is more to say.\n\n"
    assert list(repeats(f"# A\n\n{item}# B\n\n- the seal of the pump")) == []
    assert list(repeats(f"# A\n\n{item}- the seal of the pump")) == [3]
