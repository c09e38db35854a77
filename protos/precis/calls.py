"""One function for each unary call: arguments in, what goes over the wire and how its answer is read out.

`Client` and `AsyncClient` send these; nothing here waits for anything.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message

from precis.errors import invalid_argument, item_error
from precis.evaluation import Evaluation, to_evaluation
from precis.judgement import Judgement, to_judgement
from precis.v1 import common_pb2, evaluate_pb2, inference_pb2, judge_pb2, summarize_pb2
from precis.wire_messages import wire_message
from precis.words import Enum, Framework, Priority, ServingStatus, View, word_of

T = TypeVar("T")
R = TypeVar("R", bound=Message)
R_co = TypeVar("R_co", bound=Message, covariant=True)

EVALUATE = evaluate_pb2.DESCRIPTOR.services_by_name["EvaluateService"]
INFERENCE = inference_pb2.DESCRIPTOR.services_by_name["InferenceService"]
JUDGE = judge_pb2.DESCRIPTOR.services_by_name["JudgeService"]
SUMMARIZE = summarize_pb2.DESCRIPTOR.services_by_name["SummarizeService"]

Budget = summarize_pb2.SummaryBudget | None
"""What a summary may take of the language model; None: as it was, or no bound."""

SERVER = "server"  # the server as a whole, in `health`
SERVICES = tuple(service.full_name for service in (EVALUATE, JUDGE, SUMMARIZE, INFERENCE))

_STATUSES: tuple[ServingStatus, ...] = ("UNKNOWN", "SERVING", "NOT_SERVING", "UNKNOWN")
"""grpc.health.v1.HealthCheckResponse.ServingStatus, by number."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call, ready to be sent.

    Attributes:
        path: of the RPC.
        request: its message.
        parse: turns the bytes of the response into the result. Raises PrecisError.
    """

    path: str
    request: Message
    parse: Callable[[bytes], T]


class ResponseType(Protocol[R_co]):
    """The class of a message."""

    def FromString(self, data: bytes, /) -> R_co:  # noqa: N802 - protobuf's
        """Parses a message."""


def judge(request: judge_pb2.JudgeRequest) -> Call[Judgement]:
    """Judges one summary."""
    return _call(JUDGE, "Judge", request, judge_pb2.JudgeResponse, to_judgement)


def judge_request(
    source: str,
    summary: str,
    *,
    frameworks: Iterable[Framework],
    view: View | None,
    priority: Priority | None,
    options: judge_pb2.JudgeOptions | None,
    tool_scores: Iterable[judge_pb2.MetricToolScore] = (),
) -> judge_pb2.JudgeRequest:
    """Builds the request for one source and summary. Raises InvalidArgument for a word that is not in the contract."""
    return judge_pb2.JudgeRequest(
        source=source,
        summary=summary,
        frameworks=_framework_numbers(frameworks),
        options=options,
        tool_scores=tool_scores,
        priority=_priority_number(priority),
        view=_view_number(view),
    )


def evaluate(request: evaluate_pb2.EvaluateRequest) -> Call[Evaluation]:
    """Evaluates one summary."""
    return _call(EVALUATE, "Evaluate", request, evaluate_pb2.EvaluateResponse, to_evaluation)


def evaluate_request(
    datum: evaluate_pb2.GoldStandardDatum | None,
    generated: str | evaluate_pb2.GeneratedSummary | None,
    *,
    view: View | None,
    priority: Priority | None,
    options: evaluate_pb2.EvaluateOptions | None,
) -> evaluate_pb2.EvaluateRequest:
    """Builds the request for one summary. Raises InvalidArgument for a word that is not in the contract."""
    return evaluate_pb2.EvaluateRequest(
        datum=datum,
        generated=evaluate_pb2.GeneratedSummary(text=generated) if isinstance(generated, str) else generated,
        options=options,
        priority=_priority_number(priority),
        view=_view_number(view),
    )


def embed(texts: Iterable[str], *, priority: Priority | None) -> Call[list[inference_pb2.Embedding]]:
    """Embeds texts."""

    def results(response: inference_pb2.EmbedResponse) -> list[inference_pb2.Embedding]:
        for index, result in enumerate(response.results):
            if result.HasField("error"):
                raise item_error(result.error, f"texts[{index}]")
        return [result.embedding for result in response.results]

    request = inference_pb2.EmbedRequest(texts=texts, priority=_priority_number(priority))
    return _call(INFERENCE, "Embed", request, inference_pb2.EmbedResponse, results)


def entail(
    pairs: Iterable[tuple[str, str]], *, priority: Priority | None
) -> Call[list[inference_pb2.EntailmentScores]]:
    """Scores pairs of premise and hypothesis."""

    def results(response: inference_pb2.EntailResponse) -> list[inference_pb2.EntailmentScores]:
        for index, result in enumerate(response.results):
            if result.HasField("error"):
                raise item_error(result.error, f"pairs[{index}]")
        return [result.scores for result in response.results]

    request = inference_pb2.EntailRequest(
        pairs=[inference_pb2.TextPair(premise=premise, hypothesis=hypothesis) for premise, hypothesis in pairs],
        priority=_priority_number(priority),
    )
    return _call(INFERENCE, "Entail", request, inference_pb2.EntailResponse, results)


def models() -> Call[list[inference_pb2.Model]]:
    """Lists the loaded models."""
    request = inference_pb2.ListModelsRequest()
    return _call(INFERENCE, "ListModels", request, inference_pb2.ListModelsResponse, lambda found: list(found.models))


def plan_summary(
    document: summarize_pb2.Document, options: summarize_pb2.SummarizeOptions | None
) -> Call[summarize_pb2.SummaryPlan]:
    """Counts the calls of a summary."""
    request = summarize_pb2.PlanSummaryRequest(document=document, options=options)
    return _call(SUMMARIZE, "PlanSummary", request, summarize_pb2.PlanSummaryResponse, lambda response: response.plan)


def get_summary(summary_id: str, *, include_document: bool = False) -> Call[summarize_pb2.GetSummaryResponse]:
    """Asks where a summary stands."""
    request = summarize_pb2.GetSummaryRequest(summary_id=summary_id, include_document=include_document)
    return _call(SUMMARIZE, "GetSummary", request, summarize_pb2.GetSummaryResponse, lambda response: response)


def cancel_summary(summary_id: str) -> Call[None]:
    """Stops a summary."""
    request = summarize_pb2.CancelSummaryRequest(summary_id=summary_id)
    return _call(SUMMARIZE, "CancelSummary", request, summarize_pb2.CancelSummaryResponse, lambda _: None)


def submit_summary(
    request: summarize_pb2.SummarizeRequest, priority: Priority | None
) -> Call[summarize_pb2.SubmitSummaryResponse]:
    """Queues a summary. Raises InvalidArgument for a word that is not in the contract."""
    submitted = summarize_pb2.SubmitSummaryRequest(request=request, priority=_priority_number(priority))
    return _call(SUMMARIZE, "SubmitSummary", submitted, summarize_pb2.SubmitSummaryResponse, lambda response: response)


def list_summaries(page_size: int, page_token: str) -> Call[summarize_pb2.ListSummariesResponse]:
    """Asks for a page of summaries."""
    request = summarize_pb2.ListSummariesRequest(page_size=page_size, page_token=page_token)
    return _call(SUMMARIZE, "ListSummaries", request, summarize_pb2.ListSummariesResponse, lambda response: response)


def delete_summary(summary_id: str) -> Call[None]:
    """Deletes a summary."""
    request = summarize_pb2.DeleteSummaryRequest(summary_id=summary_id)
    return _call(SUMMARIZE, "DeleteSummary", request, summarize_pb2.DeleteSummaryResponse, lambda _: None)


def health_check(service: str) -> Call[ServingStatus]:
    """Asks for the status of one service; `SERVER` is all of it."""
    request = wire_message("HealthCheckRequest")(service="" if service == SERVER else service)

    def status(data: bytes) -> ServingStatus:
        number = wire_message("HealthCheckResponse").FromString(data).status
        return _STATUSES[number] if number < len(_STATUSES) else "UNKNOWN"

    return Call("/grpc.health.v1.Health/Check", request, status)


def rpc_path(service: ServiceDescriptor, name: str) -> str:
    """Returns the path of an RPC."""
    return f"/{service.full_name}/{name}"


def _call(
    service: ServiceDescriptor, name: str, request: Message, response: ResponseType[R], to_result: Callable[[R], T]
) -> Call[T]:
    return Call(rpc_path(service, name), request, lambda data: to_result(response.FromString(data)))


def _framework_numbers(words: Iterable[Framework]) -> list[judge_pb2.JudgeFramework.ValueType]:
    """Returns the frameworks as the contract numbers them."""
    return [number_of(judge_pb2.JudgeFramework, word, "frameworks") for word in words]


def _view_number(word: View | None) -> common_pb2.ResultView.ValueType:
    """Returns a view as the contract numbers it; None is the server's default."""
    return common_pb2.RESULT_VIEW_UNSPECIFIED if word is None else number_of(common_pb2.ResultView, word, "view")


def _priority_number(word: Priority | None) -> common_pb2.Priority.ValueType:
    """Returns a priority as the contract numbers it; None is the RPC's default."""
    return common_pb2.PRIORITY_UNSPECIFIED if word is None else number_of(common_pb2.Priority, word, "priority")


def number_of(enum: Enum, word: str, field: str) -> Any:  # noqa: ANN401 - the number is of the enum's own type
    """Returns the number for a word of an enum. Raises InvalidArgument for one that it does not have."""
    names = {word_of(enum, enum.Value(name)): name for name in enum.keys()[1:]}
    if word not in names:
        raise invalid_argument(field, f"expected {', '.join(names)}, got {word!r}")
    return enum.Value(names[word])
