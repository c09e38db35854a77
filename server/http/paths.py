"""The paths of the HTTP listener, the RPCs behind them, and how a body becomes a request and a response a body.

The paths of Precis have the messages of the contract as JSON. `/v1/embeddings` and `/v1/models` are OpenAI's, `/embed`
and `/rerank` those of Text Embeddings Inference.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc
import numpy as np
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from precis.v1 import evaluate_pb2, inference_pb2, judge_pb2, summarize_pb2

from server.errors import refusal
from server.http.json_messages import (
    base64_floats,
    check_unicode,
    choice,
    dumps,
    parse_object,
    text_list,
    to_json,
    to_message,
)
from server.http.problem import ProblemError, plain_problem


class Exchange:
    """One request and its answer."""

    def request(self, body: bytes) -> bytes:
        """Returns the bytes of the RPC's request: an empty one. Raises InvalidRequestError."""
        return b""

    def response(self, data: bytes) -> bytes:
        """Returns the body of the answer, or of one event. Raises ProblemError."""
        raise NotImplementedError

    def event_name(self, data: bytes) -> str:
        """Names an event of a stream."""
        return "message"

    def rename(self, field: str) -> str:
        """Returns the name that a field of the RPC's request has in the body: that of the contract."""
        return field


class ContractExchange(Exchange):
    """Messages of the contract as JSON."""

    def __init__(self, method: MethodDescriptor) -> None:
        self._request_type: type[Message] = GetMessageClass(method.input_type)
        self._response_type: type[Message] = GetMessageClass(method.output_type)

    def request(self, body: bytes) -> bytes:
        """Parses the message."""
        return to_message(body, self._request_type)

    def response(self, data: bytes) -> bytes:
        """Writes the message."""
        return to_json(self._response_type.FromString(data))

    def event_name(self, data: bytes) -> str:
        """Returns the field of the oneof that is set."""
        message = self._response_type.FromString(data)
        while not message.DESCRIPTOR.oneofs:
            [(_, message)] = message.ListFields()
        return message.WhichOneof(message.DESCRIPTOR.oneofs[0].name) or "message"


