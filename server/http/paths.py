"""The paths of the HTTP listener, and the RPCs behind them."""

from dataclasses import dataclass

from google.protobuf.message import Message
from precis.v1 import evaluate_pb2, inference_pb2, judge_pb2, summarize_pb2

from server.http.exchanges import MakeExchange, OpenAiEmbeddings, OpenAiModels, TeiEmbed, TeiRerank


@dataclass(frozen=True, slots=True)
class Path:
    """A path and the RPC behind it. Without messages of the contract it has an exchange of its own."""

    path: str
    rpc: str
    request_type: type[Message] | None = None
    response_type: type[Message] | None = None
    make: MakeExchange | None = None
    is_stream: bool = False
    method: str = "POST"
    said: str = ""

    @property
    def summary(self) -> str:
        """Says in a line what it does."""
        service, _, name = self.rpc.rpartition("/")
        return self.said or f"{name} of {service}"

    @property
    def is_list(self) -> bool:
        """Whether a request is a list of texts, which has a limit of its own."""
        return self.rpc.startswith(_INFERENCE)


_INFERENCE = "precis.v1.InferenceService"

PATHS = (
    Path("/v1/judge", "precis.v1.JudgeService/Judge", judge_pb2.JudgeRequest, judge_pb2.JudgeResponse),
    Path(
        "/v1/judge/stream",
        "precis.v1.JudgeService/JudgeStream",
        judge_pb2.JudgeStreamRequest,
        judge_pb2.JudgeStreamResponse,
        is_stream=True,
    ),
    Path(
        "/v1/evaluate",
        "precis.v1.EvaluateService/Evaluate",
        evaluate_pb2.EvaluateRequest,
        evaluate_pb2.EvaluateResponse,
    ),
    Path(
        "/v1/summarize",
        "precis.v1.SummarizeService/Summarize",
        summarize_pb2.SummarizeRequest,
        summarize_pb2.SummarizeResponse,
        is_stream=True,
    ),
    Path(
        "/v1/summarize/resume",
        "precis.v1.SummarizeService/ResumeSummary",
        summarize_pb2.ResumeSummaryRequest,
        summarize_pb2.ResumeSummaryResponse,
        is_stream=True,
    ),
    Path("/v1/entail", f"{_INFERENCE}/Entail", inference_pb2.EntailRequest, inference_pb2.EntailResponse),
    Path("/v1/embeddings", f"{_INFERENCE}/Embed", make=OpenAiEmbeddings, said="Embeddings as OpenAI defines them."),
    Path(
        "/v1/models",
        f"{_INFERENCE}/ListModels",
        make=OpenAiModels,
        method="GET",
        said="Models, as OpenAI lists them.",
    ),
    Path("/embed", f"{_INFERENCE}/Embed", make=TeiEmbed, said="Embeddings as Text Embeddings Inference defines them."),
    Path("/rerank", f"{_INFERENCE}/Embed", make=TeiRerank, said="Ranks as Text Embeddings Inference defines them."),
)
