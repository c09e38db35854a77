import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.comparison import EntailmentEvidence
from pipeline.evaluate.components import harmonic_mean, score_facts
from pipeline.reading.passage import TextSpan

TEXT = TextSpan("t", 0, 1, "x", "x")


def evidence(*entailments: float) -> list[EntailmentEvidence]:
    return [EntailmentEvidence(TEXT, TEXT, 0, e, 0.0, hit=e >= 0.5) for e in entailments]


def test_the_score_is_the_harmonic_mean_of_precision_and_recall() -> None:
    result = score_facts(evidence(0.9, 0.5, 0.1, 0.0), evidence(1.0, 0.25))
    assert (result.recall, result.precision) == (0.5, 0.5)
    assert result.score == pytest.approx(0.5)
    assert [result.soft_recall, result.soft_precision] == pytest.approx([0.375, 0.625])
    assert result.soft_score == pytest.approx(2 * 0.375 * 0.625 / 1.0)


def test_no_hit_at_all_scores_nothing() -> None:
    assert score_facts(evidence(0.4), evidence(0.4)).score == 0
    assert harmonic_mean(0, 0) == 0


PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(PROBABILITIES, PROBABILITIES, st.integers(0, 7))
def test_one_more_hit_never_lowers_the_score(facts: list[float], sentences: list[float], index: int) -> None:
    better = facts.copy()
    better[index % len(facts)] = 1.0
    before, after = (
        score_facts(evidence(*facts), evidence(*sentences)),
        score_facts(evidence(*better), evidence(*sentences)),
    )
    assert 0 <= before.score <= after.score <= 1
    assert 0 <= before.soft_score <= after.soft_score + 1e-12
