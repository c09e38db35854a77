"""The field to blame when protobuf cannot read a body: its own words lack the index, and may quote the value."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from server.errors import FieldViolation

UNREADABLE = (ParseError, ArithmeticError, SystemError, ValueError, TypeError, RecursionError)
"""What protobuf raises for a wrong value: beside its own error those of 1e400, and of half a character as a name."""

_MOST_NAME_CHARS = 100  # of an unknown field that is named back
_NUMBERS = {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}
_WHOLE_NUMBERS = {
    *(FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64),
    *(FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64),
}


def find_wrong_field(found: Mapping[str, Any], message_type: type[Message], prefix: str = "") -> FieldViolation | None:
    """Finds a field that protobuf cannot read, and leaves out its value. It takes about as long as reading them all."""
    contract = message_type.DESCRIPTOR
    known: dict[str, Any] = {**contract.fields_by_camelcase_name, **contract.fields_by_name}
    unknown = next((name for name in found if name not in known), None)
    if unknown is not None:
        name = unknown[:_MOST_NAME_CHARS].encode("ascii", "backslashreplace").decode()
        return FieldViolation(prefix + name, "expected a field of the contract")
    given = {name: value for name, value in found.items() if value is not None}
    plain = {name: value for name, value in given.items() if not _is_nested(known[name])}
    if not _fits(plain, message_type):
        for name, value in plain.items():
            if not _fits({name: value}, message_type):
                return _wrong_value(known[name], value, message_type, prefix + name)
    inner = (_wrong_inside(known[name], given[name], prefix + name) for name in given if name not in plain)
    return next(filter(None, inner), None) or _wrong_choice(known, given, prefix)


def _is_nested(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.file.package != "google.protobuf"


def _fits(fields: dict[str, Any], message_type: type[Message]) -> bool:
    try:
        ParseDict(fields, message_type())
    except UNREADABLE:
        return False
    return True


def _wrong_value(field: FieldDescriptor, value: object, message_type: type[Message], path: str) -> FieldViolation:
    """Blames a plain value, or the first of a list that is wrong, which it halves to look at nothing twice."""
    if field.is_repeated:
        if not isinstance(value, list):
            return FieldViolation(path, "expected a list")
        start, end = 0, len(value)
        while end - start > 1:
            middle = (start + end) // 2
            if _fits({field.name: value[start:middle]}, message_type):
                start = middle
            else:
                end = middle
        path = f"{path}[{start}]"
    return FieldViolation(path, f"expected {_kind_of(field)}")


def _wrong_inside(field: FieldDescriptor, value: Any, path: str) -> FieldViolation | None:  # noqa: ANN401 - of JSON
    """Looks for what is wrong in a message, or in a list of them."""
    if field.is_repeated and not isinstance(value, list):
        return FieldViolation(path, "expected a list")
    if field.message_type is None:
        return None
    message_type = GetMessageClass(field.message_type)
    values = ((f"{path}[{index}]", one) for index, one in enumerate(value)) if field.is_repeated else [(path, value)]
    for place, one in values:
        if not isinstance(one, dict):
            return FieldViolation(place, "expected an object")
        if wrong := find_wrong_field(one, message_type, f"{place}."):
            return wrong
    return None


def _wrong_choice(known: Mapping[str, FieldDescriptor], given: Mapping[str, Any], prefix: str) -> FieldViolation | None:
    """Blames two fields of which only one may be set."""
    chosen: dict[str, str] = {}
    for name in given:
        choice_of = known[name].containing_oneof
        if choice_of is not None and chosen.setdefault(choice_of.name, name) != name:
            return FieldViolation(prefix + name, f"expected only one of {chosen[choice_of.name]} and {name}")
    return None


def _kind_of(field: FieldDescriptor) -> str:
    """Says what a plain field holds."""
    if field.enum_type is not None:
        return "one of " + ", ".join(value.name for value in field.enum_type.values if value.number)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "bytes in base64"
    if field.cpp_type in _NUMBERS:
        return 'a finite number, or "NaN" or "Infinity" in quotes'
    if field.cpp_type in _WHOLE_NUMBERS:
        return "a whole number in the range of its type"
    kinds = {FieldDescriptor.CPPTYPE_STRING: "a text in Unicode", FieldDescriptor.CPPTYPE_BOOL: "true or false"}
    return kinds.get(field.cpp_type, "a value of the field's type in the contract")