class OpenAiEmbeddings(Exchange):
    """OpenAI's embeddings. The model asked for does not matter: the answer names the one that there is."""

    def __init__(self) -> None:
        self._is_base64 = False

    def request(self, body: bytes) -> bytes:
        """Takes a text or texts in `input`."""
        found = parse_object(body)
        self._is_base64 = choice(found, "encoding_format", ("float", "base64")) == "base64"
        if found.get("dimensions") is not None:
            raise refusal("dimensions", "expected none: the model has one size")
        return inference_pb2.EmbedRequest(texts=text_list(found, "input")).SerializeToString()

    def response(self, data: bytes) -> bytes:
        """Lists the vectors and counts tokens."""
        answer = inference_pb2.EmbedResponse.FromString(data)
        vectors = embeddings_of(answer)
        tokens = sum(one.token_count for one in vectors)
        to_json_value = base64_floats if self._is_base64 else list
        entries = [
            {"object": "embedding", "index": index, "embedding": to_json_value(one.values)}
            for index, one in enumerate(vectors)
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return dumps({"object": "list", "data": entries, "model": answer.model.name, "usage": usage})

    def rename(self, field: str) -> str:
        """Names `input`."""
        return field.replace("texts", "input", 1)


class OpenAiModels(Exchange):
    """OpenAI's list of models."""

    def response(self, data: bytes) -> bytes:
        """Lists the models by name."""
        models = inference_pb2.ListModelsResponse.FromString(data).models
        entries = [{"id": one.identity.name, "object": "model", "created": 0, "owned_by": "precis"} for one in models]
        return dumps({"object": "list", "data": entries})


class TeiEmbed(Exchange):
    """The embeddings of Text Embeddings Inference: a list of vectors of length 1. Long texts are cut."""

    def request(self, body: bytes) -> bytes:
        """Takes a text or texts in `inputs`."""
        found = parse_object(body)
        if found.get("normalize") is False:
            raise refusal("normalize", "expected true: the vectors have length 1")
        return inference_pb2.EmbedRequest(texts=text_list(found, "inputs")).SerializeToString()

    def response(self, data: bytes) -> bytes:
        """Lists the vectors."""
        return dumps([list(one.values) for one in embeddings_of(inference_pb2.EmbedResponse.FromString(data))])

    def rename(self, field: str) -> str:
        """Names `inputs`."""
        return field.replace("texts", "inputs", 1)


class TeiRerank(Exchange):
    """The ranks of Text Embeddings Inference, from the cosine of the embeddings of query and texts."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._is_raw = False
        self._has_text = False

    def request(self, body: bytes) -> bytes:
        """Takes a query and texts."""
        found = parse_object(body)
        query = found.get("query")
        if not isinstance(query, str):
            raise refusal("query", "expected a text")
        check_unicode(query, "query")
        self._texts = text_list(found, "texts")
        self._is_raw = choice(found, "raw_scores", (False, True))
        self._has_text = choice(found, "return_text", (False, True))
        return inference_pb2.EmbedRequest(texts=[query, *self._texts]).SerializeToString()

    def response(self, data: bytes) -> bytes:
        """Lists the texts, the most similar first."""
        vectors = np.array([one.values for one in embeddings_of(inference_pb2.EmbedResponse.FromString(data))])
        cosines = vectors[1:] @ vectors[0]
        scores = cosines if self._is_raw else np.clip((1 + cosines) / 2, 0, 1)
        order = np.argsort(-scores, kind="stable")
        return dumps([self._entry(int(index), float(scores[index])) for index in order])

    def rename(self, field: str) -> str:
        """Names `query` or the text: the query is the first that is embedded."""
        index = field.removeprefix("texts[").removesuffix("]")
        if not index.isdecimal():
            return field
        return f"texts[{int(index) - 1}]" if int(index) else "query"

    def _entry(self, index: int, score: float) -> dict[str, Any]:
        entry: dict[str, Any] = {"index": index, "score": score}
        return {**entry, "text": self._texts[index]} if self._has_text else entry


def embeddings_of(answer: inference_pb2.EmbedResponse) -> Sequence[inference_pb2.Embedding]:
    """Returns the vectors. Raises ProblemError for a text that has none: the answer has no place for errors."""
    for result in answer.results:
        if result.HasField("error"):
            raise ProblemError(plain_problem(grpc.StatusCode.INTERNAL, result.error.message))
    return [result.embedding for result in answer.results]


@dataclass(frozen=True, slots=True)
class Path:
    """A path and the RPC behind it.

    Attributes:
        make: makes the exchange of one request; None: it has the messages of the contract.
        said: says in a line what it does, where that is not the RPC.
    """

    path: str
    rpc: MethodDescriptor
    make: Callable[[], Exchange] | None = None
    method: str = "POST"
    said: str = ""

    @property
    def full_name(self) -> str:
        """The RPC's path in gRPC."""
        return f"/{self.rpc.containing_service.full_name}/{self.rpc.name}"

    @property
    def summary(self) -> str:
        """Says in a line what it does."""
        return self.said or f"{self.rpc.name} of {self.rpc.containing_service.full_name}"

    @property
    def is_list(self) -> bool:
        """Whether a request is a list of texts, which has a limit of its own."""
        return self.rpc.containing_service.name == "InferenceService"

    def exchange(self) -> Exchange:
        """Makes the exchange of one request."""
        return self.make() if self.make else ContractExchange(self.rpc)


_EVALUATE = evaluate_pb2.DESCRIPTOR.services_by_name["EvaluateService"].methods_by_name
_INFERENCE = inference_pb2.DESCRIPTOR.services_by_name["InferenceService"].methods_by_name
_JUDGE = judge_pb2.DESCRIPTOR.services_by_name["JudgeService"].methods_by_name
_SUMMARIZE = summarize_pb2.DESCRIPTOR.services_by_name["SummarizeService"].methods_by_name
_EMBED = partial(Path, rpc=_INFERENCE["Embed"])

PATHS = (
    Path("/v1/judge", _JUDGE["Judge"]),
    Path("/v1/judge/stream", _JUDGE["JudgeStream"]),
    Path("/v1/evaluate", _EVALUATE["Evaluate"]),
    Path("/v1/summarize", _SUMMARIZE["Summarize"]),
    Path("/v1/summarize/resume", _SUMMARIZE["ResumeSummary"]),
    Path("/v1/entail", _INFERENCE["Entail"]),
    _EMBED("/v1/embeddings", make=OpenAiEmbeddings, said="Embeddings as OpenAI defines them."),
    Path("/v1/models", _INFERENCE["ListModels"], OpenAiModels, "GET", "Models, as OpenAI lists them."),
    _EMBED("/embed", make=TeiEmbed, said="Embeddings as Text Embeddings Inference defines them."),
    _EMBED("/rerank", make=TeiRerank, said="Ranks as Text Embeddings Inference defines them."),
)
