"""The paths of the HTTP listener, the RPCs behind them, and how a body becomes a request and a response a body.

The paths of Precis have the messages of the contract as JSON. `/v1/embeddings` and `/v1/models` are OpenAI's, `/embed`
and `/rerank` those of Text Embeddings Inference.
"""

import base64
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from precis.v1 import evaluate_pb2, inference_pb2, judge_pb2, summarize_pb2
from starlette.types import Scope

from inference.errors import PoisonedItemError
from pipeline.protocols import Float32
from server.config import HttpConfig
from server.errors import ModelNotLoadedError, UnservedModelError, refusal
from server.http.json_messages import choice, dumps, parse_object, text_list, to_json, to_message
from server.http.problem import Problem


class Exchange:
    """One request and its answer.

    Args:
        scope: of ASGI; what the path names is in its `path_params`.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.config: HttpConfig = scope["app"].state.config
        self.headers: dict[str, str] = {}  # of the answer

    def request(self, body: bytes) -> bytes:
        """Returns the bytes of the RPC's request: an empty one. Raises InvalidRequestError."""
        return b""

    def response(self, data: bytes) -> Iterator[bytes]:
        """Returns the body of the answer, or of one event, in parts, each made when it is asked for.

        Raises ServerError, or PoisonedItemError.
        """
        raise NotImplementedError

    def event_name(self, data: bytes) -> str:
        """Names an event of a stream."""
        return "message"

    def rename(self, field: str) -> str:
        """Returns the name that a field of the RPC's request has in the body: that of the contract."""
        return field

    def explained(self, problem: Problem) -> dict[str, Any]:
        """Returns what clients of the protocol look for in a problem, beside what all have."""
        return {}


class ContractExchange(Exchange):
    """Messages of the contract as JSON."""

    def __init__(self, method: MethodDescriptor, scope: Scope) -> None:
        super().__init__(scope)
        self._request_type: type[Message] = GetMessageClass(method.input_type)
        self._response_type: type[Message] = GetMessageClass(method.output_type)

    def request(self, body: bytes) -> bytes:
        """Parses the message."""
        return to_message(body, self._request_type)

    def response(self, data: bytes) -> Iterator[bytes]:
        """Writes the message."""
        return iter([to_json(self._response_type.FromString(data))])

    def event_name(self, data: bytes) -> str:
        """Returns the field of the oneof that is set."""
        message = self._response_type.FromString(data)
        while not message.DESCRIPTOR.oneofs:
            [(_, message)] = message.ListFields()
        return message.WhichOneof(message.DESCRIPTOR.oneofs[0].name) or "message"


class VectorExchange(Exchange):
    """Texts in, vectors out, with what OpenAI and Text Embeddings Inference let a caller say of them."""

    field = "texts"
    _dimensions: int | None = None
    _may_cut = True

    def texts(self, body: Mapping[str, Any], most: int) -> list[str]:
        """Returns the texts, and keeps how their vectors are wanted. Raises InvalidRequestError."""
        self._dimensions = body.get("dimensions")
        if self._dimensions is not None and (type(self._dimensions) is not int or self._dimensions < 1):
            raise refusal("dimensions", "expected a whole number of at least 1")
        choice(body, "truncation_direction", ("Right", "right"))
        self._may_cut = choice(body, "truncate", (True, False))
        return text_list(body, self.field, most=most)

    def vectors(self, answer: inference_pb2.EmbedResponse) -> Iterator[Float32]:
        """Returns the vectors, each made when it is asked for. Raises PoisonedItemError: an error has no place."""
        if any(result.HasField("error") for result in answer.results):
            raise PoisonedItemError
        cut = [index for index, result in enumerate(answer.results) if result.embedding.truncated]
        size = len(answer.results[0].embedding.values)
        if cut and not self._may_cut:
            raise refusal(
                "truncate", f"expected true: {self.rename(f'texts[{cut[0]}]')} is longer than the model reads"
            )
        if self._dimensions is not None and self._dimensions > size:
            raise refusal("dimensions", f"expected at most {size}, the size of the model")
        self.headers["x-truncated-texts"] = str(len(cut))
        return (self._shortened(result.embedding.values) for result in answer.results)

    def rename(self, field: str) -> str:
        """Names the field of the texts."""
        return field.replace("texts", self.field, 1)

    def _shortened(self, values: Sequence[float]) -> Float32:
        vector = np.asarray(values, np.float32)[: self._dimensions]
        return vector if self._dimensions is None else vector / np.linalg.norm(vector)


