"""Makes instances of dataclasses and named tuples in which a swapped field is noticed."""

import itertools
import types
import typing
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")


def filled(kind: type[T]) -> T:
    """Makes an instance in which no two numbers or texts are alike, nothing is None, and every tuple has two items."""
    made = _made(kind, itertools.count(1), "")
    assert isinstance(made, kind)
    return made


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
    return kind(**{field: _made(hint, numbers, field) for field, hint in typing.get_type_hints(kind).items()})
