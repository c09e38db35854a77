import pytest

from scripts.benchmarks.judge.baselines import bigram_share, rouge2, summac_zs
from scripts.benchmarks.judge.data import HumanRow, first_of_each, sample_documents, sample_rows
from tests.fakes_pipeline import ScriptedEntailment


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
