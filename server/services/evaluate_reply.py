"""An evaluation as a response: as much of it as the request's view holds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from precis.v1 import evaluate_pb2 as pb

from pipeline.evaluate.comparison import EntailmentEvidence
from pipeline.evaluate.result import (
    ComponentScore,
    EntitiesResult,
    EntityEvidence,
    Evaluation,
    FactsResult,
    FlowResult,
    LengthResult,
    OutlinePoint,
    SemanticResult,
)
from pipeline.protocols import ModelIdentity
from server.rpc.fields import ResultView
from server.services.evaluate_request import NLI_MODES
from server.services.reply import Exceptions, reply


def models(evaluation: Evaluation) -> tuple[ModelIdentity, ...]:
    """Lists the models that the numbers come from."""
    return evaluation.models.entailment, evaluation.models.embedder


def nli(evaluation: Evaluation) -> pb.NliUsage:
    """Gives how pairs were chosen and counted; those that were cut are known of the call alone."""
    return pb.NliUsage(
        mode=NLI_MODES.numbers[evaluation.config.nli_mode],
        scored_pair_count=evaluation.nli.scored_pair_count,
        exact_pair_count=evaluation.nli.exact_pair_count,
    )


def missed_facts(facts: FactsResult) -> tuple[EntailmentEvidence, ...]:
    """Lists the key facts that the summary does not entail."""
    return tuple(fact for fact in facts.facts if not fact.hit)


def unsupported_sentences(facts: FactsResult) -> tuple[EntailmentEvidence, ...]:
    """Lists the generated sentences that the gold does not entail."""
    return tuple(sentence for sentence in facts.sentences if not sentence.hit)


def missing_entities(entities: EntitiesResult) -> tuple[EntityEvidence, ...]:
    """Lists the entities without a valid match."""
    return tuple(entity for entity in entities.entities if not entity.is_valid)


def uncovered_points(flow: FlowResult) -> tuple[OutlinePoint, ...]:
    """Lists the outline points that no generated sentence entails."""
    return tuple(point for point in flow.points if point.sentence_index is None)


_COMPONENTS: Mapping[str, tuple[type, type[Message]]] = {
    "facts": (FactsResult, pb.FactsComponent),
    "entities": (EntitiesResult, pb.EntitiesComponent),
    "flow": (FlowResult, pb.FlowComponent),
    "semantic": (SemanticResult, pb.SemanticComponent),
    "length": (LengthResult, pb.LengthComponent),
}
_FULL: Exceptions = {
    "EvaluateResponse.models": models,
    "EvaluateResponse.nli": nli,
    "EvaluateResponse.applied_options": "config",
    **{f"EvaluateResponse.{name}": None for name in _COMPONENTS},  # with their scores, in EvaluateReply
    **{f"{message.DESCRIPTOR.name}.score": None for _, message in _COMPONENTS.values()},
}
_SCORES: Exceptions = {
    **_FULL,
    **dict.fromkeys(("FactsComponent.facts", "FactsComponent.sentences", "EntitiesComponent.entities")),
    **dict.fromkeys(("FlowComponent.points", "FlowComponent.inversions")),
    **dict.fromkeys(("SemanticComponent.generated_chunks", "SemanticComponent.gold_chunks")),
}
_EXCEPTIONS: dict[ResultView, Exceptions] = {
    ResultView.FULL: _FULL,
    ResultView.CLAIMS: {
        **_SCORES,
        "FactsComponent.facts": missed_facts,
        "FactsComponent.sentences": unsupported_sentences,
        "EntitiesComponent.entities": missing_entities,
        "FlowComponent.points": uncovered_points,
    },
    ResultView.SCORES: _SCORES,
}
_to_score = reply(ComponentScore, pb.ComponentScore)


@dataclass(frozen=True, slots=True)
class EvaluateReply:
    """What a response of one view is made by.

    Attributes:
        outline: gives the response without components.
        components: give the components without their scores, by name.
    """

    outline: Callable[[Evaluation], pb.EvaluateResponse]
    components: Mapping[str, Callable[[Any], Message]]

    def to_response(self, evaluation: Evaluation) -> pb.EvaluateResponse:
        """Gives an evaluation. A component that does not apply has its score's `applicable` false and nothing else."""
        response = self.outline(evaluation)
        for score in evaluation.scores:
            component = getattr(response, score.name)
            if (result := getattr(evaluation.components, score.name)) is not None:
                component.CopyFrom(self.components[score.name](result))
            component.score.CopyFrom(_to_score(score))
        return response


EVALUATE_REPLIES = {
    view: EvaluateReply(
        reply(Evaluation, pb.EvaluateResponse, exceptions),
        {name: reply(domain, message, exceptions) for name, (domain, message) in _COMPONENTS.items()},
    )
    for view, exceptions in _EXCEPTIONS.items()
}
