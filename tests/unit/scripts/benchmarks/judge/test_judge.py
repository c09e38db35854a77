import pytest

from scripts.benchmarks.judge.adversarial import INJECTIONS, Attack, make_edits
from scripts.benchmarks.judge.baselines import rouge2, summac_zs
from scripts.benchmarks.judge.data import HumanRow, first_of_each, sample_documents, sample_rows
from tests.fakes_pipeline import ScriptedEntailment


def row(document: str, summary: str = "It rained.", consistency: float = 1.0) -> HumanRow:
    source = f"The {document} river rose by 14 metres on Monday. The mayor of Leeds was not there. It rained for days."
    return HumanRow(document, source, summary, (), "system", {"consistency": consistency})


def test_rouge2_by_hand() -> None:
    # Bigrams: "the cat", "cat sat" and "the cat", "cat ran", "ran off": one shared, 2 * 1 / (2 + 3).
    assert rouge2("The cat sat.", ["the cat ran off"]) == pytest.approx(0.4)
    assert rouge2("The cat sat.", ["a dog", "The cat, sat"]) == 1
    assert rouge2("The cat sat.", []) == 0


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


def test_edits_are_of_faithful_summaries_alone_and_of_all_kinds() -> None:
    summary = "The river rose by 14 metres on Monday. The mayor of Leeds was there."
    rows = [row("Aire", summary), row("Ouse", summary), row("Nidd", "The Nidd fell.", consistency=0.5)]
    edits = make_edits(rows, 12)
    assert {edit.attack for edit in edits} == set(Attack)
    assert {edit.original for edit in edits} == {summary}
    assert all(edit.edited != edit.original for edit in edits)
    assert all(edit.edited.endswith(INJECTIONS) for edit in edits if edit.attack is Attack.INJECTION)
    assert edits == make_edits(rows, 12)
