"""The OpenAPI 3.1 document, from the descriptors of the contract and the comments of its .proto files."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from server.http.paths import Path

Schema = dict[str, Any]

_REF = "#/components/schemas/"
_DURATION = "google.protobuf.Duration"
_LARGE = (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64)
_TYPES: dict[int, Schema] = {
    FieldDescriptor.CPPTYPE_INT32: {"type": "integer"},
    FieldDescriptor.CPPTYPE_UINT32: {"type": "integer"},
    **{kind: {"type": "string", "pattern": "^-?[0-9]+$"} for kind in _LARGE},
    FieldDescriptor.CPPTYPE_DOUBLE: {"type": "number"},
    FieldDescriptor.CPPTYPE_FLOAT: {"type": "number"},
    FieldDescriptor.CPPTYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.CPPTYPE_STRING: {"type": "string"},
}
_OPENING = re.compile(r"(?:message|oneof|enum|service) (\w+) \{$")
_FIELD = re.compile(r"(?:optional |repeated )?[\w.<>, ]+ (\w+) = \d+;")


def to_openapi(operations: Iterable[Path]) -> Schema:
    """Builds the document."""
    schemas: Schema = {"Problem": json.loads(files("server.http").joinpath("problem.json").read_bytes())}
    content = {"application/problem+json": {"schema": {"$ref": f"{_REF}Problem"}}}
    problem = {"description": "What went wrong.", "content": content}
    paths: Schema = {}
    for one in operations:
        answer: Schema = {"description": "The answer."}
        summary = one.said or f"{one.rpc.name} of {one.rpc.containing_service.full_name}"
        operation: Schema = {"summary": summary, "responses": {"200": answer, "default": problem}}
        if one.make is None:
            media = "text/event-stream" if one.rpc.server_streaming else "application/json"
            answer["content"] = {media: {"schema": _reference(one.rpc.output_type, schemas)}}
            schema = _reference(one.rpc.input_type, schemas)
            operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        path, _, name = one.path.replace(":path}", "").partition("{")
        if name:
            said = {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            operation["parameters"] = [said]
        paths[f"{path}{{{name}}}" if name else path] = {one.method.lower(): operation}
    security = {"bearer": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Precis", "version": version("precis-server")},
        "paths": paths,
        "security": [{}, {"bearer": []}],
        "components": {"schemas": schemas, "securitySchemes": security},
    }


def _reference(descriptor: Descriptor, schemas: Schema) -> Schema:
    """Returns a reference to the schema of a message, which is added if it is not there yet."""
    name = descriptor.full_name
    if name not in schemas:
        found: Schema = {"type": "object", "additionalProperties": False}
        schemas[name] = found  # before its fields: they may lead back to it
        said = _comments(descriptor.file.name)
        path = name.removeprefix(f"{descriptor.file.package}.")
        if path in said:
            found["description"] = said[path]
        found["properties"] = {
            field.name: _field(field, schemas)
            | ({"description": comment} if (comment := said.get(f"{path}.{field.name}")) else {})
            for field in descriptor.fields
        }
    return {"$ref": f"{_REF}{name}"}


def _field(field: FieldDescriptor, schemas: Schema) -> Schema:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        value = field.message_type.fields_by_name["value"]
        return {"type": "object", "additionalProperties": _value(value, schemas)}
    one = _value(field, schemas)
    return {"type": "array", "items": one} if field.is_repeated else one


def _value(field: FieldDescriptor, schemas: Schema) -> Schema:
    if field.message_type is not None:
        if field.message_type.full_name == _DURATION:
            return {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?s$"}
        return _reference(field.message_type, schemas)
    if field.enum_type is not None:
        return {"type": "string", "enum": [value.name for value in field.enum_type.values]}
    if field.type == FieldDescriptor.TYPE_BYTES:
        return {"type": "string", "contentEncoding": "base64"}
    return dict(_TYPES[field.cpp_type])


@cache
def _comments(file: str) -> dict[str, str]:
    """Returns the comments before the messages and fields of a .proto file of ours, by path: "Claim.text"."""
    folder, _, name = file.rpartition("/")
    try:
        text = files(folder.replace("/", ".")).joinpath(name).read_text(encoding="utf-8")
    except (ModuleNotFoundError, OSError, ValueError):
        return {}  # not ours, or an installation without the .proto files
    return dict(_read_comments(text))


def _read_comments(text: str) -> Iterator[tuple[str, str]]:
    stack: list[str] = []
    said: list[str] = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("//"):
            said.append(line.removeprefix("//").strip())
            continue
        opening, field = _OPENING.match(line), _FIELD.match(line)
        if opening:
            is_oneof = line.startswith("oneof")  # its fields belong to the message
            stack.append("" if is_oneof else opening.group(1))
            if not is_oneof:
                yield ".".join(filter(None, stack)), " ".join(said)
        elif field:
            yield ".".join([*filter(None, stack), field.group(1)]), " ".join(said)
        elif line.startswith("}") and stack:
            stack.pop()
        elif line.endswith("{"):
            stack.append("")
        said = []
