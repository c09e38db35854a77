"""Reads the summary out of a JSON answer, with the way back to the answer's own characters."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from pipeline.reading.characters import OffsetMap

SUMMARY_KEY = "summary"
_SEPARATOR = "\n\n"  # keeps the sentences of two strings apart
# How a JSON string spells one character: by two halves of a pair, by its number, by an escape, as it is.
_SPELLED = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, eq=False)
class JsonString:
    """A string value of the answer, decoded."""

    key: str | None  # of the object that holds it; None inside a list
    depth: int  # of containers around it; 1 for the outermost object
    text: str  # decoded
    spelled: Sequence[tuple[int, int]]  # start and end of the spelling of each character of `text` in the answer


def summary_strings(answer: str) -> list[JsonString]:
    """Returns the strings that make up the summary: the outermost value of "summary", or all string values in order.

    Raises json.JSONDecodeError: the answer is not JSON (RFC 8259: no NaN, no code fence around it).
    """
    _check_json(answer)
    strings = list(_string_values(answer))
    named = [string for string in strings if string.depth == 1 and string.key == SUMMARY_KEY]
    return named[-1:] or strings  # of a repeated key, every JSON reader keeps the last


def join_strings(strings: Sequence[JsonString]) -> tuple[str, OffsetMap]:
    """Joins decoded strings into one text; what separates them maps to the last character of the one before."""
    filled = [string for string in strings if string.text]
    spelled: list[tuple[int, int]] = []
    for string in filled:
        spelled += (*spelled[-1:] * len(_SEPARATOR), *string.spelled)
    starts, ends = np.array(spelled, dtype=np.int32).reshape(-1, 2).T
    return _SEPARATOR.join(string.text for string in filled), OffsetMap(starts, ends)


def _check_json(answer: str) -> None:
    try:
        json.loads(answer, parse_constant=_refuse_constant)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise json.JSONDecodeError("nested too deeply", answer, 0) from error
    except ValueError as error:  # NaN, or an integer of thousands of digits
        raise json.JSONDecodeError(str(error), answer, 0) from error


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
                text, end = _DECODER.raw_decode(answer, at)
                if is_key:
                    keys[-1] = text
                else:
                    spelled = [match.span() for match in _SPELLED.finditer(answer, at + 1, end - 1)]
                    # A half of a pair is no character.
                    whole = "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in text)
                    yield JsonString(keys[-1] if keys else None, len(keys), whole, spelled)
                at = end - 1
        at += 1
