"""Enum numbers of requests as what they mean."""

from collections.abc import Mapping
from typing import TypeVar

from pipeline.errors import InvalidInputError

Meaning = TypeVar("Meaning")


def meaning_of(numbers: Mapping[Meaning, int], number: int, field: str) -> Meaning:
    """Looks an enum number up. Raises InvalidInputError: proto3 lets unknown numbers through."""
    for meaning, known in numbers.items():
        if known == number:
            return meaning
    raise InvalidInputError(field, "one of the numbers " + ", ".join(map(str, numbers.values())), str(number))
