"""Each component, and the loss that they make together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.compression import get_target_summary_length
from pipeline.errors import ModelOutputError
from pipeline.evaluate.components import (
    COMPONENTS,
    component_scores,
    harmonic_mean,
    loss_of,
    score_facts,
    score_flow,
    score_length,
    score_semantic,
)
from pipeline.evaluate.config import EvaluateWeights
from pipeline.evaluate.result import (
    ChunkSpan,
    Components,
    EntailmentEvidence,
    EntitiesResult,
    FactsResult,
    FlowResult,
    LengthResult,
    SemanticResult,
)
from pipeline.model_answers import Embeddings
from pipeline.reading.passage import TextSpan

TEXT = TextSpan("t", 0, 1, "x", "x")


def evidence(*probabilities: float) -> list[EntailmentEvidence]:
    """Returns evidence whose entailment is half its probability."""
    return [EntailmentEvidence(TEXT, TEXT, p / 2, 0.0, p, hit=p >= 0.5, sentence_index=0) for p in probabilities]


def test_the_score_is_the_harmonic_mean_of_precision_and_recall() -> None:
    result = score_facts(evidence(0.9, 0.5, 0.1, 0.0), evidence(1.0, 0.25))
    assert [result.recall, result.precision] == pytest.approx([0.375, 0.625])
    assert result.score == pytest.approx(2 * 0.375 * 0.625 / 1.0)
    assert [result.soft_recall, result.soft_precision] == pytest.approx([0.1875, 0.3125])
    assert result.soft_score == pytest.approx(result.score / 2)


def test_no_threshold_decides_and_nothing_supported_scores_nothing() -> None:
    below, above = (score_facts(evidence(p), evidence(1.0)).score for p in (0.4999, 0.5))
    assert 0 < above - below < 0.001
    assert score_facts(evidence(0.0), evidence(0.0)).score == harmonic_mean(0, 0) == 0


PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(PROBABILITIES, PROBABILITIES, st.integers(0, 7))
def test_one_more_supported_fact_never_lowers_the_score(facts: list[float], sentences: list[float], index: int) -> None:
    better = facts.copy()
    better[index % len(facts)] = 1.0
    before, after = (score_facts(evidence(*those), evidence(*sentences)) for those in (facts, better))
    assert 0 <= before.score <= after.score + 1e-12 <= 1 + 2e-12


POINT = TextSpan("datum.summary.logical_outline[0]", 0, 1, "p", "p")
MISSED = 9


def flow(positions: list[int | None]) -> FlowResult:
    """Scores points of the probability 0.4, or 0.1 at 9, whose best sentences are at these positions; None: at none."""
    found = [(at, 0.1 if at == MISSED else 0.4) for at in positions]
    return score_flow([EntailmentEvidence(POINT, POINT, 0.9, 0, p, hit=p > 0.1, sentence_index=at) for at, p in found])


@pytest.mark.parametrize(
    ("positions", "order", "inversions"),
    [
        ([0, 1, 2], 1, ()),
        ([2, 1, 0], 0, ((0, 1), (0, 2), (1, 2))),
        ([0, 2, 1], 2 / 3, ((1, 2),)),
        ([1, 1, 1], 1, ()),  # ties are not inversions
        ([3, None, 1], 0, ((0, 2),)),
        ([None, 4, None, None], 1, ()),  # one point with a place is in order
        ([None, None], 0, ()),
        ([MISSED, 0, 1], 1 - 2 * 0.04 / (0.16 + 2 * 0.04), ()),  # a missed point counts less, and is in no list
    ],
)
def test_a_missed_point_has_its_place_and_less_weight(
    positions: list[int | None], order: float, inversions: object
) -> None:
    result = flow(positions)
    assert result.coverage == pytest.approx(0.4 - 0.3 * positions.count(MISSED) / len(positions))
    assert result.covered_count == len(positions) - positions.count(MISSED)
    assert result.order == pytest.approx(order)
    assert result.inversions == inversions
    assert result.score == pytest.approx(0.7 * result.coverage + 0.3 * order)
    assert [point.sentence_index for point in result.points] == positions


POSITIONS = st.lists(st.none() | st.integers(0, 9), min_size=1, max_size=12)


@given(POSITIONS)
def test_sorted_positions_are_the_best_order(positions: list[int | None]) -> None:
    covered = sorted(position for position in positions if position is not None)
    in_order = flow([*covered, *([None] * (len(positions) - len(covered)))])
    assert 0 <= flow(positions).score <= in_order.score + 1e-12
    assert in_order.order == (1 if covered else 0)


EMBEDDINGS = Embeddings(["x", "y", "-x"], np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32))


def chunk(text: str, tokens: int) -> ChunkSpan:
    return ChunkSpan(0, tokens, tokens, text)


def test_chunks_are_pooled_by_their_tokens() -> None:
    result = score_semantic([chunk("x", 30), chunk("y", 10)], [chunk("x", 5)], EMBEDDINGS)
    assert result.cosine == pytest.approx(3 / 10**0.5)  # (0.75, 0.25) against (1, 0)
    assert result.score == result.cosine
    assert [span.token_count for span in result.generated_chunks] == [30, 10]


def test_opposite_texts_and_vectors_that_cancel_out_score_nothing() -> None:
    result = score_semantic([chunk("-x", 1)], [chunk("x", 1)], EMBEDDINGS)
    assert (result.cosine, result.score) == (-1, 0)
    assert score_semantic([chunk("x", 1), chunk("-x", 1)], [chunk("x", 1)], EMBEDDINGS).score == 0


@pytest.mark.parametrize(
    "vectors", [np.zeros((1, 2)), np.zeros(2), np.full((2, 2), np.inf)], ids=["few", "flat", "infinite"]
)
def test_an_unusable_answer_is_refused(vectors: np.ndarray) -> None:
    with pytest.raises(ModelOutputError):
        Embeddings(["x", "y"], vectors.astype(np.float32))


def score(generated: int, source: int) -> LengthResult:
    return score_length(generated, source, declared_input_tokens=7, tokenizer_name="words")


@pytest.mark.parametrize(
    ("input_tokens", "target"),
    [
        *((0, 300), (500, 300), (2_000, 300), (2_001, 400), (4_500, 450), (9_999, 999)),
        *((10_000, 1_000), (10_001, 1_000), (15_000, 1_000)),
        *((30_000, 1_500), (40_000, 2_000), (40_001, 2_500), (100_000, 2_500)),
    ],
)
def test_the_schedule_is_that_of_the_readme(input_tokens: int, target: int) -> None:
    assert get_target_summary_length(input_tokens) == target


def test_the_score_falls_from_the_target_to_e_minus_one_times_beside_it() -> None:
    assert score(400, 4_000).score == 1
    assert score(1_087, 4_000).score > score(1_088, 4_000).score == 0


def test_a_source_shorter_than_its_target_lowers_the_target() -> None:
    result = score(100, 100)
    assert (result.schedule_tokens, result.target_tokens, result.target_lowered_to_input) == (300, 100, True)
    assert (result.score, result.input_tokens, result.declared_input_tokens) == (1, 100, 7)  # the last is not used
    assert not score(300, 300).target_lowered_to_input


@given(st.integers(0, 10_000), st.integers(0, 200_000))
def test_the_score_falls_with_distance_and_stays_in_range(generated: int, source: int) -> None:
    result = score(generated, source)
    away = generated + 1 if generated >= result.target_tokens else max(generated - 1, 0)
    assert 0 <= score(away, source).score <= result.score <= 1


WEIGHTS = EvaluateWeights()


def components(scores: dict[str, float]) -> Components:
    """Builds results with these scores; a component that is not named does not apply."""
    facts, entities, flow = (scores.get(name) for name in ("facts", "entities", "flow"))
    return Components(
        facts=None if facts is None else FactsResult(facts, 0, 0, 0, 0, 0, (), ()),
        entities=None if entities is None else EntitiesResult(entities, 0, ()),
        flow=None if flow is None else FlowResult(flow, 0, 0, 0, (), ()),
        semantic=SemanticResult(scores["semantic"], 0, (), ()),
        length=LengthResult(scores["length"], 0, 1, 1, 1, 1, 1, target_lowered_to_input=False, tokenizer="words"),
    )


def test_the_weight_of_what_does_not_apply_goes_to_the_rest_in_proportion() -> None:
    scores = component_scores(components({"facts": 0.5, "flow": 1, "semantic": 1, "length": 1}), WEIGHTS)
    by_name = {score.name: score for score in scores}
    assert not by_name["entities"].applicable
    assert (by_name["entities"].weight, by_name["entities"].score, by_name["entities"].contribution) == (0, 0, 0)
    assert by_name["facts"].weight == pytest.approx(0.4 / 0.8)
    assert by_name["length"].weight == pytest.approx(0.05 / 0.8)
    assert loss_of(scores) == pytest.approx(0.25)


SCORES = st.fixed_dictionaries(
    {"semantic": st.floats(0, 1), "length": st.floats(0, 1)},
    optional={"facts": st.floats(0, 1), "entities": st.floats(0, 1), "flow": st.floats(0, 1)},
)


@given(SCORES)
def test_perfect_is_zero_worst_is_one_and_all_else_between(scores: dict[str, float]) -> None:
    def loss(values: dict[str, float]) -> float:
        return loss_of(component_scores(components(values), WEIGHTS))

    assert loss(dict.fromkeys(scores, 1.0)) == 0
    assert loss(dict.fromkeys(scores, 0.0)) == pytest.approx(1)
    assert 0 <= loss(scores) <= 1


@given(SCORES, st.sampled_from(COMPONENTS))
def test_a_better_component_never_raises_the_loss(scores: dict[str, float], name: str) -> None:
    if name in scores:
        before = loss_of(component_scores(components(scores), WEIGHTS))
        assert loss_of(component_scores(components({**scores, name: 1.0}), WEIGHTS)) <= before + 1e-12
