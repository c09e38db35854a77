"""Pydantic's verdict on outside data, as our one kind of error."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pipeline.errors import InvalidInputError

Model = TypeVar("Model", bound=BaseModel)


def parse(model: type[Model], data: Mapping[str, Any], field: str) -> Model:
    """Builds a model from plain data, such as a parsed JSON file or a request.

    Args:
        model: the class to build.
        data: its fields.
        field: path of `data` in the request; errors name fields below it.

    Raises:
        InvalidInputError: for the first rule that is broken.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise to_invalid_input(error, field) from error


def to_invalid_input(error: ValidationError, field: str) -> InvalidInputError:
    """Names the first broken field, what was expected and what was there; of texts only the length."""
    first = error.errors(include_url=False, include_context=False)[0]
    path = field + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    if first["type"] == "missing":
        return InvalidInputError(path.lstrip("."), "a value", "nothing")
    if first["type"] == "extra_forbidden":
        return InvalidInputError(path.lstrip("."), "no such field", "one")
    message = first["msg"].removeprefix("Value error, ").removeprefix("expected ").removeprefix("Input should be ")
    expected, separator, got = message.partition(", got ")
    return InvalidInputError(path.lstrip("."), expected, got if separator else _describe(first["input"]))


def _describe(value: object) -> str:
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str | bytes | list | tuple):
        return f"{type(value).__name__} of length {len(value)}"
    return type(value).__name__
