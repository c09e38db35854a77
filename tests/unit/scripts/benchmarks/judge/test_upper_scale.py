"""Whether Judge-Lock's upper scale can be reached, with models that go by words."""

from dataclasses import replace

from scripts.benchmarks.judge.data import HumanRow, sentences_of
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner
from scripts.benchmarks.judge.upper_scale import corrupted, measure_upper_scale, truncated
from tests.fakes_pipeline import fake_models

SENTENCES = (
    "The Aire rose by 14 metres on Monday after three days of heavy rain.",
    "The mayor of Leeds closed both bridges and opened the old town hall for the night.",
    "Engineers from Hull repaired the broken pump of the waterworks within six hours.",
    "Farmers near Selby lost about 300 sheep when their meadows were flooded.",
    "The insurance companies expect claims of 40 million pounds from the whole county.",
    "A school in Ripon will stay closed until its cellar has been pumped out.",
)


def row(place: str) -> HumanRow:
    source = " ".join(SENTENCES).replace("Aire", place)
    return HumanRow(place, source, "", (source,), "system", {})


def test_a_truncated_summary_keeps_the_first_third_of_its_sentences() -> None:
    whole = replace(row("Aire"), summary=" ".join(SENTENCES))
    assert sentences_of(truncated(whole).summary) == list(SENTENCES[:2])
    assert truncated(replace(whole, summary=SENTENCES[3])).summary == SENTENCES[3]


def test_corrupted_summaries_say_one_thing_that_their_source_does_not_say() -> None:
    wholes = [replace(row(place), summary=" ".join(SENTENCES[1:])) for place in ("Aire", "Ouse", "Nidd", "Wharfe")]
    spoiled = corrupted(wholes)
    assert spoiled == corrupted(wholes)
    assert len(spoiled) >= 3  # a sentence of another article may stand in this one too
    for one in spoiled:
        strange = [text for text in sentences_of(one.summary) if text not in one.source]
        assert len(strange) == 1, one.summary


async def test_complete_summaries_are_above_seven_and_spoiled_ones_less_often() -> None:
    results = Results()
    await measure_upper_scale(JudgeRunner(fake_models()), [row("Aire"), row("Ouse")], 2, results)
    assert results.figures["judge_lock_above_7_references"] == 1  # the whole source
    spoiled = results.figures["judge_lock_above_7_spoiled"]
    assert isinstance(spoiled, float)
    assert spoiled < 1
    assert {"judge_lock_above_7_quarter", "judge_lock_above_7_half"} <= set(results.figures)


async def test_without_references_there_is_no_figure() -> None:
    results = Results()
    await measure_upper_scale(JudgeRunner(fake_models()), [replace(row("Aire"), references=())], 2, results)
    assert not results.figures
    assert not results.rows
