"""The parts of the benchmark that judges in this process, with models that go by words."""

import json
from dataclasses import replace

import pytest

from pipeline.judge.result import Framework, MetricName
from scripts.benchmarks.judge.adversarial import measure_corruptions, noticed
from scripts.benchmarks.judge.attacks import make_attacks, measure_attacks, rises, scores_of
from scripts.benchmarks.judge.data import HumanRow
from scripts.benchmarks.judge.injections import INJECTIONS
from scripts.benchmarks.judge.invented import INVENTED, TRUE_SENTENCES, measure_invented
from scripts.benchmarks.judge.people import measure_consistency, measure_pairs, measure_within_documents
from scripts.benchmarks.judge.results import COLUMNS, Results
from scripts.benchmarks.judge.runner import JudgeRunner
from scripts.benchmarks.shared.report import Report
from tests.fakes_pipeline import fake_models

SUMMARY = "The river rose by 14 metres on Monday. The mayor of Leeds was there."
PLACES = ["Aire", "Ouse", "Nidd", "Wharfe", "Swale", "Ure", "Derwent", "Esk", "Tees", "Don"]


def row(place: str, summary: str = SUMMARY, consistency: float = 1.0, system: str = "system") -> HumanRow:
    source = f"The {place} river rose by 14 metres on Monday. The mayor of Leeds was not invited. It rained for days."
    return HumanRow(place, source, summary, (summary,), system, {"consistency": consistency})


def long_article(number: int) -> HumanRow:
    told = " ".join(f"In {place} number {number} there were {count} boats on the river." for count, place in COUNTED)
    return replace(row(f"{number}"), source=told)


COUNTED = list(enumerate(PLACES, start=100))


@pytest.fixture
def runner() -> JudgeRunner:
    return JudgeRunner(fake_models())


def shown(results: Results, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Prints the report, so that every row has its cells, and returns its last line."""
    Report("title", COLUMNS, results.rows, results.figures).show()
    line: dict[str, object] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return line


async def test_corruptions_are_noticed_where_hallucination_falls(runner: JudgeRunner) -> None:
    rows = [row(place) for place in PLACES]
    results = Results()
    await measure_corruptions(runner, rows, 8, results)
    assert results.figures["edits"] == 8
    good, bad = await runner.judge_all(
        [(rows[0].source, "It rained for days."), (rows[0].source, "Elephants bought a cinema.")], "two"
    )
    assert noticed(good, bad, Framework.ULTRA)
    assert not noticed(bad, good, Framework.ULTRA)


def test_there_are_ninety_injections_of_fifteen_kinds_and_each_stands_in_three_places() -> None:
    texts = [text for kind in INJECTIONS.values() for text in kind]
    assert (len(INJECTIONS), len(texts), len(set(texts))) == (15, 90, 90)
    attacks = make_attacks([row("Aire"), row("Ouse")], each=6)
    injections = [attack for attack in attacks if attack.group == "injection"]
    assert len(injections) == 270
    first = [attack.edited for attack in injections if attack.text == texts[0]]
    assert first[0].endswith(texts[0])
    assert first[1].startswith(texts[0])
    assert first[2].index("14 metres") < first[2].index(texts[0]) < first[2].index("Leeds")
    assert attacks == make_attacks([row("Aire"), row("Ouse")], each=6)


async def test_a_rise_of_a_hundredth_is_rounding(runner: JudgeRunner) -> None:
    judged = await runner.judge((row("Aire").source, SUMMARY))
    ultra = judged[Framework.ULTRA]
    coverage = ultra[MetricName.COVERAGE]
    assert coverage.score is not None
    for rise, expected in ((0.01, {}), (0.02, {"ultra.coverage": pytest.approx(0.02)})):
        better = replace(coverage, score=coverage.score + rise)
        after = replace(ultra, metrics=(better, *ultra.metrics[1:]))
        others = judged.frameworks[:-1]
        assert rises(judged, replace(judged, frameworks=(*others, after))) == expected
    assert set(scores_of(judged)) == {f"{framework}.{metric}" for framework in Framework for metric in MetricName}


async def test_attacks_that_raise_a_score_are_counted_by_group(
    runner: JudgeRunner, capsys: pytest.CaptureFixture[str]
) -> None:
    results = Results()
    await measure_attacks(runner, [row("Aire"), row("Ouse")], 1, results)
    figures = shown(results, capsys)
    assert figures["injections_tried"] == 45
    assert [figures[f"{group}_raised"] for group in ("injections", "padding", "repeats")] == [0, 0, 0]
    assert "copies_raised" in figures


async def test_invented_sentences_are_found_listed_and_all_is_read(
    runner: JudgeRunner, capsys: pytest.CaptureFixture[str]
) -> None:
    results = Results()
    await measure_invented(runner, [long_article(number) for number in range(40)], [], results)
    figures = shown(results, capsys)
    assert figures["invented_sentences"] == TRUE_SENTENCES + len(INVENTED)
    assert figures["invented_found"] == len(INVENTED)
    assert figures["invented_all_read"] is True
    assert figures["bound_is_said"] is True


async def test_agreement_with_people_stands_beside_copied_bigrams(runner: JudgeRunner) -> None:
    results = Results()
    rows = [row(place, SUMMARY if number % 2 else "Cows sing.", number % 2) for number, place in enumerate(PLACES)]
    await measure_consistency(runner, rows, results)
    correlations = results.figures["qags_cnndm"]
    assert isinstance(correlations, dict)
    assert set(correlations) == {"ultra", "judge_lock", "twin_lock", "worst_claim", "summac_zs", "rouge2", "r2p"}
    pairs = [row("Aire", "The Aire river rose.", system="correct"), row("Aire", "Cows sing.", system="incorrect")]
    await measure_pairs(runner, pairs, results)
    assert results.figures["rank19_accuracy"] == 1
    assert results.figures["rank19_pairs"] == 1
    await measure_within_documents(runner, "set", rows, {"consistency": MetricName.COVERAGE}, results)
    assert all(len(cells) == len(COLUMNS) for cells in results.rows)
    assert all(cells[-1] for cells in results.rows)
    missing = Results()
    await measure_pairs(runner, [], missing)
    await measure_within_documents(runner, "set", [], {}, missing)
    assert missing.figures == {"set": None}
