from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.reading.rules import without
from pipeline.summarize.extractive.excerpt import TEXT_KINDS, Excerpt, read_excerpts
from pipeline.summarize.extractive.selection import Budget, Float64, Material, score_sentences, select
from tests.fakes_pipeline import bag_of_words
from tests.unit.pipeline.summarize.extractive.manual import MANUAL, count_tokens


def material_of(
    text: str, *, dropped: frozenset[int] = frozenset(), is_acted_on: bool = False, centrality: Float64 | None = None
) -> Material:
    excerpts = read_excerpts([text], count_tokens)
    sentences = [at for at, excerpt in enumerate(excerpts) if excerpt.kind in TEXT_KINDS and at not in dropped]
    vectors = np.stack([bag_of_words(excerpts[position].text) for position in sentences]).astype(np.float64)
    if centrality is None:
        centrality = score_sentences(excerpts, sentences, vectors, starts_document=True)
    return Material(excerpts, sentences, vectors, dropped, centrality=centrality, has_acts_first=is_acted_on)


def choose(
    text: str, budget: Budget, *, dropped: frozenset[int] = frozenset(), is_acted_on: bool = False
) -> tuple[Sequence[Excerpt], list[int]]:
    material = material_of(text, dropped=dropped, is_acted_on=is_acted_on)
    return material.excerpts, select(material, budget)


def kept(text: str, *centrality: float, room: int = 1) -> list[str]:
    """Returns the first words of the sentences that are chosen where so many of the longest ones fit."""
    material = material_of(text, centrality=np.array(centrality))
    limit = room * max(excerpt.token_count for excerpt in material.excerpts)
    return [material.excerpts[position].text.split()[0] for position in select(material, Budget(limit, limit))]


def texts(excerpts: Sequence[Excerpt], chosen: list[int]) -> str:
    return "\n".join(excerpts[position].text for position in chosen)


@pytest.mark.parametrize("limit", [0, 10, 30, 60, 100, 150, 200, 10_000])
def test_a_budget_is_never_exceeded_and_nothing_dangles(limit: int) -> None:
    excerpts, chosen = choose(MANUAL, Budget(limit, limit))
    assert sum(excerpts[position].token_count for position in chosen) <= limit
    assert chosen == sorted(chosen)
    for position in chosen:
        assert set(excerpts[position].needs) <= set(chosen)


def test_values_warnings_steps_and_commands_come_before_the_rest() -> None:
    excerpts, chosen = choose(MANUAL, Budget(0, 10_000))
    kept = texts(excerpts, chosen)
    for value in ("16 A at 400 V", "95 °C", "V-17", "5.5 bar", "4.2.1", "pumpctl", "XK-4411-B", "Never open", "FAT32"):
        assert value in kept
    for chatter in ("friendly blue", "Visitors", "easy to learn", "weekdays"):
        assert chatter not in kept


TWICE = (
    "Big red pumps move cold water through long pipes of chemical plants every day. "
    "Big red pumps move cold water through long pipes of chemical plants every night. "
    "Filters keep sand away from red pumps, since sand would damage their seals."
)


def test_a_sentence_is_unlike_all_that_were_taken_before() -> None:
    assert kept(TWICE, 1.0, 0.95, 0.9, room=2) == ["Big", "Filters"]
    with without(["difference"]):
        assert kept(TWICE, 1.0, 0.95, 0.9, room=2) == ["Big", "Big"]


def test_of_two_sentences_about_as_central_the_one_with_a_new_value_fills_the_space() -> None:
    text = "Makers are proud of the sound of this pump. Speed is held at 1450 rpm by a drive."
    assert kept(text, 0.3, 0.2) == ["Speed"]
    assert kept(text, 0.9, 0.2) == ["Makers"]
    with without(["value-bonus"]):
        assert kept(text, 0.3, 0.2) == ["Makers"]


def test_what_was_dropped_as_a_duplicate_is_not_chosen() -> None:
    _, chosen = choose(MANUAL, Budget(10_000, 10_000), dropped=frozenset({1}))
    assert 1 not in chosen
    assert len(chosen) > 20


def test_operators_get_steps_before_figures() -> None:
    text = (
        "The motor draws 16 A, 400 V, 7.5 kW and 50 Hz at 1450 rpm.\n\n"
        "1. Open the big valve of the pump completely.\n2. Press the green button of the panel."
    )
    budget = Budget(0, 40)
    assert "16 A" in texts(*choose(text, budget))
    assert "Open the big valve" in texts(*choose(text, budget, is_acted_on=True))


def test_a_text_of_nothing_but_a_list_is_not_left_out() -> None:
    text = "\n".join(f"- 60-22{number}, gasket of stainless steel for pump {number}." for number in range(10, 22))
    every = sum(excerpt.token_count for excerpt in read_excerpts([text], count_tokens))
    excerpts, chosen = choose(text, Budget(every, every))
    assert len(chosen) == len(excerpts)
