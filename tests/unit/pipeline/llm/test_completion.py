"""Answers as endpoints send them, and the JSON inside."""

import json
from typing import Any

import pytest

from pipeline.llm.chat_model import ChatMessage, Completion, LlmUsage, TokenLogprobs
from pipeline.llm.completion import JsonProblemError, extract_json, parse_completion
from pipeline.llm.dialect import response_format, with_schema_prompt
from pipeline.llm.errors import EmptyAnswerError, UnreadableAnswerError
from tests.unit.pipeline.llm.models import SCHEMA

LOGPROBS = {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": [{"token": "yes", "logprob": -0.1}]}]}


def answer(content: str | None = "Twelve bar.", **choice: object) -> dict[str, Any]:
    return {
        "model": "served-name",
        "choices": [{"message": {"content": content}, "finish_reason": "stop", **choice}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3},
    }


def parse(value: object) -> Completion:
    return parse_completion(json.dumps(value).encode(), "application/json; charset=utf-8")


def stream(*events: object, end: str = "data: [DONE]\n\n") -> bytes:
    lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return f": keep-alive\n\nevent: message\n{lines}{end}".encode()


def delta(content: str | None, finish_reason: str | None = None, **more: object) -> dict[str, Any]:
    return {"model": "m", "choices": [{"delta": {"content": content}, "finish_reason": finish_reason, **more}]}


def test_a_completion_is_read_whole() -> None:
    assert parse(answer(logprobs=LOGPROBS)) == Completion(
        text="Twelve bar.",
        finish_reason="stop",
        usage=LlmUsage(1, 11, 3),
        model="served-name",
        top_logprobs=(TokenLogprobs((("yes", -0.1),), "yes"),),
    )


def test_what_is_missing_is_left_open_and_thoughts_before_the_answer_are_left_out() -> None:
    completion = parse({"choices": [{"message": {"content": "ok"}}]})
    assert (completion.finish_reason, completion.usage.prompt_tokens, completion.model) == ("stop", 0, "")
    assert parse(answer("<think>\nHm, pressure.\n</think>\n\nTwelve bar.")).text == "Twelve bar."


@pytest.mark.parametrize("content", [None, "", " \n", "<think>only thoughts</think>"])
def test_an_answer_without_text_is_an_error(content: str | None) -> None:
    with pytest.raises(EmptyAnswerError, match="empty"):
        parse(answer(content))


def test_an_empty_answer_that_ran_out_of_tokens_says_what_to_do() -> None:
    with pytest.raises(EmptyAnswerError, match="allow more"):
        parse(answer("", finish_reason="length"))


@pytest.mark.parametrize("value", [[], {}, {"choices": []}, None, "text", {"choices": None}])
def test_json_of_another_shape_is_unreadable(value: object) -> None:
    with pytest.raises(UnreadableAnswerError, match="no whole completion"):
        parse(value)


def test_a_web_page_is_told_apart_and_not_quoted() -> None:
    with pytest.raises(UnreadableAnswerError, match="web page") as caught:
        parse_completion(b"<html>secret page</html>", "text/html")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_prefix_of_an_answer_is_taken_for_the_answer() -> None:
    whole = json.dumps(answer()).encode()
    for length in range(len(whole)):
        with pytest.raises(UnreadableAnswerError):
            parse_completion(whole[:length], "application/json")


def test_a_stream_is_put_together() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}
    body = stream(delta("Twelve"), delta(" bar.", logprobs=LOGPROBS), delta(None, "length"), usage)
    assert parse_completion(body, "text/event-stream") == Completion(
        text="Twelve bar.",
        finish_reason="length",
        usage=LlmUsage(1, 4, 2),
        model="m",
        top_logprobs=(TokenLogprobs((("yes", -0.1),), "yes"),),
    )


def test_half_a_stream_is_unreadable() -> None:
    with pytest.raises(UnreadableAnswerError):
        parse_completion(stream(delta("Twelve"), end=""), "text/event-stream")


