"""Pairs of hypotheses and premises: which are asked, and which one decides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ModelOutputError
from pipeline.evaluate.comparison import Comparison, exact_pair_count, unique_pairs
from pipeline.model_answers import Embeddings, PairScores
from pipeline.reading.passage import TextSpan


def passages(*texts: str) -> tuple[TextSpan, ...]:
    return tuple(TextSpan("t", index, index + 1, text, text) for index, text in enumerate(texts))


PREMISES = passages("p0", "p1", "p0")
H0, H1 = passages("h0", "h1")


def test_pairs_come_once_in_the_order_of_asking() -> None:
    comparisons = [Comparison.exact([H0, H1], PREMISES), Comparison.exact([H0], passages("p1", "p2")), Comparison()]
    pairs = unique_pairs(comparisons)
    assert pairs == [("p0", "h0"), ("p1", "h0"), ("p0", "h1"), ("p1", "h1"), ("p2", "h0")]
    assert exact_pair_count(comparisons) == len(pairs)


def test_pruned_comparisons_ask_less_and_count_the_same() -> None:
    pruned = [Comparison((H0, H1), PREMISES, ([1], [0]))]
    assert unique_pairs(pruned) == [("p1", "h0"), ("p0", "h1")]
    assert exact_pair_count(pruned) == 4


def test_the_best_premise_is_the_first_of_the_highest() -> None:
    scores = PairScores([("p0", "h0"), ("p1", "h0")], np.array([[0.7, 0.2, 0.1], [0.7, 0.1, 0.2]], dtype=np.float32))
    (best,) = Comparison.exact([H0], PREMISES).best(scores, 0.5)
    assert (best.premise, best.premise_index, best.hit) == (PREMISES[0], 0, True)
    assert [best.entailment, best.contradiction] == pytest.approx([0.7, 0.1])


def test_the_index_counts_all_premises_and_not_the_chosen_ones() -> None:
    scores = PairScores([("p1", "h0")], np.array([[0.7, 0.2, 0.1]], dtype=np.float32))
    assert Comparison((H0,), PREMISES, ([1],)).best(scores, 0.5)[0].premise_index == 1


def test_the_threshold_is_inclusive() -> None:
    scores = PairScores([("p0", "h0")], np.array([[0.5, 0.5, 0.0]], dtype=np.float32))
    comparison = Comparison.exact([H0], PREMISES[:1])
    assert [comparison.best(scores, threshold)[0].hit for threshold in (0.5, 0.51)] == [True, False]


def test_a_hypothesis_without_premises_is_no_hit() -> None:
    (best,) = Comparison.exact([H0], ()).best(PairScores([], np.empty((0, 3), dtype=np.float32)), 0.5)
    assert (best.premise, best.entailment, best.hit) == (None, 0.0, False)


@pytest.mark.parametrize(
    "probabilities",
    [np.zeros((1, 3)), np.zeros((2, 2)), np.zeros(6), np.array([[np.nan, 0, 0], [0, 0, 1]])],
    ids=["too few", "two columns", "flat", "not a number"],
)
def test_an_unusable_answer_is_refused(probabilities: np.ndarray) -> None:
    with pytest.raises(ModelOutputError):
        PairScores([("p0", "h0"), ("p1", "h0")], probabilities.astype(np.float32))


QUESTION = Comparison.exact([H0], passages("p0", "p1", "p2", "p3"))


def embeddings(*cosines: float) -> Embeddings:
    """Places the premises at these cosines to the hypothesis."""
    vectors = [(1.0, 0.0)] + [(cosine, (1 - cosine**2) ** 0.5) for cosine in cosines]
    return Embeddings(QUESTION.texts, np.array(vectors, dtype=np.float32))


def test_the_closest_premises_are_chosen_and_stay_in_order() -> None:
    pruned = QUESTION.pruned(embeddings(0.1, 0.9, 0.2, 0.8), 2)
    assert pruned.chosen == ((1, 3),)
    assert pruned.premises is QUESTION.premises


def test_of_equally_close_premises_the_first_are_chosen() -> None:
    assert QUESTION.pruned(embeddings(0.5, 0.5, 0.5, 0.5), 3).chosen == ((0, 1, 2),)


def test_few_premises_are_all_scored() -> None:
    assert QUESTION.pruned(embeddings(0.1, 0.2, 0.3, 0.4), 4) is QUESTION


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4), st.integers(1, 3))
def test_more_premises_never_lose_one_that_was_chosen(cosines: list[float], top_k: int) -> None:
    (fewer,), (more,) = (QUESTION.pruned(embeddings(*cosines), count).chosen for count in (top_k, top_k + 1))
    assert len(fewer) == top_k
    assert set(fewer) <= set(more)
