"""Checks that a message says the same as a dataclass, field by field, so that a new or swapped field is noticed."""

import dataclasses
import itertools
import types
import typing
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from pipeline.reading.passage import TextSpan

Names = Mapping[type, Mapping[str, str]]
"""For some dataclasses: names of fields that the message spells differently; "" for those that it leaves out."""

T = TypeVar("T")


def filled(kind: type[T]) -> T:
    """Makes an instance in which no two numbers or texts are alike, nothing is None, and every tuple has two items."""
    made = _made(kind, itertools.count(1), "")
    assert isinstance(made, kind)
    return made


def assert_mirrors(value: Any, message: Message, names: Names) -> None:  # noqa: ANN401 - any dataclass
    """Compares all fields of both sides, however deep."""
    renames = names.get(type(value), {})
    expected = {
        renames.get(field.name, field.name): getattr(value, field.name)
        for field in dataclasses.fields(value)
        if renames.get(field.name) != ""
    }
    assert set(expected) == set(message.DESCRIPTOR.fields_by_name), type(value).__name__
    for name, part in expected.items():
        field = message.DESCRIPTOR.fields_by_name[name]
        got = getattr(message, name)
        if field.is_repeated:
            parts: Iterable[Any] = part
            for one, other in zip(parts, got, strict=True):
                _assert_same(one, other, field, names)
        elif part is None:
            assert not message.HasField(name), name
        else:
            _assert_same(part, got, field, names)


def _assert_same(part: Any, got: Any, field: Any, names: Names) -> None:  # noqa: ANN401
    if isinstance(part, TextSpan):
        assert (got.text_id, got.start, got.end, got.text) == (part.text_id, part.start, part.end, part.quote)
    elif isinstance(part, Enum):
        assert field.enum_type.values_by_number[got].name.endswith(f"_{part.name}"), field.full_name
    elif isinstance(got, Duration):
        assert got.ToMicroseconds() == round(part * 1000), field.full_name
    elif dataclasses.is_dataclass(part):
        assert_mirrors(part, got, names)
    else:
        assert got == part, field.full_name


def _made(kind: Any, numbers: "itertools.count[int]", name: str) -> Any:  # noqa: ANN401, PLR0911 - one line for each kind
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return tuple(_made(arguments[0], numbers, name) for _ in range(2))
    if origin in (types.UnionType, typing.Union):
        return _made(next(one for one in arguments if one is not type(None)), numbers, name)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)[next(numbers) % len(kind)]
    if kind is bool:
        return True
    if kind in (int, float):
        return kind(next(numbers))
    if kind is str:
        return f"{name}-{next(numbers)}"
    hints = typing.get_type_hints(kind)
    return kind(**{field.name: _made(hints[field.name], numbers, field.name) for field in dataclasses.fields(kind)})
