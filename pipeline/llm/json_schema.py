"""Answers in JSON: how they are asked for, read, and corrected."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import jsonschema

from pipeline.llm.chat_model import ChatMessage

Schema = Mapping[str, Any]

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_MAX_RULE_CHARS = 200


class JsonProblemError(Exception):
    """An answer is not the JSON asked for. Its message names paths and rules, never the answer's own words."""


def response_format(schema: Schema) -> dict[str, Any]:
    """Returns the field that makes an endpoint enforce a schema."""
    name = re.sub(r"\W+", "_", str(schema.get("title") or "answer"))[:64]
    # OpenAI refuses strict mode for a schema that leaves anything open.
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": _is_closed(schema)}}


def with_schema_prompt(messages: tuple[ChatMessage, ...], schema: Schema) -> tuple[ChatMessage, ...]:
    """Says in the system message what an endpoint cannot be made to enforce."""
    words = f"Answer with one JSON value and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"
    if messages and messages[0].role == "system":
        return (ChatMessage("system", f"{messages[0].content}\n\n{words}"), *messages[1:])
    return (ChatMessage("system", words), *messages)


def repair_messages(messages: tuple[ChatMessage, ...], answer: str, problem: str) -> tuple[ChatMessage, ...]:
    """Asks again, with the wrong answer and what is wrong with it."""
    words = (
        f"This is not the JSON that was asked for: {problem}. Answer again with the corrected JSON and nothing else."
    )
    return (*messages, ChatMessage("assistant", answer), ChatMessage("user", words))


def extract_json(text: str, schema: Schema) -> str:
    """Returns the JSON in an answer, without what models like to put around it.

    Raises:
        JsonProblemError: there is none, or it does not fit the schema.
    """
    fenced = _FENCE.search(text)
    body = (fenced.group(1) if fenced else text).strip()
    start = next((at for at, character in enumerate(body) if character in "{["), 0)
    try:
        value, end = _decode(body, 0, start)
    except json.JSONDecodeError as error:
        raise JsonProblemError(f"no JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:  # "[[[[..."
        raise JsonProblemError("no JSON: it is nested too deeply") from None
    _check(value, schema)
    return body[:end] if end == len(body) and start == 0 else json.dumps(value, ensure_ascii=False)


def _decode(body: str, *starts: int) -> tuple[object, int]:
    """Reads a JSON value that begins at the first of some places where one does."""
    for start in starts[:-1]:
        with suppress(json.JSONDecodeError):
            return json.JSONDecoder().raw_decode(body, start)
    return json.JSONDecoder().raw_decode(body, starts[-1])


def _check(value: object, schema: Schema) -> None:
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        rule = f"{error.validator}: {json.dumps(error.validator_value)}"[:_MAX_RULE_CHARS]
        raise JsonProblemError(f"{error.json_path} breaks the rule {rule}")


def _is_closed(schema: object) -> bool:
    """Tells whether every object of a schema lists all its properties as required and allows no others."""
    if isinstance(schema, list):
        return all(_is_closed(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
            return False
    return all(_is_closed(part) for part in schema.values())
