import random

import numpy as np
import pytest

from scripts.benchmarks.judge.baselines import bigram_share, rouge2, summac_zs
from scripts.benchmarks.judge.data import HumanRow, first_of_each, sample_documents, sample_rows
from scripts.benchmarks.judge.statistics import auc, estimate, kendall, ranks, spearman, within_groups
from tests.fakes_pipeline import ScriptedEntailment


def array(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def row(document: str, summary: str) -> HumanRow:
    return HumanRow(document, f"The {document} river rose.", summary, (), "system", {"consistency": 1.0})


def test_equal_values_share_their_mean_rank() -> None:
    assert ranks(array(5, 1, 5, 9)).tolist() == [2.5, 1, 2.5, 4]


def test_correlations_by_hand() -> None:
    # Ranks 1 2 3 4 against 1 3 2 4: d^2 = 2, rho = 1 - 6 * 2 / (4 * 15); five of six pairs agree.
    assert spearman(array(1, 2, 3, 4), array(1, 3, 2, 4)) == pytest.approx(0.8)
    assert kendall([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(4 / 6)
    # tau-b with a tie on one side: 5 concordant of sqrt(6 * 5).
    assert kendall([1, 2, 3, 4], [1, 2, 2, 3]) == pytest.approx(5 / np.sqrt(30))
    assert spearman(array(1, 1, 1), array(1, 2, 3)) == 0
    assert kendall([1, 1, 1], [1, 2, 3]) == 0


def test_the_area_under_the_curve_is_of_rows_without_any_fault() -> None:
    # Wrong rows at 1 and 2, right ones at 2 and 3: three of four pairs in order, one a tie.
    assert auc(array(1, 2, 2, 3), array(0.5, 0, 1, 1)) == 3.5 / 4
    assert auc(array(1, 2), array(1, 1)) == 0.5


def test_groups_without_a_difference_are_left_out() -> None:
    groups, scores, human = ["a", "a", "b", "b", "c", "c"], [1, 2, 1, 2, 2, 1], [1, 2, 3, 3, 1, 2]
    assert within_groups(spearman, groups, scores, human) == pytest.approx((1 - 1) / 2)


def test_an_interval_holds_the_value_and_is_the_same_each_time() -> None:
    rng = random.Random(0)
    scores = [rng.random() for _ in range(60)]
    human = [score + rng.random() for score in scores]
    found = estimate(spearman, scores, human)
    assert found.low < found.value < found.high
    assert found == estimate(spearman, scores, human)


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
