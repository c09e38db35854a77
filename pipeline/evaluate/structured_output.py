"""Reads the summary out of a JSON answer, with the way back to the answer's own characters."""

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from pipeline.reading.characters import OffsetMap

SUMMARY_KEY = "summary"
_SEPARATOR = "\n\n"  # keeps the sentences of two strings apart


class InvalidJsonError(ValueError):
    """The text is not JSON. `position` is where reading stopped, in code points."""

    def __init__(self, problem: str, position: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.position = position


@dataclass(frozen=True, slots=True, eq=False)
class JsonString:
    """A string value of the answer, decoded.

    Attributes:
        key: of the object that holds it; None inside a list.
        depth: of containers around it; 1 for the outermost object.
        text: decoded.
        starts: for each character of `text`, where its spelling in the answer begins.
        ends: likewise, exclusive.
    """

    key: str | None
    depth: int
    text: str
    starts: "array[int]"
    ends: "array[int]"


def summary_strings(answer: str) -> list[JsonString]:
    """Returns the strings that make up the summary: the outermost value of "summary", or all string values in order.

    Raises:
        InvalidJsonError: the answer is not JSON (RFC 8259: no NaN, no code fence around it).
    """
    _check_json(answer)
    strings = list(_string_values(answer))
    named = [string for string in strings if string.depth == 1 and string.key == SUMMARY_KEY]
    return named[-1:] or strings  # of a repeated key, every JSON reader keeps the last


def join_strings(strings: Sequence[JsonString]) -> tuple[str, OffsetMap]:
    """Joins decoded strings into one text; what separates them maps to the last character of the one before."""
    filled = [string for string in strings if string.text]
    starts, ends = array("i"), array("i")
    for string in filled:
        starts.extend(starts[-1:] * len(_SEPARATOR))
        ends.extend(ends[-1:] * len(_SEPARATOR))
        starts.extend(string.starts)
        ends.extend(string.ends)
    offsets = OffsetMap(np.array(starts, dtype=np.int32), np.array(ends, dtype=np.int32))
    return _SEPARATOR.join(string.text for string in filled), offsets


def _check_json(answer: str) -> None:
    try:
        json.loads(answer, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InvalidJsonError(error.msg, error.pos) from error
    except RecursionError as error:
        raise InvalidJsonError("nested too deeply", 0) from error
    except ValueError as error:  # NaN, or an integer of thousands of digits
        raise InvalidJsonError(str(error), 0) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _string_values(answer: str) -> Iterator[JsonString]:
    """Walks over an answer that is known to be valid JSON."""
    keys: list[str | None] = []  # for each open container: its current key, None for a list
    is_object: list[bool] = []
    is_key = False
    at = 0
    while at < len(answer):
        match answer[at]:
            case "{" | "[" as opener:
                is_key = opener == "{"
                is_object.append(is_key)
                keys.append(None)
            case "}" | "]":
                is_object.pop()
                keys.pop()
            case ",":
                is_key = is_object[-1]
            case ":":
                is_key = False
            case '"':
                text, starts, ends = _decode(answer, at + 1)
                at = ends[-1] if ends else at + 1
                if is_key:
                    keys[-1] = text
                else:
                    yield JsonString(keys[-1] if keys else None, len(keys), text, starts, ends)
        at += 1


def _decode(answer: str, start: int) -> tuple[str, "array[int]", "array[int]"]:
    """Decodes the JSON string whose inside begins at `start`: its text, and where each character is spelled."""
    pieces: list[str] = []
    starts, ends = array("i"), array("i")
    while answer[start] != '"':
        end = start + _spelled_length(answer, start)
        piece = answer[start] if end == start + 1 else json.loads(f'"{answer[start:end]}"')
        pieces.append("\ufffd" if "\ud800" <= piece <= "\udfff" else piece)  # half of a pair
        starts.append(start)
        ends.append(end)
        start = end
    return "".join(pieces), starts, ends


def _spelled_length(answer: str, start: int) -> int:
    """Returns how many characters of a JSON string spell the one that begins at `start`."""
    if answer[start] != "\\":
        return 1
    if answer[start + 1] != "u":
        return 2
    unit, next_unit = answer[start : start + 6], answer[start + 6 : start + 12]
    is_pair = next_unit.startswith("\\u") and len(json.loads(f'"{unit}{next_unit}"')) == 1
    return 12 if is_pair else 6
