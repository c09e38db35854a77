"""Messages of others that travel with the calls: the rich errors of Google's APIs, and gRPC's health check.

They are built in a descriptor pool of their own, under names of their own. In the default pool they would clash with
googleapis-common-protos and grpcio-health-checking, if the user's program loads those too. What is left out of a
message, such as the metadata of ErrorInfo, is skipped when it is read.
"""

from functools import cache
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_PACKAGE = "precis.wire"

_SCALARS = {
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "string": FieldDescriptorProto.TYPE_STRING,
}
_MESSAGES = {
    # google/rpc/status.proto, google/protobuf/any.proto and duration.proto
    "Status": {"code": "int32", "message": "string", "details": "repeated Any"},
    "Any": {"type_url": "string", "value": "bytes"},
    "Duration": {"seconds": "int64", "nanos": "int32"},
    # google/rpc/error_details.proto
    "BadRequest": {"field_violations": "repeated FieldViolation"},
    "FieldViolation": {"field": "string", "description": "string"},
    "ErrorInfo": {"reason": "string"},
    "RequestInfo": {"request_id": "string"},
    "RetryInfo": {"retry_delay": "Duration"},
    # grpc/health/v1/health.proto; on the wire an enum is an int32
    "HealthCheckRequest": {"service": "string"},
    "HealthCheckResponse": {"status": "int32"},
}
"""Fields of each message with their types, numbered from 1 as they stand."""


@cache
def wire_message(name: str) -> Any:  # noqa: ANN401 - a class that is made at run time has no static type
    """Returns the class of a message."""
    return GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))


@cache
def _pool() -> DescriptorPool:
    file = FileDescriptorProto(name="precis/wire.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        message.field.extend(_field(*field, number) for number, field in enumerate(fields.items(), start=1))
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _field(name: str, kind: str, number: int) -> FieldDescriptorProto:
    repeated, _, kind = kind.rpartition(" ")
    label = FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL
    field = FieldDescriptorProto(name=name, number=number, label=label)
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"
    return field
