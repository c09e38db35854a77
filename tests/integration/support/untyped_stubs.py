"""Stubs of gRPC's own services, whose generated code has no usable types."""

from typing import Any

import grpc
from grpc_health.v1.health_pb2_grpc import HealthStub
from grpc_reflection.v1alpha.reflection_pb2_grpc import ServerReflectionStub


def health_stub(channel: grpc.aio.Channel) -> Any:  # noqa: ANN401
    """A stub of grpc.health.v1.Health."""
    return HealthStub(channel)


def reflection_stub(channel: Any) -> Any:  # noqa: ANN401
    """A stub of grpc.reflection.v1alpha.ServerReflection."""
    return ServerReflectionStub(channel)
