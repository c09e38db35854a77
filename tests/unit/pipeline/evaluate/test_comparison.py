"""Statements beside a text: which passages are asked, and which one decides."""

import numpy as np
import pytest

from pipeline.errors import ModelOutputError
from pipeline.evaluate.evaluator import compare, read_statement
from pipeline.model_answers import PairScores
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import PremiseFinder

TEXT = "The bridge closed in May. The mayor of Harlow resigned over the bridge."
STATEMENT = TextSpan("t", 0, 1, "The mayor resigned.", "The mayor resigned.")


def test_a_statement_is_compared_with_at_most_two_passages_that_speak_of_it() -> None:
    finder = PremiseFinder(f"{TEXT} {'Rain fell on the hills all day long. ' * 40}")
    pairs = finder.find(STATEMENT.text).hypothesis.pairs
    assert len(pairs) == 2
    assert all("The mayor of Harlow resigned" in premise for premise, _ in pairs)


@pytest.mark.parametrize(
    ("probabilities", "is_hit"),
    [((0.9, 0.05, 0.05), True), ((0.5, 0.3, 0.2), True), ((0.1, 0.8, 0.1), False), ((0.0, 0.1, 0.9), False)],
)
def test_a_hit_is_what_the_text_supports(probabilities: tuple[float, ...], is_hit: bool) -> None:  # noqa: FBT001
    (asked,) = compare([STATEMENT], PremiseFinder(TEXT))
    scores = PairScores(asked[1].hypothesis.pairs, np.array([probabilities], dtype=np.float32))
    best = read_statement(*asked, scores, 0.5)
    assert best.premise is not None
    assert (best.premise.quote, best.sentence_index) == (TEXT, 1)
    assert [best.entailment, best.contradiction] == pytest.approx([probabilities[0], probabilities[2]])
    assert best.hit == is_hit == (best.probability >= 0.5)


def test_a_contradicted_statement_is_no_hit_however_low_the_threshold() -> None:
    (asked,) = compare([STATEMENT], PremiseFinder(TEXT))
    scores = PairScores(asked[1].hypothesis.pairs, np.array([(0.0, 0.1, 0.9)], dtype=np.float32))
    assert not read_statement(*asked, scores, 1e-9).hit


@pytest.mark.parametrize(
    "probabilities",
    [np.zeros((1, 3)), np.zeros((2, 2)), np.zeros(6), np.array([[np.nan, 0, 0], [0, 0, 1]])],
    ids=["too few", "two columns", "flat", "not a number"],
)
def test_an_unusable_answer_is_refused(probabilities: np.ndarray) -> None:
    with pytest.raises(ModelOutputError):
        PairScores([("p0", "h0"), ("p1", "h0")], probabilities.astype(np.float32))
