import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.fusion import ScoreAgreement, Tool, assess_agreement, fuse, tool_opinions


def agreement(*scores: float, certainty: float = 1.0, verified_share: float = 1.0) -> ScoreAgreement:
    opinions = tool_opinions([Tool(f"tool_{index}", score) for index, score in enumerate(scores)])
    return assess_agreement(fuse(scores), opinions, verified_share=verified_share, certainty=certainty)


def test_a_score_is_split_between_the_two_levels_around_it() -> None:
    assert tool_opinions([Tool("one", 4.25)]) == pytest.approx((0, 0, 0, 0.75, 0.25))
    assert tool_opinions([Tool("one", 1.0), Tool("other", 5.0)]) == (0.5, 0, 0, 0, 0.5)
    assert tool_opinions([Tool("one", 1.0, 3.0), Tool("other", 5.0)]) == (0.75, 0, 0, 0, 0.25)


def test_tools_that_are_sure_of_the_same() -> None:
    # alpha_5 = .72135 around 5, p_5 = 1: BC = sqrt(.72135), no entropy, and confidence its root.
    found = agreement(5.0, 5.0)
    assert found.coefficient == pytest.approx(math.sqrt(0.72135), abs=1e-5)
    assert found.relative_entropy == 0
    assert found.confidence == pytest.approx(0.72135**0.25, abs=1e-5)


def test_tools_that_contradict_each_other() -> None:
    # Around 3, alpha_1 = alpha_5 = e^-4 / (1 + 2 e^-1 + 2 e^-4) = .01034; BC = 2 sqrt(.5 * .01034) = .1438.
    found = agreement(1.0, 5.0)
    assert found.coefficient == pytest.approx(0.1438, abs=1e-4)
    assert found.relative_entropy == pytest.approx(math.log(2) / math.log(5))


def test_confidence_falls_with_uncertain_and_unverified_evidence() -> None:
    full = agreement(4.0).confidence
    assert agreement(4.0, certainty=0.4).confidence == pytest.approx(full * 0.4)
    assert agreement(4.0, verified_share=0.25).confidence == pytest.approx(full / 4)
    assert agreement(4.0, certainty=0).confidence == 0


@given(st.lists(st.floats(1, 5), min_size=1, max_size=5))
def test_everything_stays_in_its_range(scores: list[float]) -> None:
    found = agreement(*scores)
    assert 0 <= found.coefficient <= 1
    assert 0 <= found.relative_entropy <= 1
    assert 0 <= found.confidence <= 1
