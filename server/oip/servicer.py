"""The Open Inference Protocol v2: `nli`, `embed` and `judge` for the clients of Triton and KServe, as they are.

Status codes, keys and limits are those of the native services; what a request says with parameters becomes the same
deadline and priority.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version

import grpc
from google.protobuf.empty_pb2 import Empty
from precis.oip import open_inference_pb2 as pb
from precis.oip.open_inference_pb2_grpc import GRPCInferenceServiceServicer

from inference.call import Call, Priority
from inference.engine import Engine
from inference.errors import DeadlineExpiredError
from server.errors import ModelNotLoadedError, NotOfferedError, UnservedModelError, refusal
from server.oip.inferences import NAMES, Inference, InferenceRequest
from server.oip.tensors import VERSION, read_texts, to_metadata, wanted_outputs, write_tensor
from server.rpc.admission import Context
from server.rpc.handlers import HandlerTable
from server.rpc.models import to_call
from server.rpc.record import current_call, part_of_call
from server.rpc.status import public_message
from server.rpc.wire import MalformedRequest
from server.services.bulk import MAX_ITEM_ID_CHARS, StreamItem, worked

SERVICE = pb.DESCRIPTOR.services_by_name["GRPCInferenceService"].full_name
EXTENSIONS = ("model_configuration", "model_repository", "statistics")
NOT_OFFERED = {
    "RepositoryModelLoad": "models are loaded when the server starts",
    "RepositoryModelUnload": "models are loaded when the server starts",
    "TraceSetting": "traces have settings of the server, PRECIS_TRACING__*",
    "LogSettings": "logs have settings of the server, PRECIS_LOG__*",
    **{
        f"{kind}SharedMemory{verb}": "send tensors in the request"
        for kind in ("System", "Cuda")
        for verb in ("Status", "Register", "Unregister")
    },
}
STREAM_REQUESTS = 64  # of one stream at once, answered and held back for an earlier one included


class OpenInferenceServicer(GRPCInferenceServiceServicer):
    """Answers for the models, by name, of an engine that has started.

    `stopping` is set when the server drains: streams answer what they have read and end.
    """

    def __init__(self, engine: Engine, inferences: dict[str, Inference], stopping: asyncio.Event) -> None:
        self._engine = engine
        self._inferences = inferences
        self._stopping = stopping
        self._statistics = {name: pb.ModelStatistics(name=name, version=VERSION) for name in inferences}

    def add_unoffered_to(self, table: HandlerTable) -> None:
        """Adds the RPCs of Triton's that only say why they are not there."""
        for rpc, reason in NOT_OFFERED.items():
            handler = grpc.unary_unary_rpc_method_handler(
                partial(_not_offered, rpc, reason), Empty.FromString, Empty.SerializeToString
            )
            table.add_registered_method_handlers(SERVICE, {rpc: handler})

    async def ServerLive(self, request: pb.ServerLiveRequest, context: Context) -> pb.ServerLiveResponse:
        """Says that the server answers."""
        return pb.ServerLiveResponse(live=True)

    async def ServerReady(self, request: pb.ServerReadyRequest, context: Context) -> pb.ServerReadyResponse:
        """Says whether every model can compute."""
        return pb.ServerReadyResponse(ready=self._engine.is_ready)

    async def ModelReady(self, request: pb.ModelReadyRequest, context: Context) -> pb.ModelReadyResponse:
        """Says whether one model can compute; one that is not there cannot, as with Triton."""
        is_there = request.name in self._inferences and request.version in {"", VERSION}
        return pb.ModelReadyResponse(ready=is_there and self._engine.is_ready)

    async def ServerMetadata(self, request: pb.ServerMetadataRequest, context: Context) -> pb.ServerMetadataResponse:
        """Names the server and its extensions."""
        return pb.ServerMetadataResponse(name="precis", version=version("precis-server"), extensions=EXTENSIONS)

    async def ModelMetadata(self, request: pb.ModelMetadataRequest, context: Context) -> pb.ModelMetadataResponse:
        """Describes inputs and outputs of a model."""
        return to_metadata(self._find(request.name, request.version).config)

    async def ModelConfig(self, request: pb.ModelConfigRequest, context: Context) -> pb.ModelConfigResponse:
        """Describes a model as Triton's configuration does."""
        return pb.ModelConfigResponse(config=self._find(request.name, request.version).config)

    async def RepositoryIndex(self, request: pb.RepositoryIndexRequest, context: Context) -> pb.RepositoryIndexResponse:
        """Lists the models."""
        response = pb.RepositoryIndexResponse()
        for name in NAMES:
            reason = self._reason(name)
            if not (request.ready and reason):
                response.models.add(
                    name=name, version=VERSION, state="UNAVAILABLE" if reason else "READY", reason=reason
                )
        return response

    async def ModelStatistics(self, request: pb.ModelStatisticsRequest, context: Context) -> pb.ModelStatisticsResponse:
        """Counts the requests of one model, or of all."""
        if request.name:
            self._find(request.name, request.version)
        names = [request.name] if request.name else list(self._inferences)
        return pb.ModelStatisticsResponse(model_stats=[self._to_statistics(name) for name in names])

    async def ModelInfer(self, request: pb.ModelInferRequest, context: Context) -> pb.ModelInferResponse:
        """Computes all rows of a request."""
        inference = self._find(request.model_name, request.model_version)
        with counted(self._statistics[request.model_name]):
            return await self._infer(inference, request, context)

    async def ModelStreamInfer(
        self, request_iterator: AsyncIterator[pb.ModelInferRequest | MalformedRequest], context: Context
    ) -> AsyncGenerator[pb.ModelStreamInferResponse, None]:
        """Computes requests as they come, some at once, and answers in their order."""
        room = asyncio.Semaphore(STREAM_REQUESTS)
        answer = partial(self._answer, context, room)
        held: dict[int, pb.ModelStreamInferResponse] = {}
        following = 0
        async with aclosing(worked(request_iterator, answer, limit=STREAM_REQUESTS, stop=self._stopping)) as responses:
            async for index, response in responses:
                held[index] = response
                while following in held:
                    yield held.pop(following)
                    following += 1
                    room.release()

    async def _answer(
        self, context: Context, room: asyncio.Semaphore, item: StreamItem
    ) -> tuple[int, pb.ModelStreamInferResponse]:
        """Answers one request of a stream; its failure is an answer too."""
        await room.acquire()
        response = pb.ModelStreamInferResponse()
        response.infer_response.id = item.id[:MAX_ITEM_ID_CHARS]
        try:
            item.check()
            response.infer_response.model_name = item.message.model_name[:MAX_ITEM_ID_CHARS]
            with part_of_call():
                response.infer_response.CopyFrom(await self.ModelInfer(item.message, context))
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends this request and not the stream
            response.error_message = public_message(error, current_call().call_id)
        finally:
            item.finish()
        response.infer_response.parameters["triton_final_response"].bool_param = True
        return item.index, response

    async def _infer(
        self, inference: Inference, request: pb.ModelInferRequest, context: Context
    ) -> pb.ModelInferResponse:
        if len(request.id) > MAX_ITEM_ID_CHARS:
            raise refusal("id", f"expected at most {MAX_ITEM_ID_CHARS} characters, got {len(request.id)}")
        config = inference.config
        wanted = wanted_outputs(request, config)
        texts = read_texts(request, config)
        call = _to_call(request, context)
        parsed = InferenceRequest(texts, frozenset(tensor.name for tensor in wanted), call, context, request.parameters)
        try:
            async with asyncio.timeout(call.deadline_s and call.deadline_s - time.monotonic()):
                tensors, batch = await inference.infer(parsed)
        except TimeoutError:
            raise DeadlineExpiredError from None
        noted, statistics = current_call(), self._statistics[config.name]
        noted.item_count = len(texts[0])
        statistics.inference_count += len(texts[0])
        if batch is not None:
            noted.queue_ms = batch.queue_s * 1e3
            measured = statistics.inference_stats
            _add(measured.queue, batch.queue_s)
            _add(measured.compute_infer, batch.compute_s)
            _add(measured.cache_hit, 0.0, batch.cache_hit_count)
        response = pb.ModelInferResponse(model_name=config.name, model_version=VERSION, id=request.id)
        for tensor in wanted:
            write_tensor(response, tensor, tensors[tensor.name])
        return response

    def _find(self, name: str, asked_version: str) -> Inference:
        """Returns a model. Raises UnservedModelError, or ModelNotLoadedError when the settings leave it out."""
        if name not in NAMES:
            raise UnservedModelError(f"no model of that name: expected one of {', '.join(NAMES)}")
        if asked_version not in {"", VERSION}:
            raise UnservedModelError(f"the model {name} has the version {VERSION} alone")
        inference = self._inferences.get(name)
        if inference is None:
            raise ModelNotLoadedError(NAMES[name])
        return inference

    def _reason(self, name: str) -> str:
        """Says why a model cannot compute; empty if it can."""
        if name not in self._inferences:
            return str(ModelNotLoadedError(NAMES[name]))
        return "" if self._engine.is_ready else "a worker is starting again"

    def _to_statistics(self, name: str) -> pb.ModelStatistics:
        counts, computed = self._statistics[name], self._engine.statistics().models.get(NAMES[name])
        counts.execution_count = computed.batches if computed else counts.inference_stats.success.count
        del counts.batch_stats[:]
        for rows, (batches, compute_s) in sorted(computed.by_rows.items() if computed else ()):
            _add(counts.batch_stats.add(batch_size=rows).compute_infer, compute_s, batches)
        return counts


