"""What `precis load` sends: an RPC by its name, and requests that a person gives or that are made up.

Made-up texts differ from request to request: a server that caches would otherwise be measured at answering from memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from precis.calls import EVALUATE, INFERENCE, JUDGE, SUMMARIZE, rpc_path
from precis.oip import open_inference_pb2
from precis.v1 import inference_pb2, judge_pb2

from server.cli.errors import InputError
from server.cli.files import parse_message, read_rows

OPEN_INFERENCE = "oip:"
SHORT_NAMES = {"embed": "Embed", "entail": "Entail", "judge": "Judge", "evaluate": "Evaluate", "summarize": "Summarize"}

_SUBJECTS = ("north bridge", "old harbour", "city library", "water plant", "night train", "east tunnel", "ferry")
_VERBS = ("closes", "opens", "is rebuilt", "is inspected", "moves")
_PLACES = ("near the river", "in the upper town", "behind the station", "on the west bank")


@dataclass(frozen=True, slots=True)
class LoadTarget:
    """An RPC and its requests.

    Attributes:
        name: as the person wrote it.
        path: of the RPC.
        is_stream: it answers with a stream.
        make: returns the request of a number from 0 on.
        distinct_count: requests that differ; 0: all do.
    """

    name: str
    path: str
    is_stream: bool
    make: Callable[[int], Message]
    distinct_count: int


def find_target(name: str, data: Path | None) -> LoadTarget:
    """Finds an RPC by its name. Raises InputError."""
    if name.startswith(OPEN_INFERENCE):
        return _open_inference(name, data)
    methods: dict[str, MethodDescriptor] = {
        f"{service.full_name}/{method.name}": method
        for service in (INFERENCE, JUDGE, EVALUATE, SUMMARIZE)
        for method in service.methods
        if not method.client_streaming
    }
    wanted = SHORT_NAMES.get(name, name)
    method = next((found for full, found in methods.items() if wanted in {full, found.name}), None)
    if method is None:
        made_up = [one for one, full in SHORT_NAMES.items() if full in _MADE_UP]
        others = [one for one in SHORT_NAMES if one not in made_up]
        raise InputError(
            f"{name} is no RPC that can be called: {', '.join(made_up)}, oip:MODEL; "
            f"with --data also {', '.join((*others, *methods))}"
        )
    request_type = GetMessageClass(method.input_type)
    path = rpc_path(method.containing_service, method.name)
    if data is not None:
        requests = read_rows(data, lambda fields, _: parse_message(fields, request_type()))
        return LoadTarget(name, path, method.server_streaming, _cycle(requests), len(requests))
    if method.name not in _MADE_UP:
        raise InputError(f"{name} needs --data FILE: a request a line, as JSON")
    return LoadTarget(name, path, method.server_streaming, _MADE_UP[method.name], 0)


def sentence(number: int) -> str:
    """Makes up a sentence that no other number has."""
    subject, verb = _SUBJECTS[number % len(_SUBJECTS)], _VERBS[number // 7 % len(_VERBS)]
    return f"The {subject} {_PLACES[number // 35 % len(_PLACES)]} {verb} after {number} days of work."


_TEXTS: dict[str, Callable[[int], dict[str, str]]] = {
    "embed": lambda number: {"text": sentence(number)},
    "nli": lambda number: {"premise": f"{sentence(number)} {sentence(number + 1)}", "hypothesis": sentence(number)},
    "judge": lambda number: {
        "source": " ".join(sentence(8 * number + offset) for offset in range(8)),
        "summary": f"{sentence(8 * number)} {sentence(8 * number + 3)}",
    },
}
"""Made-up texts by model of the Open Inference Protocol, by the names of its inputs."""

_MADE_UP: dict[str, Callable[[int], Message]] = {
    "Embed": lambda number: inference_pb2.EmbedRequest(texts=[_TEXTS["embed"](number)["text"]]),
    "Entail": lambda number: inference_pb2.EntailRequest(pairs=[inference_pb2.TextPair(**_TEXTS["nli"](number))]),
    "Judge": lambda number: parse_message(dict(_TEXTS["judge"](number)), judge_pb2.JudgeRequest()),
}


def _open_inference(name: str, data: Path | None) -> LoadTarget:
    """Finds a model of any server that speaks the Open Inference Protocol."""
    model = name.removeprefix(OPEN_INFERENCE)
    path = rpc_path(open_inference_pb2.DESCRIPTOR.services_by_name["GRPCInferenceService"], "ModelInfer")
    if data is not None:
        requests = read_rows(data, lambda fields, _: _tensors(model, fields))
        return LoadTarget(name, path, is_stream=False, make=_cycle(requests), distinct_count=len(requests))
    if model not in _TEXTS:
        raise InputError(f"{name} needs --data FILE: a request a line, as the protocol's JSON has it")

    def make(number: int) -> Message:
        columns = _TEXTS[model](number).items()
        inputs = [{"name": name, "datatype": "BYTES", "shape": [1, 1], "data": [text]} for name, text in columns]
        return _tensors(model, {"inputs": inputs})

    return LoadTarget(name, path, is_stream=False, make=make, distinct_count=0)


_CONTENTS = {
    "BOOL": "bool_contents",
    **dict.fromkeys(("INT8", "INT16", "INT32"), "int_contents"),
    "INT64": "int64_contents",
    **dict.fromkeys(("UINT8", "UINT16", "UINT32"), "uint_contents"),
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
    "BYTES": "bytes_contents",
}


def _tensors(model: str, fields: dict[str, Any]) -> Message:
    """Builds a request from the protocol's JSON: {"inputs": [{"name", "datatype", "shape", "data"}]}."""
    request = open_inference_pb2.ModelInferRequest(model_name=model, id=str(fields.get("id", "")))
    try:
        for tensor in fields["inputs"]:
            added = request.inputs.add(name=tensor["name"], datatype=tensor["datatype"], shape=tensor["shape"])
            values = list(_flat(tensor["data"]))
            if tensor["datatype"] == "BYTES":
                values = [value.encode() for value in values]
            getattr(added.contents, _CONTENTS[tensor["datatype"]]).extend(values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        expected = 'expected {"inputs": [{"name", "datatype", "shape", "data"}]} of the Open Inference Protocol'
        raise InputError(expected) from error
    return request


def _flat(data: Any) -> Any:  # noqa: ANN401 - nested lists of JSON
    for value in data:
        if isinstance(value, list):
            yield from _flat(value)
        else:
            yield value


def _cycle(requests: Sequence[Message]) -> Callable[[int], Message]:
    return lambda number: requests[number % len(requests)]
