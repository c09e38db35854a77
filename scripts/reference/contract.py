"""Reference of the contract: a page for each .proto file, made of its comments.

protoc parses; what comes out is a descriptor set with the place of every comment (`SourceCodeInfo`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)
from grpc_tools import protoc

PROTO_ROOT = Path(__file__).resolve().parents[2] / "protos"
PACKAGE = "precis.v1"
MADE = "<!-- Made by python -m scripts.reference; change the comments of the .proto file. -->"
_CODE = re.compile(r"(`[^`]*`)")

# Numbers of fields in descriptor.proto: a place in a file is a path of them and of indices.
_SYNTAX, _MESSAGE, _ENUM, _SERVICE = 12, 4, 5, 6
_FIELD, _NESTED, _NESTED_ENUM = 2, 3, 4
_VALUE = _METHOD = 2

Place = tuple[int, ...]


@dataclass(frozen=True)
class ProtoFile:
    """One file of the contract.

    Attributes:
        page: name of its page.
        file: what protoc has parsed.
        comments: by the place of what they stand before.
        pages: the page of every type of the contract, by full name.
    """

    page: str
    file: FileDescriptorProto
    comments: Mapping[Place, str]
    pages: Mapping[str, str]

    def comment(self, place: Place) -> str:
        """Returns the paragraphs before an element, with an empty line between them."""
        return escaped(self.comments.get(place, ""))

    def line(self, place: Place) -> str:
        """Returns a comment as one line of a list."""
        return " ".join(self.comment(place).split())

    def type_of(self, field: FieldDescriptorProto, message: DescriptorProto) -> str:
        """Returns the type of a field with a link to it."""
        maps = {f".{PACKAGE}.{message.name}.{one.name}": one for one in message.nested_type if one.options.map_entry}
        if field.type_name in maps:
            key, value = maps[field.type_name].field
            return f"map of {self.type_of(key, message)} to {self.type_of(value, message)}"
        word = "repeated " if field.label == FieldDescriptorProto.LABEL_REPEATED else ""
        return word + ("optional " if field.proto3_optional else "") + self._plain_type(field)

    def _plain_type(self, field: FieldDescriptorProto) -> str:
        if not field.type_name:
            return FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
        return self.link(field.type_name)

    def link(self, type_name: str) -> str:
        """Returns a link to a type of the contract; the name alone of one from elsewhere."""
        full_name = type_name.removeprefix(".")
        if full_name not in self.pages:
            return f"`{full_name}`"
        name = full_name.removeprefix(f"{PACKAGE}.")
        page = "" if self.pages[full_name] == self.page else self.pages[full_name]
        return f"[{name}]({page}#{slug(name)})"


def contract_pages() -> Mapping[str, str]:
    """Returns the text of each page by its name."""
    files = [file for file in _parse().file if file.package == PACKAGE]
    pages = {full_name: _page_name(file) for file in files for full_name in _type_names(file)}
    protos = [ProtoFile(_page_name(file), file, _comments(file), pages) for file in files]
    return {
        "protos.md": "\n".join(_index(protos)) + "\n",
        **{f"protos/{proto.page}": "\n".join(_page(proto)) + "\n" for proto in protos},
    }


def escaped(text: str) -> str:
    """Keeps Markdown from reading stars and angle brackets outside of code."""
    parts = _CODE.split(text)
    parts[::2] = [part.replace("*", "\\*").replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts)


def slug(heading: str) -> str:
    """Returns the anchor of a heading that is a name."""
    return heading.lower().replace(".", "")


def _parse() -> FileDescriptorSet:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "contract.pb"
        protos = sorted(str(path) for path in (PROTO_ROOT / "precis" / "v1").glob("*.proto"))
        options = ["--include_source_info", f"--descriptor_set_out={out}"]
        if protoc.main(["protoc", f"-I{PROTO_ROOT}", f"-I{_well_known_types()}", *options, *protos]):
            raise ValueError("protoc could not read the contract")
        return FileDescriptorSet.FromString(out.read_bytes())


def _well_known_types() -> Path:
    return Path(protoc.__file__).parent / "_proto"


def _comments(file: FileDescriptorProto) -> dict[Place, str]:
    places = file.source_code_info.location
    lines = {tuple(place.path): place.leading_comments.splitlines() for place in places if place.leading_comments}
    return {place: "\n".join(line.removeprefix(" ") for line in comment).strip() for place, comment in lines.items()}


def _page_name(file: FileDescriptorProto) -> str:
    return f"{Path(file.name).stem}.md"


def _type_names(file: FileDescriptorProto) -> Iterator[str]:
    for message in file.message_type:
        yield f"{PACKAGE}.{message.name}"
        yield from (f"{PACKAGE}.{message.name}.{nested.name}" for nested in message.nested_type)
        yield from (f"{PACKAGE}.{message.name}.{enum.name}" for enum in message.enum_type)
    yield from (f"{PACKAGE}.{enum.name}" for enum in file.enum_type)


def _index(protos: list[ProtoFile]) -> Iterator[str]:
    yield from (MADE, "", "# The contract", "")
    yield "Package `precis.v1`; the proto path is the folder `protos`. What each call does, and its messages:"
    for proto in protos:
        yield from ("", f"## [{Path(proto.file.name).name}](protos/{proto.page})", "", proto.comment((_SYNTAX,)))
        for service in proto.file.service:
            links = (f"[{rpc.name}](protos/{proto.page}#{slug(service.name + rpc.name)})" for rpc in service.method)
            yield from ("", f"`{service.name}`: {', '.join(links)}.")
    yield from ("", "```{toctree}", ":hidden:", "", *(f"protos/{proto.page[:-3]}" for proto in protos), "```")


def _page(proto: ProtoFile) -> Iterator[str]:
    yield from (MADE, "", f"# {Path(proto.file.name).name}", "", proto.comment((_SYNTAX,)))
    for index, service in enumerate(proto.file.service):
        yield from _service(proto, service, (_SERVICE, index))
    for index, message in enumerate(proto.file.message_type):
        yield from _message(proto, message, message.name, (_MESSAGE, index))
    for index, enum in enumerate(proto.file.enum_type):
        yield from _enum(proto, enum, enum.name, (_ENUM, index))


def _service(proto: ProtoFile, service: ServiceDescriptorProto, place: Place) -> Iterator[str]:
    yield from ("", f"## {service.name}", "", proto.comment(place))
    for index, rpc in enumerate(service.method):
        sent = "stream of " * rpc.client_streaming + proto.link(rpc.input_type)
        received = "stream of " * rpc.server_streaming + proto.link(rpc.output_type)
        yield from ("", f"### {service.name}.{rpc.name}", "", f"{sent} → {received}", "")
        yield proto.comment((*place, _METHOD, index))


def _message(proto: ProtoFile, message: DescriptorProto, name: str, place: Place) -> Iterator[str]:
    yield from ("", f"## {name}", "", proto.comment(place))
    if message.field:
        yield ""
    for index, field in enumerate(message.field):
        meaning = _group(message, field) + proto.line((*place, _FIELD, index))
        yield f"- `{field.name}` = {field.number}, {proto.type_of(field, message)}. {meaning}".rstrip()
    for index, nested in enumerate(message.nested_type):
        if not nested.options.map_entry:
            yield from _message(proto, nested, f"{name}.{nested.name}", (*place, _NESTED, index))
    for index, enum in enumerate(message.enum_type):
        yield from _enum(proto, enum, f"{name}.{enum.name}", (*place, _NESTED_ENUM, index))


def _group(message: DescriptorProto, field: FieldDescriptorProto) -> str:
    """Names the oneof of a field; that of an optional field is none that anybody wrote."""
    if not field.HasField("oneof_index") or field.proto3_optional:
        return ""
    return f"One of `{message.oneof_decl[field.oneof_index].name}`. "


def _enum(proto: ProtoFile, enum: EnumDescriptorProto, name: str, place: Place) -> Iterator[str]:
    yield from ("", f"## {name}", "", proto.comment(place), "")
    for index, value in enumerate(enum.value):
        yield f"- `{value.name}` = {value.number}. {proto.line((*place, _VALUE, index))}".rstrip()
