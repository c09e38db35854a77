"""One golden request: what is sent, to which server, in bytes that survive any change of names."""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

import protos

PLAIN, SCRIPTED, EMBEDDING_ONLY = "plain", "scripted", "embedding_only"
SUMMARY_ID = "0" * 32
"""Stands in a request for the id of the summary that its case follows; ids have as many characters."""

OTHERS = (health_pb2.DESCRIPTOR.name, reflection_pb2.DESCRIPTOR.name)
"""Files of services that are not ours, registered by their import."""

for module in pkgutil.walk_packages(protos.__path__, "protos."):  # wherever the messages are moved to
    if module.name.endswith("_pb2"):
        importlib.import_module(module.name)


@dataclass(frozen=True, slots=True)
class Case:
    """A request by name."""

    name: str  # unique
    server: str  # which of the golden servers it is sent to
    rpc: str  # full name of the RPC, for example "precis.v1.JudgeService.Judge"
    requests: tuple[bytes, ...]  # wire bytes; more than one for a stream of requests
    follows: str = ""  # name of the case whose summary it is about; that one is sent first
    is_unordered: bool = False  # responses come in any order

    @property
    def method(self) -> MethodDescriptor:
        """What the RPC takes and returns."""
        service, _, method = self.rpc.rpartition(".")
        return descriptor_pool.Default().FindServiceByName(service).methods_by_name[method]


def message_class(full_name: str) -> type[Message]:
    """Returns the class of a message, wherever its module is."""
    return GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(full_name))


def cases(rpc: str, requests: Mapping[str, Message], *, server: str = PLAIN) -> list[Case]:
    """Makes a case of each request. Their names begin with the RPC's, and end with the server's unless it is plain."""
    method = rpc.rpartition(".")[2]
    suffix = "" if server == PLAIN else f"@{server}"
    return [Case(f"{method}/{name}{suffix}", server, rpc, (to_bytes(one),)) for name, one in requests.items()]


def to_bytes(message: Message) -> bytes:
    """Serializes as always."""
    return message.SerializeToString(deterministic=True)
