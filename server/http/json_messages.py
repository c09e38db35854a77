"""JSON bodies as messages of the contract, and messages as JSON, with the field names of the .proto files."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from server.errors import FieldViolation, InvalidRequestError, refusal

MAX_VALUES = 500_000  # of a body: twice the fields of the longest document; protobuf reads some 300,000 a second
MAX_EXPLAINED_VALUES = 40_000  # of a body: to find which of them is wrong takes half a second

_TOKEN = re.compile(rb'(?s:"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z))|[,\[{]')
"""A text, which may lack its end, a comma, or where a list or object begins: at most three of a value and its name."""

_BODY = "body"
"""What is blamed where no field is."""


def parse_object(body: bytes) -> dict[str, Any]:
    """Reads a JSON object. Raises InvalidRequestError."""
    if b"\0" in body:  # UTF-16 or UTF-32: of their characters some bytes are quotes to the count of values
        raise refusal(_BODY, "expected JSON in UTF-8, got a zero byte")
    if not _has_at_most(MAX_VALUES, body):  # before they are built: meanwhile nobody else would be served
        raise refusal(_BODY, f"expected at most {MAX_VALUES:,} values in one request, got more")
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:  # its words quote nothing
        raise refusal(_BODY, f"expected JSON in UTF-8, got something else: {error.msg}") from None
    if not isinstance(found, dict):
        raise refusal(_BODY, "expected a JSON object")
    return found


def _has_at_most(limit: int, body: bytes) -> bool:
    """Counts the values of a body by what stands before each, a comma or an opening; an empty list counts two."""
    if len(body) <= limit:
        return True
    count = 0
    for tokens, match in enumerate(_TOKEN.finditer(body)):
        count += body[match.start()] != ord('"')
        if count > limit or tokens > 3 * limit:
            return False
    return True


def to_message(body: bytes, message_type: type[Message]) -> bytes:
    """Turns a JSON body into the bytes of a message. Raises InvalidRequestError with the field that is wrong."""
    found = parse_object(body)
    try:
        return ParseDict(found, message_type(), max_recursion_depth=32).SerializeToString()  # the deepest: 16
    except _UNREADABLE:
        wrong = find_wrong_field(found, message_type) if _has_at_most(MAX_EXPLAINED_VALUES, body) else None
        whole = FieldViolation(_BODY, f"expected a {message_type.DESCRIPTOR.full_name} as JSON")
        raise InvalidRequestError([wrong or whole]) from None


_UNREADABLE = (ParseError, ArithmeticError, SystemError, ValueError, TypeError, RecursionError)
"""What protobuf raises for a wrong value: beside its own error those of 1e400, and of half a character as a name."""


def find_wrong_field(found: Mapping[str, Any], message_type: type[Message], prefix: str = "") -> FieldViolation | None:
    """Finds the first field that protobuf cannot read: its own words lack the index, and may quote the value."""
    contract = message_type.DESCRIPTOR
    known: dict[str, Any] = {**contract.fields_by_camelcase_name, **contract.fields_by_name}
    chosen: dict[str, str] = {}
    for name, value in found.items():
        field = known.get(name)
        if field is None:
            shown = name[:100].encode("ascii", "backslashreplace").decode()
            return FieldViolation(prefix + shown, "expected a field of the contract")
        if value is None:
            continue
        choice_of = field.containing_oneof
        if choice_of is not None and (other := chosen.setdefault(choice_of.name, name)) != name:
            return FieldViolation(prefix + name, f"expected only one of {other} and {name}")
        if field.is_repeated and not isinstance(value, list):
            return FieldViolation(prefix + name, "expected a list")
        for index, one in enumerate(value if field.is_repeated else [value]):
            place = f"{prefix}{name}[{index}]" if field.is_repeated else prefix + name
            if wrong := _wrong_value(field, one, message_type, place):
                return wrong
    return None


def _wrong_value(field: FieldDescriptor, value: Any, owner: type[Message], place: str) -> FieldViolation | None:  # noqa: ANN401 - of JSON
    """Looks for what is wrong in one value of a field."""
    if field.message_type is not None and field.message_type.file.package != "google.protobuf":
        if not isinstance(value, dict):
            return FieldViolation(place, "expected an object")
        return find_wrong_field(value, GetMessageClass(field.message_type), f"{place}.")
    try:
        ParseDict({field.name: [value] if field.is_repeated else value}, owner())
    except _UNREADABLE:
        return FieldViolation(place, f"expected {_kind_of(field)}")
    return None


def _kind_of(field: FieldDescriptor) -> str:
    """Says what a plain field holds."""
    if field.enum_type is not None:
        return "one of " + ", ".join(value.name for value in field.enum_type.values if value.number)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "bytes in base64"
    kinds = {
        FieldDescriptor.CPPTYPE_STRING: "a text in Unicode",
        FieldDescriptor.CPPTYPE_BOOL: "true or false",
        FieldDescriptor.CPPTYPE_DOUBLE: 'a finite number, or "NaN" or "Infinity" in quotes',
        FieldDescriptor.CPPTYPE_FLOAT: 'a finite number, or "NaN" or "Infinity" in quotes',
        FieldDescriptor.CPPTYPE_MESSAGE: "a value of the field's type in the contract",
    }
    return kinds.get(field.cpp_type, "a whole number in the range of its type")


def to_json(message: Message) -> bytes:
    """Returns a message as JSON, zeros included. 64-bit numbers are strings, bytes base64, as protobuf defines it."""
    fields = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return dumps(fields)


def dumps(value: object) -> bytes:
    """Returns a value as JSON in UTF-8."""
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


def text_list(body: Mapping[str, Any], name: str, *, most: int) -> list[str]:
    """Returns the texts of a field that holds one or a list of them. Raises InvalidRequestError."""
    value = body.get(name)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        raise refusal(name, "expected a text or a list of texts")
    if len(texts) > most:
        raise refusal(name, f"expected at most {most:,} texts, got {len(texts):,}")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            said = (
                "expected a text: token ids do not say their vocabulary (LangChain: check_embedding_ctx_length=False)"
            )
            raise refusal(f"{name}[{index}]", said)
    return texts


def choice(body: Mapping[str, Any], name: str, words: Sequence[Any]) -> Any:  # noqa: ANN401 - one of the words
    """Returns one of the words that a field may have, the first by default. Raises InvalidRequestError."""
    value = body.get(name)
    if value is None:
        return words[0]
    if value not in words or type(value) is not type(words[0]):
        raise refusal(name, f"expected one of {', '.join(dumps(word).decode() for word in words)}")
    return value
