"""An evaluation as a response."""

from collections.abc import Mapping

from precis.v1 import evaluate_pb2 as pb

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.flow import COVERAGE_WEIGHT, ORDER_WEIGHT
from pipeline.evaluate.result import (
    ChunkSpan,
    Components,
    ComponentScore,
    EntailmentEvidence,
    EntitiesResult,
    EntityEvidence,
    EntityStatus,
    EvaluateTimings,
    Evaluation,
    FactsResult,
    FlowResult,
    HardFail,
    HardFailRule,
    LengthResult,
    OutlinePoint,
    SemanticResult,
)
from server.rpc.fields import to_model_identity, to_span
from server.rpc.status import to_duration
from server.services.evaluate_request import NLI_MODES, PRECISION_SOURCES

HARD_FAIL_RULES = {
    HardFailRule.META_COMMENTARY: pb.HARD_FAIL_RULE_META_COMMENTARY,
    HardFailRule.INVALID_JSON: pb.HARD_FAIL_RULE_INVALID_JSON,
    HardFailRule.TRUNCATION: pb.HARD_FAIL_RULE_TRUNCATION,
}
ENTITY_STATUSES = {
    EntityStatus.VALID: pb.ENTITY_STATUS_VALID,
    EntityStatus.VALID_WITHOUT_CONTEXT: pb.ENTITY_STATUS_VALID_WITHOUT_CONTEXT,
    EntityStatus.NOT_FOUND: pb.ENTITY_STATUS_NOT_FOUND,
    EntityStatus.CONTEXT_MISMATCH: pb.ENTITY_STATUS_CONTEXT_MISMATCH,
}


def to_response(evaluation: Evaluation) -> pb.EvaluateResponse:
    """Gives the response of one evaluation, with everything it was computed from."""
    models = evaluation.models
    response = pb.EvaluateResponse(
        loss=evaluation.loss,
        models=[to_model_identity(models.entailment), to_model_identity(models.embedder)],
        timings=to_timings(evaluation.timings),
        applied_options=to_options(evaluation.config),
        nli=pb.NliUsage(
            mode=NLI_MODES[evaluation.config.nli_mode],
            scored_pair_count=evaluation.nli.scored_pair_count,
            exact_pair_count=evaluation.nli.exact_pair_count,
        ),
    )
    if evaluation.hard_fail is not None:
        response.hard_fail.CopyFrom(to_hard_fail(evaluation.hard_fail))
    if evaluation.components is not None:
        add_components(response, evaluation.components, {score.name: score for score in evaluation.scores})
    return response


def add_components(response: pb.EvaluateResponse, components: Components, scores: Mapping[str, ComponentScore]) -> None:
    """Sets the five components. One that does not apply has its score's `applicable` false and no evidence."""
    response.facts.CopyFrom(to_facts(components.facts) if components.facts else pb.FactsComponent())
    response.entities.CopyFrom(to_entities(components.entities) if components.entities else pb.EntitiesComponent())
    response.flow.CopyFrom(to_flow(components.flow) if components.flow else pb.FlowComponent())
    response.semantic.CopyFrom(to_semantic(components.semantic))
    response.length.CopyFrom(to_length(components.length))
    for component, name in (
        (response.facts, "facts"),
        (response.entities, "entities"),
        (response.flow, "flow"),
        (response.semantic, "semantic"),
        (response.length, "length"),
    ):
        component.score.CopyFrom(to_component_score(scores[name]))


def to_component_score(score: ComponentScore) -> pb.ComponentScore:
    """Gives a component's part in the loss."""
    return pb.ComponentScore(
        score=score.score, weight=score.weight, contribution=score.contribution, applicable=score.applicable
    )


def to_facts(facts: FactsResult) -> pb.FactsComponent:
    """Gives the facts component without its score message."""
    return pb.FactsComponent(
        recall=facts.recall,
        precision=facts.precision,
        hit_fact_count=sum(evidence.hit for evidence in facts.facts),
        fact_count=len(facts.facts),
        supported_sentence_count=sum(evidence.hit for evidence in facts.sentences),
        sentence_count=len(facts.sentences),
        soft_recall=facts.soft_recall,
        soft_precision=facts.soft_precision,
        soft_score=facts.soft_score,
        facts=map(to_evidence, facts.facts),
        sentences=map(to_evidence, facts.sentences),
    )


