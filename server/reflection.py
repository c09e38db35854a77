"""Server reflection that does not hold up a stop: its streams end when the server begins to drain."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import Any

from grpc_health.v1.health import SERVICE_NAME as HEALTH_SERVICE
from grpc_reflection.v1alpha.reflection import SERVICE_NAME, aio
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse
from grpc_reflection.v1alpha.reflection_pb2_grpc import ServerReflectionServicer

from server.calls import Context
from server.drain import until


class ReflectionServicer(ServerReflectionServicer):
    """Describes the services, so that clients like grpcurl need no .proto files."""

    def __init__(self, services: Iterable[str], stopping: asyncio.Event) -> None:
        self._answers: Any = aio.ReflectionServicer(service_names=[*services, HEALTH_SERVICE, SERVICE_NAME])
        self._stopping = stopping

    async def ServerReflectionInfo(
        self, request_iterator: AsyncIterator[ServerReflectionRequest], context: Context
    ) -> AsyncGenerator[ServerReflectionResponse, None]:
        """Answers questions about services and messages until the client or the server ends the stream."""
        requests = until(self._stopping, request_iterator)
        async for response in self._answers.ServerReflectionInfo(requests, context):
            yield response
