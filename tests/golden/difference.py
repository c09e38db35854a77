"""Tells whether two answers differ: to the last bit, or in more than the last bits of floats."""

import difflib
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from tests.golden.answer import Answer
from tests.golden.case import message_class
from tests.golden.volatile import parts_of

TOLERANCE = 1e-4
FLOATS = frozenset({FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT})
KNOWN_DETAILS = (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest)  # imported: text_format opens the packed
_DECIMAL = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def difference(message_name: str, expected: Answer, got: Answer, *, is_exact: bool) -> str:
    """Describes how two answers differ; empty if they do not.

    Args:
        message_name: full name of the responses' message.
        expected: as recorded.
        got: this time.
        is_exact: False lets floats differ by up to TOLERANCE.
    """
    if expected == got or (not is_exact and _are_close(message_name, expected, got)):
        return ""
    old, new = [list(_lines(message_name, answer)) for answer in (expected, got)]
    if old == new:
        return "the bytes differ, but not what the current descriptors make of them"
    return "\n".join(difflib.unified_diff(old, new, "recorded", "now", lineterm="", n=2))


def are_close(one: Message, other: Message) -> bool:
    """Compares two messages of one kind; floats, and decimals inside strings, may differ a little."""
    fields: Any = one.DESCRIPTOR.fields  # the stubs name two implementations
    return all(_is_field_close(field, one, other) for field in fields)


def _are_close(message_name: str, expected: Answer, got: Answer) -> bool:
    kind = message_class(message_name)
    rest = [(answer.code, answer.message, answer.details, len(answer.responses)) for answer in (expected, got)]
    pairs = zip(expected.responses, got.responses, strict=False)
    return rest[0] == rest[1] and all(are_close(kind.FromString(one), kind.FromString(other)) for one, other in pairs)


def _is_field_close(field: FieldDescriptor, one: Message, other: Message) -> bool:
    if field.has_presence and one.HasField(field.name) != other.HasField(field.name):
        return False
    old, new = _values(field, one), _values(field, other)
    if len(old) != len(new):
        return False
    return all(_is_value_close(field, *pair) for pair in zip(old, new, strict=True))


def _values(field: FieldDescriptor, message: Message) -> Sequence[Any]:
    value = getattr(message, field.name)
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        is_set = field.is_repeated or message.HasField(field.name)
        return parts_of(field, value) if is_set else []
    return list(value) if field.is_repeated else [value]


def _is_value_close(field: FieldDescriptor, old: Any, new: Any) -> bool:  # noqa: ANN401 - what a field holds
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return are_close(old, new)
    if field.type in FLOATS:
        return math.isclose(old, new, rel_tol=0, abs_tol=TOLERANCE) or (math.isnan(old) and math.isnan(new))
    if field.type == FieldDescriptor.TYPE_STRING and old != new:
        return _is_text_close(old, new)
    return bool(old == new)


def _is_text_close(old: str, new: str) -> bool:
    """Compares words exactly; a decimal may differ by TOLERANCE, or by its last digit where rounding shows."""
    if _DECIMAL.split(old) != _DECIMAL.split(new):
        return False
    pairs = zip(_DECIMAL.findall(old), _DECIMAL.findall(new), strict=True)
    return all(abs(float(one) - float(other)) <= max(TOLERANCE, 1.01 * _last_digit(one)) for one, other in pairs)


def _last_digit(decimal: str) -> float:
    digits = decimal.partition(".")[2]
    return 0.0 if "e" in digits else 10.0 ** -len(digits)


def _lines(message_name: str, answer: Answer) -> Iterator[str]:
    yield f"{answer.code} {answer.message}"
    kind = message_class(message_name)
    for index, response in enumerate(answer.responses):
        yield f"response {index}"
        yield from text_format.MessageToString(kind.FromString(response), as_utf8=True).splitlines()
    yield "status"
    yield from text_format.MessageToString(status_pb2.Status.FromString(answer.details), as_utf8=True).splitlines()