def to_entities(entities: EntitiesResult) -> pb.EntitiesComponent:
    """Gives the entities component without its score message."""
    return pb.EntitiesComponent(
        valid_count=entities.valid_count,
        entity_count=len(entities.entities),
        entities=map(to_entity, entities.entities),
    )


def to_entity(evidence: EntityEvidence) -> pb.EntityEvidence:
    """Gives how one entity was looked for."""
    return pb.EntityEvidence(
        entity=to_span(evidence.entity),
        status=ENTITY_STATUSES[evidence.status],
        match=to_span(evidence.match),
        fuzzy_ratio=evidence.fuzzy_ratio,
        mention=to_span(evidence.mention),
        context_cosine=evidence.context_cosine,
    )


def to_flow(flow: FlowResult) -> pb.FlowComponent:
    """Gives the flow component without its score message."""
    return pb.FlowComponent(
        coverage=flow.coverage,
        order=flow.order,
        covered_count=flow.covered_count,
        point_count=len(flow.points),
        inversion_count=len(flow.inversions),
        coverage_weight=COVERAGE_WEIGHT,
        order_weight=ORDER_WEIGHT,
        points=map(to_outline_point, flow.points),
        inversions=(pb.OutlineInversion(earlier_point=i, later_point=j) for i, j in flow.inversions),
    )


def to_outline_point(point: OutlinePoint) -> pb.OutlinePointEvidence:
    """Gives where one outline point is covered."""
    return pb.OutlinePointEvidence(evidence=to_evidence(point.evidence), sentence_index=point.sentence_index)


def to_semantic(semantic: SemanticResult) -> pb.SemanticComponent:
    """Gives the semantic component without its score message."""
    return pb.SemanticComponent(
        cosine=semantic.cosine,
        generated_chunks=map(to_chunk, semantic.generated_chunks),
        gold_chunks=map(to_chunk, semantic.gold_chunks),
    )


def to_chunk(chunk: ChunkSpan) -> pb.EmbeddedChunk:
    """Gives one embedded chunk."""
    return pb.EmbeddedChunk(start=chunk.start, end=chunk.end, token_count=chunk.token_count)


def to_length(length: LengthResult) -> pb.LengthComponent:
    """Gives the length component without its score message."""
    return pb.LengthComponent(
        deviation=length.deviation,
        generated_tokens=length.generated_tokens,
        input_tokens=length.input_tokens,
        declared_input_tokens=length.declared_input_tokens,
        schedule_tokens=length.schedule_tokens,
        target_tokens=length.target_tokens,
        target_lowered_to_input=length.target_lowered_to_input,
        tokenizer=length.tokenizer,
    )


def to_evidence(evidence: EntailmentEvidence) -> pb.EntailmentEvidence:
    """Gives the best pair of one hypothesis."""
    return pb.EntailmentEvidence(
        hypothesis=to_span(evidence.hypothesis),
        premise=to_span(evidence.premise),
        entailment=evidence.entailment,
        contradiction=evidence.contradiction,
        hit=evidence.hit,
    )


def to_hard_fail(hard_fail: HardFail) -> pb.HardFail:
    """Gives the rule that fired."""
    return pb.HardFail(
        rule=HARD_FAIL_RULES[hard_fail.rule], reason=hard_fail.reason, evidence=to_span(hard_fail.evidence)
    )


def to_options(config: EvaluateConfig) -> pb.EvaluateOptions:
    """Gives the settings as applied, every field set."""
    fields = config.model_dump(exclude={"limits", "weights", "nli_mode", "precision_source"})
    return pb.EvaluateOptions(
        **fields,
        weights=pb.EvaluateWeights(**config.weights.model_dump()),
        nli_mode=NLI_MODES[config.nli_mode],
        precision_source=PRECISION_SOURCES[config.precision_source],
    )


def to_timings(timings: EvaluateTimings) -> pb.EvaluateTimings:
    """Gives the time of each phase."""
    return pb.EvaluateTimings(
        total=to_duration(timings.total_ms / 1000),
        heuristics=to_duration(timings.heuristics_ms / 1000),
        embedding=to_duration(timings.embedding_ms / 1000),
        nli=to_duration(timings.nli_ms / 1000),
        aggregation=to_duration(timings.aggregation_ms / 1000),
    )
