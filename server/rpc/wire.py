"""Finds the field that makes a message unreadable.

Protobuf refuses a `string` that is not UTF-8 without saying which, and gRPC would turn that into INTERNAL. Here the
bytes become a `MalformedRequest` instead, which ends as INVALID_ARGUMENT with the field's path. The bytes are walked
only after the parser has failed, so good requests pay nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

from server.errors import FieldViolation, InvalidRequestError

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MalformedRequest:
    """Stands for a request that the protobuf parser refused."""

    violation: FieldViolation  # the field to blame, as far as it could be found
    # single string fields of the top level that could be read, so that an item of a stream can be answered by its id
    strings: Mapping[str, str]


def readable(request: T | MalformedRequest) -> T:
    """Returns a request that could be parsed. Raises InvalidRequestError."""
    if isinstance(request, MalformedRequest):
        raise InvalidRequestError([request.violation])
    return request


NO_LIMIT = 1 << 31  # bytes
MOST_FIELDS = 100_000
"""Of a message, its parts and the items of its lists: each costs memory, and time in which nobody else is served."""

_SMALL = 1 << 16  # bytes that are parsed faster than counted


def tolerant(
    parse: Callable[[bytes], Message], message_type: type[Message], max_bytes: int = NO_LIMIT
) -> Callable[[bytes], Message | MalformedRequest]:
    """Wraps a message's parser so that it answers MalformedRequest where it would raise, and for too large messages."""
    descriptor: Any = message_type.DESCRIPTOR

    def deserialize(data: bytes) -> Message | MalformedRequest:
        if len(data) > _SMALL and (violation := _too_large(data, descriptor, max_bytes)):
            return MalformedRequest(violation, {})
        try:
            return parse(data)
        except DecodeError:
            return explain(data, descriptor)

    return deserialize


def _too_large(data: bytes, descriptor: Descriptor, max_bytes: int) -> FieldViolation | None:
    """Says what of a message is too much, and blames its largest part. Looks at no more fields than are allowed."""
    counts: dict[int, int] = {}
    largest, blamed = -1, ""
    budget = _Budget()
    try:
        for number, value in _length_delimited(data, budget):
            field = descriptor.fields_by_number.get(number)
            name = field.name if field else ""
            budget.path[:] = [name]
            at = counts.get(number, 0)
            counts[number] = at + 1
            if len(value) > largest:
                largest, blamed = len(value), f"{name}[{at}]" if field and field.is_repeated else name
            if field:
                _spend(value, field, budget, 1)
                del budget.path[1:]
    except _TooManyFieldsError:
        path = ".".join(filter(None, budget.path))
        return FieldViolation(path, f"expected at most {MOST_FIELDS} fields and items in one message, got more")
    except _UnreadableError:  # the parser would take a group, which no message of ours has
        return FieldViolation("", _expected(descriptor))
    if len(data) <= max_bytes:
        return None
    mib = 1 << 20
    expected = f"expected at most {max_bytes / mib:g} MiB in one message, got {len(data) / mib:.1f}"
    return FieldViolation(blamed, expected)


def _spend(value: bytes, field: FieldDescriptor, budget: "_Budget", depth: int) -> None:
    """Counts the fields and items inside a field, at a depth of the budget's path. Raises _UnreadableError."""
    if (descriptor := field.message_type) is not None:
        if not _holds_parts(descriptor):
            return
        del budget.path[depth:]
        for number, part in _length_delimited(value, budget):
            inner = descriptor.fields_by_number.get(number)
            budget.path[depth:] = [inner.name if inner else ""]
            if inner:
                _spend(part, inner, budget, depth + 1)
                del budget.path[depth + 1 :]
    elif field.is_repeated and field.type not in _LENGTH_TYPES:
        budget.spend(len(value) // _PACKED_BYTES.get(field.type, 1))


@cache
def _holds_parts(descriptor: Descriptor) -> bool:
    """Tells whether a message has lists or messages; what else repeats in it, the parser drops."""
    return any(field.is_repeated or field.type == FieldDescriptor.TYPE_MESSAGE for field in descriptor.fields)


_LENGTH_TYPES = {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES}
_PACKED_BYTES = {
    **dict.fromkeys((FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_SFIXED32), 4),
    **dict.fromkeys((FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FIXED64, FieldDescriptor.TYPE_SFIXED64), 8),
}


def explain(data: bytes, descriptor: Descriptor) -> MalformedRequest:
    """Finds out why `data` is no message of this type."""
    strings = {}
    violation = None
    try:
        for path, field, value in _leaves(data, descriptor, "", _Budget()):
            try:
                text = value.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"expected UTF-8, got an invalid byte at offset {error.start}"
                violation = violation or FieldViolation(path, found)
            else:
                if path == field.name:
                    strings[path] = text
    except _UnreadableError:
        pass  # what came before the unreadable part still counts
    return MalformedRequest(violation or FieldViolation("", _expected(descriptor)), strings)


def _expected(descriptor: Descriptor) -> str:
    return f"expected the bytes of a {descriptor.full_name}, got something else"


class _UnreadableError(Exception):
    """The bytes are no protobuf at all."""


class _TooManyFieldsError(_UnreadableError):
    """There are more than anybody shall look at."""


class _Budget:
    """How many fields may be looked at, and the path to the last one."""

    def __init__(self) -> None:
        self._left = MOST_FIELDS
        self.path: list[str] = []

    def spend(self, count: int) -> None:
        """Takes some. Raises _TooManyFieldsError."""
        self._left -= count
        if self._left < 0:
            raise _TooManyFieldsError


def _leaves(
    data: bytes, descriptor: Descriptor, prefix: str, budget: _Budget
) -> Iterator[tuple[str, FieldDescriptor, bytes]]:
    """Yields path, field and bytes of every string, in wire order, nested messages included."""
    counts: dict[int, int] = {}
    for number, value in _length_delimited(data, budget):
        field = descriptor.fields_by_number.get(number)
        if field is None:
            continue
        path = f"{prefix}{field.name}"
        if field.is_repeated:
            path = f"{path}[{counts.setdefault(number, 0)}]"
            counts[number] += 1
        if field.type == FieldDescriptor.TYPE_STRING:
            yield path, field, value
        elif field.message_type is not None:
            yield from _leaves(value, field.message_type, f"{path}.", budget)


def _length_delimited(data: bytes, budget: _Budget) -> Iterator[tuple[int, bytes]]:
    """Yields number and bytes of the fields that have a length; counts the others."""
    at = 0
    while at < len(data):
        budget.spend(1)
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            _, at = _varint(data, at)
        elif kind == _LENGTH:
            size, at = _varint(data, at)
            if at + size > len(data):
                raise _UnreadableError
            yield number, data[at : at + size]
            at += size
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        else:
            raise _UnreadableError


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Reads a base-128 number; returns it and the offset behind it."""
    if at < len(data) and data[at] < 0x80:  # noqa: PLR2004  most are of one byte
        return data[at], at + 1
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        if at + index >= len(data):
            break
        byte = data[at + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:  # noqa: PLR2004  the high bit says that more bytes follow
            return value, at + index + 1
    raise _UnreadableError