@contextmanager
def counted(statistics: pb.ModelStatistics) -> Iterator[None]:
    """Counts one request, however it ends."""
    started_s, ending = time.monotonic(), statistics.inference_stats.fail
    statistics.last_inference = time.time_ns() // 1_000_000
    try:
        yield
        ending = statistics.inference_stats.success
    finally:
        _add(ending, time.monotonic() - started_s)


def _add(duration: pb.StatisticDuration, seconds: float, count: int = 1) -> None:
    duration.count += count
    duration.ns += round(seconds * 1e9)


def _to_call(request: pb.ModelInferRequest, context: Context) -> Call:
    """Binds deadline and priority of a request. Raises DeadlineExpiredError or InvalidRequestError."""
    call = to_call(context, 0)
    if not request.parameters:
        return call
    if "timeout" in request.parameters and (timeout_us := _integer(request, "timeout")):
        deadline_s = time.monotonic() + timeout_us / 1e6
        call = replace(call, deadline_s=min(deadline_s, call.deadline_s or deadline_s))
    if "priority" in request.parameters and _integer(request, "priority") > 1:
        call = replace(call, priority=Priority.BULK)
    return call


def _integer(request: pb.ModelInferRequest, name: str) -> int:
    """Returns the number of a parameter. Raises InvalidRequestError."""
    parameter = request.parameters[name]
    kind = parameter.WhichOneof("parameter_choice")
    number = int(getattr(parameter, kind)) if kind in {"int64_param", "uint64_param"} else -1
    if number < 0:
        raise refusal(f"parameters.{name}", "expected an int64_param or uint64_param that is not negative")
    return number


async def _not_offered(rpc: str, reason: str, _request: Empty, _context: Context) -> Empty:
    raise NotOfferedError(f"{rpc} is not offered: {reason}")
