"""Reads the summary out of a JSON answer, with the way back to the answer's own characters."""

import json
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from pipeline.reading.characters import OffsetMap

SUMMARY_KEY = "summary"
_SEPARATOR = "\n\n"  # keeps the sentences of two strings apart

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},:]')
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


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
        offsets: back to the answer's characters.
    """

    key: str | None
    depth: int
    text: str
    offsets: OffsetMap


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
        if starts:
            starts.extend([starts[-1]] * len(_SEPARATOR))
            ends.extend([ends[-1]] * len(_SEPARATOR))
        spans = [string.offsets.to_original(index, index + 1) for index in range(len(string.text))]
        starts.extend(start for start, _ in spans)
        ends.extend(end for _, end in spans)
    return _SEPARATOR.join(string.text for string in filled), _offset_map(starts, ends)


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
    for token in _TOKEN.finditer(answer):
        match token.group()[0]:
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
            case _ if is_key:
                keys[-1] = json.loads(token.group())
            case _:
                text, offsets = _decode(answer, token.start() + 1, token.end() - 1)
                yield JsonString(keys[-1] if keys else None, len(keys), text, offsets)


def _decode(answer: str, start: int, end: int) -> tuple[str, OffsetMap]:
    """Decodes the inside of a JSON string, character by character only where there are escapes."""
    pieces: list[str] = []
    starts, ends = array("i"), array("i")
    position = start
    for escape in _ESCAPE.finditer(answer, start, end):
        pieces.append(answer[position : escape.start()])
        starts.extend(range(position, escape.start()))
        ends.extend(range(position + 1, escape.start() + 1))
        pieces.append(_LONE_SURROGATE.sub("\ufffd", json.loads(f'"{escape.group()}"')))
        starts.append(escape.start())
        ends.append(escape.end())
        position = escape.end()
    pieces.append(answer[position:end])
    starts.extend(range(position, end))
    ends.extend(range(position + 1, end + 1))
    return "".join(pieces), _offset_map(starts, ends)


def _offset_map(starts: "array[int]", ends: "array[int]") -> OffsetMap:
    return OffsetMap(np.array(starts, dtype=np.int32), np.array(ends, dtype=np.int32))
