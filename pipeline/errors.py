"""What can go wrong while a text is processed.

    PipelineError
    ├── InvalidInputError    the caller's input breaks a rule; says which field, what was expected and what was there
    └── ModelOutputError     a model returned something that is no answer to what was asked

Messages of `InvalidInputError` may reach the caller: they name fields and numbers, never the text itself. Pydantic's
verdict on outside data becomes one.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError


def needs_extra(extra: str) -> str:
    """Says what to do where an optional part of Precis is not installed."""
    return f"needs the extra {extra}: `scripts/setup {extra}`, or `pip install '.[{extra}]' ./protos`, in a checkout"


class PipelineError(Exception):
    """Base of all errors of this package."""


class InvalidInputError(PipelineError):
    """One field of the input breaks a rule.

    Attributes:
        field: path of the field, for example `datum.summary.key_facts[3]`.
        expected: what would have been right, for example "10 to 20 facts, or none".
        got: what was there instead, for example "9 facts"; never the caller's text.
    """

    def __init__(self, field: str, expected: str, got: str) -> None:
        super().__init__(f"{field}: expected {expected}, got {got}")
        self.field = field
        self.expected = expected
        self.got = got

    def at(self, field: str) -> "InvalidInputError":
        """Returns the same of the field as the caller knows it."""
        return InvalidInputError(field, self.expected, self.got)


class ModelOutputError(PipelineError):
    """A model's answer has the wrong shape or holds values that are no numbers. This is a bug or a broken model."""


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
