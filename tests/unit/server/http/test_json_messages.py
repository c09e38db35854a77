"""JSON bodies that no client of ours sends: very many values, numbers that nothing holds."""

import json

import pytest
from precis.v1 import judge_pb2

from server.errors import InvalidRequestError
from server.http.json_messages import MAX_VALUES, parse_object, to_message


@pytest.mark.parametrize(
    "body",
    [
        b'{"source": [' + b"1," * (3 * MAX_VALUES) + b"1]}",
        b"[" * (4 * MAX_VALUES),
        b"{" + b'"":"",' * (2 * MAX_VALUES) + b'"a": 1}',
    ],
    ids=["numbers", "lists", "names"],
)
def test_very_many_values_are_refused_without_being_built(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(json, "loads")
    with pytest.raises(InvalidRequestError, match="at most 500,000 values"):
        parse_object(body)


@pytest.mark.parametrize(
    "text", ['"Hello", she said; [a, b], {c}. ' * MAX_VALUES, "\\" * MAX_VALUES, "," * 4 * MAX_VALUES]
)
def test_a_long_text_is_one_value_whatever_stands_in_it(text: str) -> None:
    assert parse_object(json.dumps({"source": text}).encode()) == {"source": text}


@pytest.mark.parametrize("end", [b'\\"' * MAX_VALUES, b"\\" * (2 * MAX_VALUES + 1)], ids=["quotes", "backslashes"])
def test_a_text_without_an_end_is_read_once(end: bytes) -> None:
    with pytest.raises(InvalidRequestError, match="expected JSON"):
        parse_object(b'{"source": "' + end)


@pytest.mark.parametrize("body", [b'{"frameworks": [1e400]}', b'{"priority": -1e400}', rb'{"priority": "\ud800"}'])
def test_a_value_that_no_field_holds_is_the_callers_mistake(body: bytes) -> None:
    with pytest.raises(InvalidRequestError):
        to_message(body, judge_pb2.JudgeRequest)
