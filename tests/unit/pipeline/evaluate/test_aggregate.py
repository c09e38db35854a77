import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.components import COMPONENTS, applied_weights, component_scores, loss_of
from pipeline.evaluate.config import EvaluateWeights
from pipeline.evaluate.result import Components, EntitiesResult, FactsResult, FlowResult, LengthResult, SemanticResult

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


def test_the_loss_is_the_weighted_sum_of_what_is_missing() -> None:
    scores = component_scores(
        components({"facts": 0.5, "entities": 1, "flow": 0, "semantic": 0.8, "length": 0.9}), WEIGHTS
    )
    assert loss_of(scores) == pytest.approx(0.4 * 0.5 + 0 + 0.2 + 0.15 * 0.2 + 0.05 * 0.1)
    assert [score.name for score in scores] == list(COMPONENTS)
    assert [score.contribution for score in scores] == pytest.approx([0.2, 0, 0.2, 0.03, 0.005])


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


@given(st.sets(st.sampled_from(COMPONENTS), min_size=1))
def test_applied_weights_sum_to_one(applicable: set[str]) -> None:
    assert sum(applied_weights(sorted(applicable), WEIGHTS).values()) == pytest.approx(1)
