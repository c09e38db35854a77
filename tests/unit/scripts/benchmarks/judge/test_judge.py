"""Baselines, samples, and whether Judge-Lock's upper scale can be reached, with models that go by words."""

from dataclasses import replace

import pytest

from scripts.benchmarks.judge.baselines import bigram_share, rouge2, summac_zs
from scripts.benchmarks.judge.data import HumanRow, first_of_each, sample_documents, sample_rows, sentences_of
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner
from scripts.benchmarks.judge.upper_scale import corrupted, measure_upper_scale
from tests.fakes_pipeline import ScriptedEntailment, fake_models


def row(document: str, summary: str) -> HumanRow:
    return HumanRow(document, f"The {document} river rose.", summary, (), "system", {"consistency": 1.0})


def test_rouge2_by_hand() -> None:
    # Bigrams: "the cat", "cat sat" and "the cat", "cat ran", "ran off": one shared, 2 * 1 / (2 + 3).
    assert rouge2("The cat sat.", ["the cat ran off"]) == pytest.approx(0.4)
    assert rouge2("The cat sat.", ["a dog", "The cat, sat"]) == 1
    assert rouge2("The cat sat.", []) == 0


def test_the_share_of_copied_bigrams_by_hand() -> None:
    # "the cat", "cat sat", "sat down": the source has the first and the last.
    assert bigram_share("The cat, he sat down.", "The cat sat down.") == pytest.approx(2 / 3)
    assert bigram_share("The cat.", "Cat") == 0


async def test_summac_takes_the_best_premise_for_each_sentence() -> None:
    source, summary = (
        "The river rose quickly. The mayor resigned on Monday.",
        "The river rose fast. The mayor left office.",
    )
    model = ScriptedEntailment({("The river rose quickly.", "The river rose fast."): 0.9}, default=0.2)
    # First sentence: .9 less the greatest contradiction, of the other premise, (1 - .2) / 4; second: .2 - .2.
    assert await summac_zs(source, summary, model) == pytest.approx(((0.9 - 0.2) + (0.2 - 0.2)) / 2)
    assert await summac_zs(source, "Too short", model) == 0


def test_samples_are_fixed_and_keep_the_order() -> None:
    rows = [row(f"document {index // 3}", f"summary {index}") for index in range(30)]
    assert sample_rows(rows, 5) == sample_rows(rows, 5)
    assert [rows.index(one) for one in sample_rows(rows, 5)] == sorted(rows.index(one) for one in sample_rows(rows, 5))
    documents = sample_documents(rows, 2)
    assert len(documents) == 6
    assert len(first_of_each(documents, 2)) == 4


SENTENCES = (
    "The Aire rose by 14 metres on Monday after three days of heavy rain.",
    "The mayor of Leeds closed both bridges and opened the old town hall for the night.",
    "Engineers from Hull repaired the broken pump of the waterworks within six hours.",
    "Farmers near Selby lost about 300 sheep when their meadows were flooded.",
    "The insurance companies expect claims of 40 million pounds from the whole county.",
    "A school in Ripon will stay closed until its cellar has been pumped out.",
)


def article(place: str) -> HumanRow:
    source = " ".join(SENTENCES).replace("Aire", place)
    return HumanRow(place, source, "", (source,), "system", {})


def test_corrupted_summaries_say_one_thing_that_their_source_does_not_say() -> None:
    wholes = [replace(article(place), summary=" ".join(SENTENCES[1:])) for place in ("Aire", "Ouse", "Nidd", "Wharfe")]
    spoiled = corrupted(wholes)
    assert spoiled == corrupted(wholes)
    assert len(spoiled) >= 3  # a sentence of another article may stand in this one too
    for one in spoiled:
        strange = [text for text in sentences_of(one.summary) if text not in one.source]
        assert len(strange) == 1, one.summary


async def test_complete_summaries_are_above_seven_and_spoiled_ones_less_often() -> None:
    results = Results()
    await measure_upper_scale(JudgeRunner(fake_models()), [article("Aire"), article("Ouse")], 2, results)
    assert results.figures["judge_lock_above_7_references"] == 1  # the whole source
    spoiled = results.figures["judge_lock_above_7_spoiled"]
    assert isinstance(spoiled, float)
    assert spoiled < 1
    assert {"judge_lock_above_7_quarter", "judge_lock_above_7_half"} <= set(results.figures)
    nothing = Results()
    await measure_upper_scale(JudgeRunner(fake_models()), [replace(article("Aire"), references=())], 2, nothing)
    assert nothing == Results()
