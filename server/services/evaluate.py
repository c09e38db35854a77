"""EvaluateService: one summary at a time, or as many as a client can send.

A request becomes domain types; what a caller gets wrong becomes an InvalidInputError with the field's path. An
evaluation becomes a response: as much of it as the request's view holds.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from precis.v1 import evaluate_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceServicer

from pipeline.errors import InvalidInputError, parse
from pipeline.evaluate import result as results
from pipeline.evaluate.config import EvaluateConfig, EvaluateWeights, PrecisionSource
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum, GoldStandardEntry, GoldStandardSummary
from pipeline.evaluate.evaluator import Evaluator
from pipeline.protocols import ModelIdentity
from server.config import ServicesConfig
from server.observe.service_metrics import EvaluateMetrics
from server.rpc.admission import Context
from server.rpc.fields import EnumCodec, ResultView, parse_view, set_fields
from server.rpc.models import CallScope, EngineModels, call_terms
from server.services.bulk import Bulk
from server.services.reply import Exceptions, reply
from server.settings import Settings


class EvaluateServicer(EvaluateServiceServicer):
    """Computes the five-factor loss.

    Args:
        settings: `evaluate`, limits of a request, and `services`.
        cpu: threads for splitting and matching long texts; owned by the app.
        stopping: set when the server drains: streams finish what they have read and end.
    """

    def __init__(
        self,
        models: EngineModels,
        settings: Settings,
        metrics: EvaluateMetrics,
        *,
        cpu: Executor,
        stopping: asyncio.Event,
    ) -> None:
        self._defaults = EvaluateConfig(limits=settings.evaluate)
        self._metrics = metrics
        self._cpu = cpu
        self._bulk = Bulk(pb.EvaluateStreamResponse, settings.services, stopping)
        self._models = models

    async def Evaluate(self, request: pb.EvaluateRequest, context: Context) -> pb.EvaluateResponse:
        """Evaluates one summary. A full queue is refused at once."""
        with call_terms(request.priority, context, "evaluate") as terms:
            return await self._evaluate(request, terms)

    def EvaluateStream(
        self, request_iterator: AsyncIterator[pb.EvaluateStreamRequest], context: Context
    ) -> AsyncGenerator[pb.EvaluateStreamResponse, None]:
        """Evaluates items as they come, and answers in the order of completion."""
        return self._bulk.answers(request_iterator, context, self._evaluate)

    async def _evaluate(self, request: pb.EvaluateRequest, terms: CallScope) -> pb.EvaluateResponse:
        models = self._models.bound(terms)
        parsed = parse_evaluate(request, self._defaults)
        long_texts = (parsed.datum.entry.text, parsed.datum.summary.summary, parsed.generated.text)
        # A short text is done before a thread would have begun.
        executor = self._cpu if sum(map(len, long_texts)) > ServicesConfig.inline_chars else None
        evaluation = await Evaluator(parsed.config, executor=executor).evaluate(parsed.datum, parsed.generated, models)
        self._metrics.observe(evaluation)
        response = EVALUATE_REPLIES[parsed.view](evaluation)
        response.nli.truncated_pair_count = terms.usage.truncated_pair_count
        return response


PRECISION_SOURCES = EnumCodec(PrecisionSource, pb.PrecisionSource.DESCRIPTOR)


@dataclass(frozen=True, slots=True)
class EvaluateInput:
    """One checked request: what to evaluate, how, and how much of it to answer."""

    datum: GoldStandardDatum
    generated: GeneratedSummary
    config: EvaluateConfig
    view: ResultView


def parse_evaluate(request: pb.EvaluateRequest, defaults: EvaluateConfig) -> EvaluateInput:
    """Checks a request and fills in the server's defaults.

    Raises:
        InvalidInputError: the first field that breaks its rule. Sizes of texts are left to the evaluator.
    """
    config, view = defaults.with_overrides(parse_overrides(request.options)), parse_view(request.view)
    for name in ("datum", "generated"):
        if not request.HasField(name):
            raise InvalidInputError(name, "a value", "nothing")
    datum = parse(GoldStandardDatum, datum_fields(request.datum), "datum")
    generated = GeneratedSummary(
        text=request.generated.text,
        finish_reason=request.generated.finish_reason,
        structured_output=request.generated.structured_output_requested,
    )
    return EvaluateInput(datum, generated, config, view)


def datum_fields(datum: pb.GoldStandardDatum) -> dict[str, Any]:
    """Turns a datum into plain data. A message that is not set is left out, so that it is reported as missing."""
    fields: dict[str, Any] = {}
    if datum.HasField("entry"):
        fields["entry"] = {name: getattr(datum.entry, name) for name in GoldStandardEntry.model_fields}
    if datum.HasField("summary"):
        written = {name: getattr(datum.summary, name) for name in GoldStandardSummary.model_fields}
        fields["summary"] = {name: one if isinstance(one, str) else tuple(one) for name, one in written.items()}
    return fields


def parse_overrides(options: pb.EvaluateOptions) -> dict[str, Any]:
    """Lists the options that the caller set, as fields of EvaluateConfig. Raises InvalidInputError."""
    overrides = set_fields(options)
    if "weights" in overrides:
        overrides["weights"] = {field: getattr(options.weights, field) for field in EvaluateWeights.model_fields}
    if (source := overrides.get("precision_source")) is not None:
        overrides["precision_source"] = PRECISION_SOURCES.parse(source, "options.precision_source")
    return overrides


def _models(evaluation: results.Evaluation) -> tuple[ModelIdentity, ...]:
    return evaluation.models.entailment, evaluation.models.embedder


def _missed_facts(facts: results.FactsResult) -> tuple[results.EntailmentEvidence, ...]:
    return tuple(fact for fact in facts.facts if not fact.hit)


def _unsupported_sentences(facts: results.FactsResult) -> tuple[results.EntailmentEvidence, ...]:
    return tuple(sentence for sentence in facts.sentences if not sentence.hit)


def _missing_entities(entities: results.EntitiesResult) -> tuple[results.EntityEvidence, ...]:
    return tuple(entity for entity in entities.entities if not entity.is_valid)


def _uncovered_points(flow: results.FlowResult) -> tuple[results.OutlinePoint, ...]:
    return tuple(point for point in flow.points if not point.evidence.hit)


_COMPONENTS: Mapping[str, tuple[type, type[Message]]] = {
    "facts": (results.FactsResult, pb.FactsComponent),
    "entities": (results.EntitiesResult, pb.EntitiesComponent),
    "flow": (results.FlowResult, pb.FlowComponent),
    "semantic": (results.SemanticResult, pb.SemanticComponent),
    "length": (results.LengthResult, pb.LengthComponent),
}
_FULL: Exceptions = {
    "EvaluateResponse.models": _models,
    "EvaluateResponse.nli": lambda evaluation: pb.NliUsage(scored_pair_count=evaluation.pair_count),
    "EvaluateResponse.applied_options": "config",
    "EvaluateResponse.rules": "config.rules",
    "FactsComponent.fact_count": lambda result: len(result.facts),
    "FactsComponent.hit_fact_count": lambda result: sum(fact.hit for fact in result.facts),
    "FactsComponent.sentence_count": lambda result: len(result.sentences),
    "FactsComponent.supported_sentence_count": lambda result: sum(sentence.hit for sentence in result.sentences),
    "EntitiesComponent.entity_count": lambda result: len(result.entities),
    "FlowComponent.point_count": lambda result: len(result.points),
    "FlowComponent.inversion_count": lambda result: len(result.inversions),
    "FlowComponent.coverage_weight": lambda _: results.COVERAGE_WEIGHT,
    "FlowComponent.order_weight": lambda _: results.ORDER_WEIGHT,
    **{f"EvaluateResponse.{name}": None for name in _COMPONENTS},  # with their scores, in _view
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
        "FactsComponent.facts": _missed_facts,
        "FactsComponent.sentences": _unsupported_sentences,
        "EntitiesComponent.entities": _missing_entities,
        "FlowComponent.points": _uncovered_points,
    },
    ResultView.SCORES: _SCORES,
}
_to_score = reply(results.ComponentScore, pb.ComponentScore)


def _view(exceptions: Exceptions) -> Callable[[results.Evaluation], pb.EvaluateResponse]:
    """Compiles what gives an evaluation. A component that does not apply has its score's `applicable` false alone."""
    outline = reply(results.Evaluation, pb.EvaluateResponse, exceptions)
    compiled: dict[str, Callable[[Any], Message]] = {
        name: reply(domain, message, exceptions) for name, (domain, message) in _COMPONENTS.items()
    }

    def to_response(evaluation: results.Evaluation) -> pb.EvaluateResponse:
        response = outline(evaluation)
        for score in evaluation.scores:
            component = getattr(response, score.name)
            if (result := getattr(evaluation.components, score.name)) is not None:
                component.CopyFrom(compiled[score.name](result))
            component.score.CopyFrom(_to_score(score))
        return response

    return to_response


EVALUATE_REPLIES = {view: _view(exceptions) for view, exceptions in _EXCEPTIONS.items()}
