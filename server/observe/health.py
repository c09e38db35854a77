"""grpc.health.v1: tells the truth about every service.

Our own servicer, because the one of grpcio-health-checking loses watchers: when one of two watchers of a service
leaves, the other is never told again. And its watches never end, so that a stopping server would wait out its grace.

Server reflection that does not hold up a stop: its streams end when the server begins to drain.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import Any

from grpc import StatusCode
from grpc_health.v1.health import SERVICE_NAME as HEALTH_SERVICE
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthServicer as HealthBase
from grpc_reflection.v1alpha.reflection import SERVICE_NAME, aio
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse
from grpc_reflection.v1alpha.reflection_pb2_grpc import ServerReflectionServicer

from server.rpc.calls import Context
from server.rpc.streams import until_stopping

OVERALL = ""  # the name under which the protocol asks for the server as a whole


class HealthServicer(HealthBase):
    """Answers with the last status that was set. All services start as NOT_SERVING."""

    def __init__(self, services: Iterable[str]) -> None:
        self._is_serving = dict.fromkeys((OVERALL, *services), False)
        self._is_stopping = False
        self._changed = asyncio.Event()

    def set_ready(self, is_ready: bool) -> None:  # noqa: FBT001  a callback of the engine
        """Sets the status of all services: each of them needs the models."""
        if not self._is_stopping:
            self._is_serving = dict.fromkeys(self._is_serving, is_ready)
            self._notify()

    def stop(self) -> None:
        """Sets everything to NOT_SERVING for good; watches report it and end."""
        self._is_stopping = True
        self._is_serving = dict.fromkeys(self._is_serving, False)
        self._notify()

    async def Check(self, request: HealthCheckRequest, context: Context) -> HealthCheckResponse:
        """Returns one service's status. Errors: NOT_FOUND for a service that this server does not have."""
        if request.service not in self._is_serving:
            await context.abort(StatusCode.NOT_FOUND, "this server has no service of that name")
        return HealthCheckResponse(status=self._status(request.service))

    async def Watch(self, request: HealthCheckRequest, context: Context) -> AsyncGenerator[HealthCheckResponse, None]:
        """Sends the status now and at every change, until the server stops."""
        sent = None
        while True:
            changed = self._changed  # taken before the status is read, so that no change is missed
            status = self._status(request.service)
            if status != sent:
                yield HealthCheckResponse(status=status)
                sent = status
            elif self._is_stopping:
                return
            else:
                await changed.wait()

    def _status(self, service: str) -> int:
        is_serving = self._is_serving.get(service)
        if is_serving is None:
            return HealthCheckResponse.SERVICE_UNKNOWN
        return HealthCheckResponse.SERVING if is_serving else HealthCheckResponse.NOT_SERVING

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class ReflectionServicer(ServerReflectionServicer):
    """Describes the services, so that clients like grpcurl need no .proto files."""

    def __init__(self, services: Iterable[str], stopping: asyncio.Event) -> None:
        self._answers: Any = aio.ReflectionServicer(service_names=[*services, HEALTH_SERVICE, SERVICE_NAME])
        self._stopping = stopping

    async def ServerReflectionInfo(
        self, request_iterator: AsyncIterator[ServerReflectionRequest], context: Context
    ) -> AsyncGenerator[ServerReflectionResponse, None]:
        """Answers questions about services and messages until the client or the server ends the stream."""
        requests = until_stopping(self._stopping, request_iterator, is_quiet=True)
        async for response in self._answers.ServerReflectionInfo(requests, context):
            yield response