def test_a_stream_without_the_final_mark_is_whole_when_it_has_a_finish_reason() -> None:
    assert parse_completion(stream(delta("ok", "stop"), end=""), "text/event-stream").text == "ok"


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(answer("Twelve\ud800 bar.")),
        json.dumps({**answer(), "model": "\ud83d"}),
        json.dumps({**answer(), "usage": {"prompt_tokens": 10**29}}),
        json.dumps({**answer(), "usage": {"completion_tokens": -1}}),
        json.dumps({**answer(), "usage": {"prompt_tokens": [3]}}),
        json.dumps({**answer(), "usage": "many"}),
        json.dumps(answer()).replace("11", "1e400"),
        json.dumps(answer()).replace("11", "NaN"),
        json.dumps(answer(logprobs={"content": [{"top_logprobs": [{"token": None}]}]})),
        json.dumps(answer(finish_reason={"type": "stop"})),
        json.dumps({"code": 200, "data": answer()}),
        json.dumps([answer()]) + "\0",
        json.dumps(answer()) + '\n{"status": "ok"}',
    ],
    ids=range(13),
)
def test_what_is_odd_beside_a_text_loses_no_text(body: str) -> None:
    assert parse_completion(body.encode(), "application/json").text == "Twelve bar."


@pytest.mark.parametrize("reason", ["error", "abort", "insufficient_system_resource"])
def test_a_text_that_an_endpoint_broke_off_is_none(reason: str) -> None:
    with pytest.raises(UnreadableAnswerError, match="broke off"):
        parse(answer(finish_reason=reason))


GOOD = '{"topics": ["pumps", "valves"]}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Here are the topics:\n```\n{GOOD}\n```\nAnything else?",
        f"Topics: {GOOD} I hope this helps.",
        f"[{GOOD}]",
        f'{{"type": "object", "properties": {GOOD}}}',
        f"{GOOD[:-1]}, // all of them\n}}",
        f'{GOOD[:-1]}, "confidence": NaN}}',
        f'Perhaps {{"topics": ["one"]}}? No: {GOOD}',
    ],
)
def test_json_is_found_in_what_models_put_around_it(text: str) -> None:
    assert json.loads(extract_json(text, SCHEMA)) == {"topics": ["pumps", "valves"]}


def test_a_plain_value_may_hold_brackets() -> None:
    assert json.loads(extract_json('"use {x}"', {"type": "string"})) == "use {x}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no topics here", "no JSON"),
        ("", "no JSON"),
        (GOOD[:-5], "no JSON"),
        ("[" * 100_000, "recursion"),
        ("9" * 5_000, "digits"),
        ("[" + "9" * 5_000 + "]", "digits"),
        ('{"topics": ["pumps"]}', r"\$\.topics breaks the rule minItems: 2"),
        ('{"topics": ["pumps", 3]}', r"\$\.topics\[1\] breaks the rule type"),
        ("{}", "required"),
    ],
)
def test_the_problem_names_path_and_rule(text: str, problem: str) -> None:
    with pytest.raises(JsonProblemError, match=problem):
        extract_json(text, SCHEMA)


@pytest.mark.parametrize(
    ("schema", "is_strict"),
    [
        (SCHEMA, True),
        ({**SCHEMA, "required": []}, False),
        ({**SCHEMA, "properties": {"topics": {"type": "object"}}}, False),
    ],
)
def test_only_a_closed_schema_is_enforced_strictly(schema: dict[str, object], *, is_strict: bool) -> None:
    assert response_format({"title": "Key topics", **schema})["json_schema"]["strict"] is is_strict
    assert response_format({"title": "Key topics", **schema})["json_schema"]["name"] == "Key_topics"
    asked = with_schema_prompt((ChatMessage("user", "Topics?"),), schema)
    assert [message.role for message in asked] == ["system", "user"]  # there was none before
