"""JSON bodies: values that no client of ours sends, and the field to blame for what protobuf cannot read."""

import json

import orjson
import pytest
from google.protobuf.message import Message
from precis.v1 import judge_pb2, synthesis_pb2

from server.errors import InvalidRequestError
from server.http import json_messages
from server.http.json_messages import MAX_EXPLAINED_VALUES, MAX_VALUES, parse_object, to_message


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
    monkeypatch.delattr(orjson, "loads")
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


FRAMEWORKS = "JUDGE_FRAMEWORK_TWIN_LOCK, JUDGE_FRAMEWORK_JUDGE_LOCK, JUDGE_FRAMEWORK_ULTRA"


def blamed(body: str, message_type: type[Message] = judge_pb2.JudgeRequest) -> tuple[str, str]:
    """Returns field and description of the one violation."""
    with pytest.raises(InvalidRequestError) as caught:
        to_message(body.encode(), message_type)
    [violation] = caught.value.violations
    return violation.field, violation.description.removeprefix("expected ")


@pytest.mark.parametrize(
    ("body", "field", "expected"),
    [
        ('{"options": {"eta": "x"}}', "options.eta", 'a finite number, or "NaN" or "Infinity" in quotes'),
        ('{"options": {"max_claims": 1.5}}', "options.max_claims", "a whole number in the range of its type"),
        ('{"options": {"useLanguageModel": "yes"}}', "options.useLanguageModel", "true or false"),
        (
            '{"options": {"maxClaims": 1, "max_claims": 2}}',
            "options.max_claims",
            "only one of maxClaims and max_claims",
        ),
        ('{"options": {"maxx": 1}}', "options.maxx", "a field of the contract"),
        ('{"options": 5}', "options", "an object"),
        ('{"frameworks": ["FOO"]}', "frameworks[0]", f"one of {FRAMEWORKS}"),
        ('{"frameworks": [1, 2, 1e99, "FOO"]}', "frameworks[2]", f"one of {FRAMEWORKS}"),
        ('{"frameworks": [1, null]}', "frameworks[1]", f"one of {FRAMEWORKS}"),
        ('{"frameworks": 1}', "frameworks", "a list"),
        ('{"tool_scores": [{}, {"mapping": {"b2": []}}]}', "tool_scores[1].mapping.b2", "a finite number"),
        ('{"tool_scores": [{}, 1]}', "tool_scores[1]", "an object"),
        ('{"tool_scores": {}}', "tool_scores", "a list"),
        ('{"sümmary": 1}', r"s\xfcmmary", "a field of the contract"),
    ],
)
def test_a_wrong_value_is_named_with_its_path(body: str, field: str, expected: str) -> None:
    found, description = blamed(body)
    assert (found, description[: len(expected)]) == (field, expected)


@pytest.mark.parametrize(
    ("body", "field"),
    [('{"scope": {"name": "Global", "objects": {}}}', "scope.objects"), ('{"images": ["aaaa", 5]}', "images[1]")],
)
def test_choices_and_bytes_are_named_too(body: str, field: str) -> None:
    assert blamed(body, synthesis_pb2.AssessRequest)[0] == field


@pytest.mark.parametrize("index", [0, 1, 4_999, 9_998, 9_999])
def test_the_first_wrong_value_of_a_long_list_is_found(index: int) -> None:
    values: list[object] = [1] * 10_000
    values[index:] = ["FOO"] * (len(values) - index)
    assert blamed(json.dumps({"frameworks": values}))[0] == f"frameworks[{index}]"


def test_of_very_many_values_none_is_looked_for() -> None:
    body = json.dumps({"frameworks": [1] * MAX_EXPLAINED_VALUES + ["FOO"]})
    assert blamed(body) == ("body", "a precis.v1.JudgeRequest as JSON")


NO_JSON = ["", "[]", '{"source": ' + "9" * 5_000 + "}", "[" * 100_000, '{"a": }', '{"a": NaN}', r'{"a": "\ud800"}']


@pytest.mark.parametrize("body", NO_JSON)
def test_what_is_no_json_object_is_the_fault_of_the_body(body: str) -> None:
    field, description = blamed(body)
    assert (field, "JSON" in description) == ("body", True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be", "latin-1", "utf-8-sig"])
def test_what_is_not_utf_8_is_refused_before_it_is_looked_at(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_messages, "_TOKEN", None)  # a byte of U+2201 would be a quote to it
    body = ('{"texts": ["é' + "\u2201" * encoding.startswith("utf") + '", ' + "[]," * MAX_VALUES + "[]]}").encode(
        encoding
    )
    body = body if b"\0" in body else body[: MAX_VALUES - 1]
    with pytest.raises(InvalidRequestError, match="expected JSON in UTF-8"):
        parse_object(body)
