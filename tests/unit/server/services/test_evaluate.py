"""Requests become domain types, and evaluations become responses, without losing anything."""

import dataclasses
from typing import Any

from google.protobuf.descriptor import Descriptor
from precis.v1 import evaluate_pb2 as pb

from pipeline.evaluate import result as results
from pipeline.evaluate.config import EvaluateConfig, EvaluateWeights, PrecisionSource
from pipeline.protocols import ModelIdentities
from server.rpc.fields import ResultView
from server.services.evaluate import EVALUATE_REPLIES, parse_evaluate, parse_overrides
from tests.integration.evaluate.evaluations import evaluate_request
from tests.unit.server.filled import filled

to_response = EVALUATE_REPLIES[ResultView.FULL]
HIT = filled(results.EntailmentEvidence)
MISS = dataclasses.replace(HIT, hit=False)
NAMES = ("facts", "entities", "flow", "semantic", "length")


def evaluation(**changes: Any) -> results.Evaluation:  # noqa: ANN401 - any field of Evaluation
    """Builds an evaluation whose every number is different, so that a mix-up shows."""
    elsewhere = dataclasses.replace(filled(results.EntityEvidence), status=results.EntityStatus.CONTEXT_MISMATCH)
    points = results.OutlinePoint(HIT, 0), results.OutlinePoint(MISS, None)
    whole = results.Evaluation(
        loss=0.123,
        hard_fail=None,
        scores=tuple(dataclasses.replace(filled(results.ComponentScore), name=name) for name in NAMES),
        components=results.Components(
            facts=dataclasses.replace(filled(results.FactsResult), facts=(HIT, HIT, MISS), sentences=(HIT, MISS)),
            entities=dataclasses.replace(filled(results.EntitiesResult), entities=(elsewhere,)),
            flow=dataclasses.replace(filled(results.FlowResult), points=points),
            semantic=filled(results.SemanticResult),
            length=filled(results.LengthResult),
        ),
        config=EvaluateConfig(),
        models=filled(ModelIdentities),
        pair_count=21,
        timings=filled(results.EvaluateTimings),
    )
    return dataclasses.replace(whole, **changes)


def test_a_component_that_does_not_apply_says_so() -> None:
    whole = evaluation()
    assert whole.components is not None
    scores = tuple(
        results.ComponentScore("facts", 0.0, 0.0, 0.0, applicable=False) if score.name == "facts" else score
        for score in whole.scores
    )
    response = to_response(evaluation(scores=scores, components=dataclasses.replace(whole.components, facts=None)))
    assert response.HasField("facts")
    assert not response.facts.score.applicable
    assert not response.facts.facts


def test_the_view_of_claims_holds_what_went_wrong() -> None:
    response = EVALUATE_REPLIES[ResultView.CLAIMS](evaluation())
    assert [fact.hit for fact in (*response.facts.facts, *response.facts.sentences)] == [False, False]
    assert [entity.status for entity in response.entities.entities] == [pb.ENTITY_STATUS_CONTEXT_MISMATCH]
    assert [point.HasField("sentence_index") for point in response.flow.points] == [False]
    assert not response.flow.inversions
    assert not response.semantic.generated_chunks


def test_the_view_of_scores_is_the_whole_without_lists_of_evidence() -> None:
    response, whole = EVALUATE_REPLIES[ResultView.SCORES](evaluation()), to_response(evaluation())
    parts: tuple[tuple[Any, *tuple[str, ...]], ...] = (
        *((whole.facts, "facts", "sentences"), (whole.entities, "entities")),
        *((whole.flow, "points", "inversions"), (whole.semantic, "generated_chunks", "gold_chunks")),
    )
    for component, *lists in parts:
        for name in lists:
            component.ClearField(name)
    assert response == whole


def fields_of(descriptor: Descriptor) -> set[str]:
    return {field.name for field in descriptor.fields}


def test_every_setting_but_the_limits_is_an_option_of_the_request() -> None:
    assert fields_of(pb.EvaluateOptions.DESCRIPTOR) == set(EvaluateConfig.model_fields) - {"limits"}
    assert fields_of(pb.EvaluateWeights.DESCRIPTOR) == set(EvaluateWeights.model_fields)


def test_applied_options_sent_back_mean_the_same_settings() -> None:
    config = EvaluateConfig(
        weights=EvaluateWeights(facts=0.1, entities=0.2, flow=0.3, semantic=0.4, length=0.0),
        hit_threshold=0.25,
        precision_source=PrecisionSource.SOURCE_TEXT,
        entity_max_matches=5,
        entity_context_threshold=0.0,
        lists_may_end_open=True,
    )
    applied = to_response(evaluation(config=config)).applied_options
    assert EvaluateConfig().with_overrides(parse_overrides(applied)) == config


def test_what_is_not_set_keeps_the_servers_default() -> None:
    defaults = EvaluateConfig(hit_threshold=0.7)
    assert parse_evaluate(evaluate_request(), defaults).config == defaults
    changed = parse_evaluate(evaluate_request(options__entity_max_matches=3), defaults).config
    assert changed == defaults.model_copy(update={"entity_max_matches": 3})


def test_a_threshold_of_zero_is_set_and_not_left_out() -> None:
    request = evaluate_request(options__entity_context_threshold=0.0)
    assert parse_evaluate(request, EvaluateConfig()).config.entity_context_threshold == 0


def test_texts_arrive_as_they_were_sent() -> None:
    request = evaluate_request()
    parsed = parse_evaluate(request, EvaluateConfig())
    assert parsed.datum.summary.key_facts == tuple(request.datum.summary.key_facts)
    assert parsed.datum.entry.text == request.datum.entry.text
    assert parsed.generated.finish_reason == "stop"
