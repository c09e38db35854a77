import json

import pytest

from pipeline.llm.chat_model import ChatMessage
from pipeline.llm.completion import JsonProblemError, extract_json, repair_messages
from pipeline.llm.dialect import response_format, with_schema_prompt
from tests.unit.pipeline.llm.models import SCHEMA

GOOD = '{"topics": ["pumps", "valves"]}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Here are the topics:\n```\n{GOOD}\n```\nAnything else?",
        f"Topics: {GOOD} I hope this helps.",
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
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5_000, "thousands of digits"),
        ("[" + "9" * 5_000 + "]", "thousands of digits"),
        ('{"topics": ["pumps"]}', r"\$\.topics breaks the rule minItems: 2"),
        ('{"topics": ["pumps", 3]}', r"\$\.topics\[1\] breaks the rule type"),
        ("{}", "required"),
        ('{"topics": ["a", "b"], "more": 1}', "additionalProperties"),
    ],
)
def test_the_problem_names_path_and_rule(text: str, problem: str) -> None:
    with pytest.raises(JsonProblemError, match=problem):
        extract_json(text, SCHEMA)


def test_a_problem_never_repeats_the_answer() -> None:
    with pytest.raises(JsonProblemError) as caught:
        extract_json('{"topics": ["confidential"]}', SCHEMA)
    assert "confidential" not in str(caught.value)


def test_only_a_closed_schema_is_enforced_strictly() -> None:
    assert response_format(SCHEMA)["json_schema"]["strict"] is True
    assert response_format({**SCHEMA, "required": []})["json_schema"]["strict"] is False
    inner = {
        "type": "object",
        "properties": {"a": {"type": "object"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert response_format(inner)["json_schema"]["strict"] is False


def test_the_schema_is_named_by_its_title() -> None:
    assert response_format({"title": "Key topics", "type": "object"})["json_schema"]["name"] == "Key_topics"


def test_the_schema_goes_into_the_system_message() -> None:
    asked = with_schema_prompt((ChatMessage("system", "Be brief."), ChatMessage("user", "Topics?")), SCHEMA)
    assert [message.role for message in asked] == ["system", "user"]
    assert asked[0].content.startswith("Be brief.")
    assert json.dumps(SCHEMA) in asked[0].content


def test_without_a_system_message_there_is_one_then() -> None:
    asked = with_schema_prompt((ChatMessage("user", "Topics?"),), SCHEMA)
    assert [message.role for message in asked] == ["system", "user"]


def test_a_repair_shows_the_answer_and_its_problem() -> None:
    asked = repair_messages((ChatMessage("user", "Topics?"),), "pumps", "no JSON")
    assert [message.role for message in asked] == ["user", "assistant", "user"]
    assert asked[1].content == "pumps"
    assert "no JSON" in asked[2].content