class OpenAiExchange(VectorExchange):
    """One of OpenAI's."""

    def _check_model(self, asked: str | None, served: Collection[str]) -> None:
        """Raises UnservedModelError for a model that is neither served nor another name of it."""
        known = {*served, *self.config.model_aliases}
        if not {asked, "*"} & {None, *known}:
            raise UnservedModelError(f"no such model: expected {', '.join(sorted(known))}")

    def explained(self, problem: Problem) -> dict[str, Any]:
        """Returns OpenAI's error."""
        found = problem.body.get("violations") or [{}]
        kind = "server_error" if problem.http_code in {500, 503, 504} else "invalid_request_error"
        code, message = problem.body.get("reason", problem.body["title"]).lower(), problem.body["detail"]
        return {"error": {"message": message, "type": kind, "param": found[0].get("field"), "code": code}}


class OpenAiEmbeddings(OpenAiExchange):
    """OpenAI's embeddings."""

    field = "input"
    _is_base64 = False
    _model: str | None = None

    def request(self, body: bytes) -> bytes:
        """Takes a text or texts in `input`."""
        found = parse_object(body)
        self._is_base64 = choice(found, "encoding_format", ("float", "base64")) == "base64"
        self._model = found.get("model")
        if not isinstance(self._model, str | None):
            raise refusal("model", "expected a text")
        return inference_pb2.EmbedRequest(texts=self.texts(found, 2_048)).SerializeToString()

    def response(self, data: bytes) -> Iterator[bytes]:
        """Lists the vectors and counts tokens."""
        answer = inference_pb2.EmbedResponse.FromString(data)
        self._check_model(self._model, [answer.model.name])
        vectors = self.vectors(answer)
        tokens = sum(result.embedding.token_count for result in answer.results)
        packed = (base64.b64encode(vector.astype("<f4").tobytes()).decode() for vector in vectors)
        written = packed if self._is_base64 else vectors
        entries = ({"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(written))
        rest = {"model": answer.model.name, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
        return listed(b'{"object":"list","data":[', entries, b"]," + dumps(rest)[1:])


class OpenAiModels(OpenAiExchange):
    """OpenAI's list of models, or the one that the path names."""

    def response(self, data: bytes) -> Iterator[bytes]:
        """Lists the models by name."""
        models = inference_pb2.ListModelsResponse.FromString(data).models
        entries = {
            one.identity.name: {"id": one.identity.name, "object": "model", "created": 0, "owned_by": "precis"}
            for one in models
        }
        asked = self.scope["path_params"].get("model")
        if asked is None:
            return iter([dumps({"object": "list", "data": list(entries.values())})])
        self._check_model(asked, entries)
        return iter([dumps(entries.get(asked, {**next(iter(entries.values())), "id": asked}))])


class TeiExchange(VectorExchange):
    """One of Text Embeddings Inference's."""

    def explained(self, problem: Problem) -> dict[str, Any]:
        """Returns the error of TEI."""
        kinds = {"INVALID_ARGUMENT": "Validation", "RESOURCE_EXHAUSTED": "Overloaded", "UNAVAILABLE": "Unhealthy"}
        return {"error": problem.body["detail"], "error_type": kinds.get(problem.body["title"], "Backend")}


class TeiInfo(TeiExchange):
    """What clients of Text Embeddings Inference ask of a server before they send anything."""

    def response(self, data: bytes) -> Iterator[bytes]:
        """Describes the embedder."""
        models = inference_pb2.ListModelsResponse.FromString(data).models
        one = next((model for model in models if model.task == inference_pb2.MODEL_TASK_EMBEDDING), None)
        if one is None:
            raise ModelNotLoadedError("embedding")
        info = {
            "model_id": one.identity.name,
            "model_sha": one.identity.revision,
            "model_dtype": one.precision,
            "max_input_length": one.max_tokens,
            "max_client_batch_size": self.config.max_texts,
            "auto_truncate": True,
            "version": version("precis-server"),
        }
        return iter([dumps(info)])


class TeiEmbed(TeiExchange):
    """The embeddings of Text Embeddings Inference: a list of vectors of length 1. Long texts are cut if they may be."""

    field = "inputs"

    def request(self, body: bytes) -> bytes:
        """Takes a text or texts in `inputs`."""
        found = parse_object(body)
        if found.get("normalize") is False:
            raise refusal("normalize", "expected true: the vectors have length 1")
        if found.get("prompt_name") is not None:
            raise refusal("prompt_name", "expected null: no prompt goes in front of a text")
        return inference_pb2.EmbedRequest(texts=self.texts(found, self.config.max_texts)).SerializeToString()

    def response(self, data: bytes) -> Iterator[bytes]:
        """Lists the vectors."""
        return listed(b"[", self.vectors(inference_pb2.EmbedResponse.FromString(data)), b"]")


class TeiRerank(TeiExchange):
    """The ranks of Text Embeddings Inference, from the cosine of the embeddings of query and texts."""

    _texts: Sequence[str] = ()
    _is_raw = False
    _has_text = False

    def request(self, body: bytes) -> bytes:
        """Takes a query and texts."""
        found = parse_object(body)
        query = found.get("query")
        if not isinstance(query, str):
            raise refusal("query", "expected a text")
        self._texts = self.texts(found, self.config.max_texts)
        self._is_raw = choice(found, "raw_scores", (False, True))
        self._has_text = choice(found, "return_text", (False, True))
        return inference_pb2.EmbedRequest(texts=[query, *self._texts]).SerializeToString()

    def response(self, data: bytes) -> Iterator[bytes]:
        """Lists the texts, the most similar first."""
        vectors = np.array(list(self.vectors(inference_pb2.EmbedResponse.FromString(data))))
        cosines = vectors[1:] @ vectors[0]
        scores = cosines if self._is_raw else np.clip((1 + cosines) / 2, 0, 1)
        order = np.argsort(-scores, kind="stable")
        texts = ({"text": self._texts[at]} if self._has_text else {} for at in order)
        entries = ({"index": at, "score": scores[at]} | text for at, text in zip(order, texts, strict=True))
        return listed(b"[", entries, b"]")

    def rename(self, field: str) -> str:
        """Names `query` or the text: the query is the first that is embedded."""
        index = field.removeprefix("texts[").removesuffix("]")
        if not index.isdecimal():
            return field
        return f"texts[{int(index) - 1}]" if int(index) else "query"


def listed(opening: bytes, entries: Iterable[Any], closing: bytes) -> Iterator[bytes]:
    """Yields a JSON list in parts, between what stands before and behind it."""
    part, comma = bytearray(opening), b""
    for entry in entries:
        part += comma + dumps(entry)
        comma = b","
        if len(part) >= 1 << 17:  # the next part is made when this one has been taken
            yield bytes(part)
            part.clear()
    yield bytes(part + closing)


@dataclass(frozen=True, slots=True)
class Path:
    """A path and the RPC behind it."""

    path: str
    rpc: MethodDescriptor
    # makes the exchange of one request; None: it has the messages of the contract
    make: Callable[[Scope], Exchange] | None = None
    method: str = "POST"
    said: str = ""  # says in a line what it does, where that is not the RPC

    @property
    def full_name(self) -> str:
        """The RPC's path in gRPC."""
        return f"/{self.rpc.containing_service.full_name}/{self.rpc.name}"

    def exchange(self, scope: Scope) -> Exchange:
        """Makes the exchange of one request."""
        return self.make(scope) if self.make else ContractExchange(self.rpc, scope)


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
    Path("/v1/models/{model:path}", _INFERENCE["ListModels"], OpenAiModels, "GET", "A model, as OpenAI describes it."),
    Path("/info", _INFERENCE["ListModels"], TeiInfo, "GET", "The embedding model, as TEI describes it."),
    _EMBED("/embed", make=TeiEmbed, said="Embeddings as Text Embeddings Inference defines them."),
    _EMBED("/rerank", make=TeiRerank, said="Ranks as Text Embeddings Inference defines them."),
)
