"""Fusion of tools with level probabilities, and their agreement."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import (
    LEVELS,
    UNIFORM,
    Distribution,
    FusionForm,
    Level,
    LogisticMapping,
    NothingToFuseError,
    ScoreAgreement,
    Tool,
    assess_agreement,
    bhattacharyya,
    from_classification,
    from_log_probabilities,
    from_samples,
    fuse,
    level_of,
    parse_level,
    perceptual_weights,
    relative_entropy_of,
    smooth,
    to_distribution,
    tool_opinions,
)

MOSTLY_FAIR: Distribution = (0.075, 0.075, 0.7, 0.075, 0.075)
CERTAINLY_EXCELLENT: Distribution = (0.0, 0.0, 0.0, 0.0, 1.0)
CERTAINLY_BAD: Distribution = (1.0, 0.0, 0.0, 0.0, 0.0)


def test_two_tools_and_a_model_that_mostly_says_fair() -> None:
    # By hand, q_bar = 2.7: exp(-(2.7 - c)^2) is .05558, .61263, .91393, .18452, .00504; times p, in turn .00417,
    # .04595, .63975, .01384, .00038. Their sum is .70409, the sum times the level 2.07257; 2.07257 / .70409 = 2.944.
    # The entropy is .638 of the largest; .638^8 = .027 of q_bar makes it 2.937.
    fusion = fuse([2.6, 2.8], MOSTLY_FAIR)
    assert round(fusion.score, 2) == 2.94
    assert fusion.level is Level.FAIR
    assert fusion.level.letter == "C"
    assert fusion.tool_mean == pytest.approx(2.7)


def test_tools_may_weigh_differently() -> None:
    # (3 * 2 + 1 * 4) / 4; a tool without weight says nothing.
    assert fuse([2.0, 4.0, 5.0], weights=[3.0, 1.0, 0.0]).score == 2.5
    with pytest.raises(NothingToFuseError):
        fuse([2.0], weights=[0.0])


def test_perfect_agreement_reaches_the_top() -> None:
    fusion = fuse([5.0], CERTAINLY_EXCELLENT)
    assert fusion.score == 5.0
    assert (fusion.level, fusion.level.letter) == (Level.EXCELLENT, "A")


def test_the_sum_of_the_paper_cannot_reach_the_top() -> None:
    # alpha_5 = 1 / (1 + e^-1 + e^-4 + e^-9 + e^-16) = .72135, times 5.
    fusion = fuse([5.0], CERTAINLY_EXCELLENT, form=FusionForm.PAPER_RAW)
    assert round(fusion.score, 2) == 3.61
    assert fusion.level is Level.GOOD


@pytest.mark.parametrize(
    ("tools", "probabilities", "score"),
    [
        # The sum .70409 * 2.944 = 2.07257 from above, over the 1.77170 that makes alpha sum to 1.
        ([2.6, 2.8], MOSTLY_FAIR, 1.1698),
        ([4.0], (0.1, 0.15, 0.25, 0.3, 0.2), 1.0542),
        ([5.0], (1.0, 0.0, 0.0, 0.0, 0.0), 0.0),
    ],
)
def test_the_sum_of_the_paper_is_as_printed(tools: list[float], probabilities: Distribution, score: float) -> None:
    fusion = fuse(tools, probabilities, form=FusionForm.PAPER_RAW)
    assert fusion.score == pytest.approx(score, abs=1e-4)
    assert fusion.probabilities == probabilities


@pytest.mark.parametrize("probabilities", [None, UNIFORM])
def test_a_model_that_says_nothing_leaves_the_mean_of_the_tools(probabilities: Distribution | None) -> None:
    assert fuse([4.5, 5.0], probabilities).score == pytest.approx(4.75, abs=1e-12)


def test_without_tools_the_model_alone_decides() -> None:
    fusion = fuse([], MOSTLY_FAIR)
    assert fusion.score == pytest.approx(3.0)
    assert (fusion.tool_mean, fusion.alpha, fusion.agreement) == (None, None, None)


def test_nothing_at_all_is_an_error() -> None:
    with pytest.raises(NothingToFuseError, match="gather more evidence"):
        fuse([])


def test_a_score_off_the_scale_is_taken_with_a_mapping() -> None:
    # At x = b3 the logistic part is 0 and b4 x + b5 is left: 0.02 * 50 + 2 = 3.
    mapping = LogisticMapping(b1=4.0, b2=0.1, b3=50.0, b4=0.02, b5=2.0)
    assert fuse([mapping(50.0)]).score == pytest.approx(3.0)
    # 10 above: 4 (1/2 - 1/(1 + e)) = .92423, and 0.02 * 60 + 2 = 3.2.
    assert mapping(60.0) == pytest.approx(4.12423, abs=1e-5)


@pytest.mark.parametrize(("value", "score"), [(1e308, 5.0), (-1e308, 1.0), (math.inf, 5.0), (-math.inf, 1.0)])
def test_a_mapping_clips_to_the_scale(value: float, score: float) -> None:
    assert LogisticMapping(b1=4.0, b2=3.0, b3=0.0, b4=1.0, b5=3.0)(value) == score


def test_nan_stays_nan_under_a_mapping() -> None:
    assert math.isnan(LogisticMapping(b1=4.0, b2=1.0, b3=0.0, b4=0.0, b5=3.0)(math.nan))


@pytest.mark.parametrize(
    ("score", "letter"),
    [
        *((1.0, "E"), (1.5, "E"), (1.5000001, "D"), (2.5, "D"), (2.51, "C"), (3.5, "C"), (3.51, "B")),
        *((4.5, "B"), (4.5000001, "A"), (5.0, "A"), (0.2, "E")),
    ],
)
def test_an_exact_edge_has_the_lower_level(score: float, letter: str) -> None:
    assert level_of(score).letter == letter


@pytest.mark.parametrize(("text", "level"), [("A", 5), ("b", 4), (" Fair ", 3), ("POOR", 2), ("E", 1), ("bad", 1)])
def test_levels_are_read_by_letter_and_by_name(text: str, level: int) -> None:
    assert parse_level(text) == level


@pytest.mark.parametrize("text", ["", "F", "Superb", "5", "AB"])
def test_an_unknown_level_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="expected A to E"):
        parse_level(text)


def test_weights_far_from_the_mean_do_not_vanish() -> None:
    # alpha_1 = exp(-1600) is 0 in floats. What the model leaves the tools' levels, raised to .01 / 1.04, decides.
    assert fuse([5.0], CERTAINLY_BAD, eta=100.0).score == 5.0


def test_a_certain_model_does_not_silence_the_tools() -> None:
    fusion = fuse([5.0], CERTAINLY_BAD)
    assert fusion.probabilities == pytest.approx((1 / 1.04, *[0.01 / 1.04] * 4), abs=1e-6)
    assert fusion.score == pytest.approx(4.708, abs=1e-3)
    assert fusion.agreement == pytest.approx(0.146, abs=1e-3)


@pytest.mark.parametrize("p", [MOSTLY_FAIR, smooth(CERTAINLY_BAD), from_classification(Level.BAD), UNIFORM])
def test_probabilities_that_leave_the_tools_a_word_stay_as_they_are(p: Distribution) -> None:
    assert fuse([5.0], p).probabilities == p


def test_log_probabilities_become_shares_of_the_levels_that_are_named() -> None:
    p = from_log_probabilities({Level.EXCELLENT: math.log(0.6), Level.GOOD: math.log(0.2)})
    assert p == pytest.approx((0, 0, 0, 0.25, 0.75))
    assert from_log_probabilities({Level.BAD: -2000.0, Level.POOR: -math.inf}) == CERTAINLY_BAD


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_log_probabilities_that_are_no_numbers_are_refused(value: float) -> None:
    with pytest.raises(InvalidInputError, match="log_probabilities"):
        from_log_probabilities({Level.FAIR: value})


def test_a_named_level_has_four_fifths() -> None:
    assert from_classification(Level.GOOD) == pytest.approx((0.05, 0.05, 0.05, 0.8, 0.05))


def test_samples_count_with_half_an_answer_for_each_level() -> None:
    # Five answers: (3 + .5) / 7.5, (2 + .5) / 7.5, and .5 / 7.5 for the rest.
    p = from_samples([Level.GOOD, Level.GOOD, Level.FAIR, Level.GOOD, Level.FAIR])
    assert p == pytest.approx((0.5 / 7.5, 0.5 / 7.5, 2.5 / 7.5, 3.5 / 7.5, 0.5 / 7.5))
    assert from_samples([]) == UNIFORM


def test_smoothing_leaves_no_level_impossible() -> None:
    assert smooth(CERTAINLY_EXCELLENT) == pytest.approx((0.01, 0.01, 0.01, 0.01, 0.96))


def test_agreement_and_entropy_at_their_ends() -> None:
    assert bhattacharyya(CERTAINLY_BAD, CERTAINLY_EXCELLENT) == 0
    assert bhattacharyya(MOSTLY_FAIR, MOSTLY_FAIR) == pytest.approx(1)
    assert relative_entropy_of(CERTAINLY_BAD) == 0
    assert relative_entropy_of(UNIFORM) == pytest.approx(1)


SCORES = st.lists(st.floats(1, 5), min_size=1, max_size=6)
DISTRIBUTIONS = st.lists(st.floats(0.001, 1), min_size=5, max_size=5).map(
    lambda weights: from_log_probabilities({level: math.log(w) for level, w in zip(LEVELS, weights, strict=True)})
)


@given(SCORES, DISTRIBUTIONS, st.floats(0.01, 10))
def test_the_normalized_score_stays_on_the_scale(scores: list[float], p: Distribution, eta: float) -> None:
    fusion = fuse(scores, p, eta=eta)
    assert 1 <= fusion.score <= 5
    assert fusion.alpha is not None
    assert math.fsum(fusion.alpha) == pytest.approx(1)
    assert fusion.agreement is not None
    assert 0 <= fusion.agreement <= 1


PEAKED = (
    st.tuples(*[st.floats(0, 1)] * 5)
    .filter(any)
    .map(lambda weights: to_distribution([w**6 / math.fsum(one**6 for one in weights) for w in weights]))
)
"""Distributions that leave some levels next to nothing."""


@given(SCORES, st.one_of(DISTRIBUTIONS, PEAKED), st.permutations(range(5)))
def test_an_epsilon_in_a_probability_moves_the_score_by_an_epsilon(
    scores: list[float], p: Distribution, order: list[int]
) -> None:
    giver, taker, *_ = order
    epsilon = min(1e-6, p[giver])
    moved = list(p)
    moved[giver] -= epsilon
    moved[taker] += epsilon
    before, after = (fuse(scores, to_distribution(one)).score for one in (p, moved))
    assert abs(after - before) <= 60 * epsilon + 1e-9


@given(SCORES, st.permutations([1.0, -1.0, 0.0, 0.0, 0.0]))
def test_equal_probabilities_are_the_limit_of_nearly_equal_ones(scores: list[float], towards: list[float]) -> None:
    nearly = to_distribution([0.2 + 1e-6 * step for step in towards])
    assert fuse(scores, nearly).score == pytest.approx(fuse(scores, UNIFORM).score, abs=1e-5)


@given(SCORES, DISTRIBUTIONS, st.randoms(use_true_random=False))
def test_the_order_of_the_tools_does_not_matter(scores: list[float], p: Distribution, random: object) -> None:
    shuffled = sorted(scores, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert fuse(shuffled, p).score == fuse(scores, p).score


@given(st.floats(1, 5), st.floats(1, 5), DISTRIBUTIONS)
def test_a_better_tool_never_lowers_the_score(first: float, second: float, p: Distribution) -> None:
    low, high = sorted((first, second))
    assert fuse([low], p).score <= fuse([high], p).score + 1e-9


@given(st.floats(1, 5))
def test_the_scale_turned_round_gives_the_score_turned_round(q_bar: float) -> None:
    assert perceptual_weights(6 - q_bar) == pytest.approx(perceptual_weights(q_bar)[::-1], abs=1e-9)


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
