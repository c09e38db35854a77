"""Tells clients what the server has and whether it is ready: grpc.health.v1, and reflection v1 and v1alpha.

Health has a servicer of our own, because the one of grpcio-health-checking loses watchers. When one of two watchers of
a service leaves, the other is never told again. And its watches never end, so that a stopping server would wait out its
grace. The streams of reflection, too, end when the server begins to drain.

grpcio-reflection ships v1alpha alone. Clients such as grpcurl ask v1 first; its messages are the same on the wire, so
that one method answers both.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf import descriptor_pool, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError
from grpc import StatusCode
from grpc_health.v1.health import SERVICE_NAME as HEALTH_SERVICE
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection import aio
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse

from pipeline.errors import PipelineError
from server.rpc.admission import Context, Shared, host_of
from server.rpc.handlers import HandlerTable
from server.rpc.streams import end, until_stopping
from server.rpc.wire import readable

logger = logging.getLogger(__name__)

# A health check needs no key, so it has little of everything.
_LARGEST_REQUEST = 4 << 10  # bytes; the name of a service
_WITH_HEADERS_S = 0.03  # that a message may lag behind its headers: a client sends both at once
_LATE_S = 5.0
_MOST_WATCHES = 512  # each host may have as many as are free: alone half
OVERALL = ""  # the name under which the protocol asks for the server as a whole
REFLECTION_SERVICES = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")


class HealthServicer:
    """Answers with the last status that was set. All services start as NOT_SERVING."""

    def __init__(self, services: Iterable[str]) -> None:
        self._services = frozenset((OVERALL, *services))
        self._lacking: set[str] = set()  # services that lack something besides the models
        self._is_ready = False
        self._is_open = False
        self._is_stopping = False
        self._changed = asyncio.Event()
        self._watches = Shared(_MOST_WATCHES, "{} watches are open")
        self._late: asyncio.Future[Any] | None = None  # the one message that is waited for longer

    @property
    def is_serving(self) -> bool:
        """Whether the server as a whole is."""
        return self._is_ready and self._is_open and not self._is_stopping

    def set_ready(self, is_ready: bool) -> None:  # noqa: FBT001  a callback of the engine
        """Says whether the models can compute: each service needs them, and the server as a whole."""
        self._is_ready = is_ready
        self._notify()

    @asynccontextmanager
    async def watching(
        self, service: str, check: Callable[[], Awaitable[None]], every_s: float
    ) -> AsyncGenerator[None, None]:
        """Asks again and again, while entered, whether what one service needs besides the models can be used.

        `check` raises PipelineError when it cannot.
        """
        watch = asyncio.create_task(self._watch_need(service, check, every_s), name=f"health-{service}")
        try:
            yield
        finally:
            await end(watch)

    def open(self) -> None:
        """Says that the start is over: what is ready serves."""
        self._is_open = True
        self._notify()

    def stop(self) -> None:
        """Sets everything to NOT_SERVING for good; watches report it and end."""
        self._is_stopping = True
        self._notify()

    async def _watch_need(self, service: str, check: Callable[[], Awaitable[None]], every_s: float) -> None:
        while True:
            was_lacking = service in self._lacking
            try:
                await check()
                self._lacking.discard(service)
            except PipelineError as error:
                self._lacking.add(service)
                if not was_lacking:
                    logger.error("event=service_down service=%s error=%r", service, str(error))  # noqa: TRY400
            if was_lacking != (service in self._lacking):
                if was_lacking:
                    logger.info("event=service_up service=%s", service)
                self._notify()
            await asyncio.sleep(every_s)

    def add_to(self, table: HandlerTable) -> None:
        """Offers the methods: no key and no log line, since probes come every few seconds."""
        methods: dict[str, Any] = {
            "Check": grpc.stream_unary_rpc_method_handler(self._check),
            "Watch": grpc.stream_stream_rpc_method_handler(self._watch),
        }
        table.add_registered_method_handlers(HEALTH_SERVICE, methods)

    async def _check(self, _: object, context: Context) -> bytes:
        """Returns one service's status. Errors: NOT_FOUND for a service that this server does not have."""
        service = await self._requested(context)
        if service not in self._services:
            await context.abort(StatusCode.NOT_FOUND, "this server has no service of that name")
        return HealthCheckResponse(status=self._status(service)).SerializeToString()

    async def _watch(self, _: object, context: Context) -> None:
        """Sends the status now and at every change, until the server stops. Errors: RESOURCE_EXHAUSTED."""
        service, host = await self._requested(context), host_of(context.peer())
        if reason := self._watches.refusal(host, 1):
            await context.abort(StatusCode.RESOURCE_EXHAUSTED, f"{reason}: ask with Check instead")
        self._watches.add(host, 1)
        try:
            await self._write_changes(service, context)
        finally:
            self._watches.add(host, -1)

    async def _requested(self, context: Context) -> str:
        """Returns the service that a call names."""
        asked = await self._asked(context)
        if asked is StatusCode.DEADLINE_EXCEEDED:
            await context.abort(asked, "the request of this health check has not arrived")
        if asked is StatusCode.INVALID_ARGUMENT:
            await context.abort(asked, "expected one HealthCheckRequest of at most 4 KiB")
        return str(asked)

    async def _asked(self, context: Context) -> str | StatusCode:
        """Returns the service that a call names, or what is wrong with it.

        Messages may be large: of late ones one is waited for, the last, and none is known after this. gRPC keeps the
        error of an abort, and with it what its frames hold.
        """
        message = asyncio.ensure_future(context.read())
        try:
            await asyncio.wait({message}, timeout=_WITH_HEADERS_S)  # looks once more at its end: the loop may be late
            if not message.done():
                if self._late is not None:
                    self._late.cancel()
                self._late = message
                await asyncio.wait({message}, timeout=_LATE_S)
        finally:
            is_here = not message.cancel() and not message.cancelled()
            if self._late is message:
                self._late = None
        try:
            if is_here:
                return str(HealthCheckRequest.FromString(message.result()[:_LARGEST_REQUEST]).service)
        except (DecodeError, TypeError):  # cut off, malformed, or the end in place of a message
            return StatusCode.INVALID_ARGUMENT
        return StatusCode.DEADLINE_EXCEEDED

    async def _write_changes(self, service: str, context: Context) -> None:
        sent = None
        while True:
            changed = self._changed  # taken before the status is read, so that no change is missed
            status = self._status(service)
            if status != sent:
                await context.write(HealthCheckResponse(status=status).SerializeToString())
                sent = status
            elif self._is_stopping:
                return
            else:
                await changed.wait()

    def _status(self, service: str) -> int:
        if service not in self._services:
            return HealthCheckResponse.SERVICE_UNKNOWN
        is_serving = self.is_serving and service not in self._lacking
        return HealthCheckResponse.SERVING if is_serving else HealthCheckResponse.NOT_SERVING

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def add_reflection(table: HandlerTable, services: Iterable[str], stopping: asyncio.Event) -> None:
    """Offers descriptions of the services, under both names, so that clients like grpcurl need no .proto files."""
    _describe_v1()
    answers: Any = aio.ReflectionServicer(service_names=[*services, HEALTH_SERVICE, *REFLECTION_SERVICES])

    async def describe(
        questions: AsyncIterator[ServerReflectionRequest], context: Context
    ) -> AsyncGenerator[ServerReflectionResponse, None]:
        """Answers until the client or the server ends the stream."""
        asked = (readable(question) async for question in until_stopping(stopping, questions))
        async for response in answers.ServerReflectionInfo(asked, context):
            yield response

    handler = grpc.stream_stream_rpc_method_handler(
        describe,
        request_deserializer=ServerReflectionRequest.FromString,
        response_serializer=ServerReflectionResponse.SerializeToString,
    )
    for service in REFLECTION_SERVICES:
        table.add_registered_method_handlers(service, {"ServerReflectionInfo": handler})


def _describe_v1() -> None:
    """Adds grpc.reflection.v1 to the known descriptors, unless a library has brought it."""
    pool = descriptor_pool.Default()
    try:
        pool.FindFileContainingSymbol(REFLECTION_SERVICES[0])
    except KeyError:
        file = FileDescriptorProto()
        reflection_pb2.DESCRIPTOR.CopyToProto(file)
        text = str(file).replace(file.name, "grpc/reflection/v1/reflection.proto").replace("v1alpha", "v1")
        pool.AddSerializedFile(text_format.Parse(text, FileDescriptorProto()).SerializeToString())
