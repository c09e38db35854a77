"""What the scripted endpoint answers, from the request alone."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CHARS_PER_TOKEN = 4  # this endpoint's idea of a token


@dataclass(frozen=True, slots=True)
class Reply:
    """Answers `text` when `pattern`, a regular expression, is found in a message of the request."""

    pattern: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes into a completion."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


def answer(body: Mapping[str, Any], replies: Sequence[Reply], answer_chars: int) -> Answer:
    """Returns the first reply that fits; else an instance of the schema; else the end of the last message.

    An answer longer than the request's limit of tokens is cut, with finish_reason "length".
    """
    contents = [str(message["content"]) for message in body["messages"]]
    text = _text(contents, body, replies, answer_chars)
    limit = CHARS_PER_TOKEN * int(body.get("max_tokens") or body.get("max_completion_tokens") or 1_000_000)
    cut = text[:limit]
    return Answer(cut, "stop" if cut == text else "length", _tokens("".join(contents)), _tokens(cut))


def top_logprobs(text: str, count: int) -> dict[str, object]:
    """Makes alternatives for each word: the word itself and worse ones, their probabilities halving."""
    words = re.findall(r"\S+\s*", text)
    return {"content": [{"token": word, "logprob": math.log(0.5), **_alternatives(word, count)} for word in words]}


def _alternatives(word: str, count: int) -> dict[str, object]:
    tokens = [word, *(f"~{place}" for place in range(1, count))]
    return {
        "top_logprobs": [{"token": token, "logprob": -math.log(2) * (place + 1)} for place, token in enumerate(tokens)]
    }


def _text(contents: Sequence[str], body: Mapping[str, Any], replies: Sequence[Reply], answer_chars: int) -> str:
    for reply in replies:
        if any(re.search(reply.pattern, content) for content in contents):
            return reply.text
    tail = contents[-1][-answer_chars:].partition(" ")[2].strip() or contents[-1]
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if schema is not None:
        return json.dumps(instance(schema, tail))
    return tail


def instance(schema: Mapping[str, Any], words: str) -> object:
    """Makes the smallest value that fits a JSON schema of objects, arrays, enums and plain types."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: instance(part, f"{name} {words}") for name, part in schema.get("properties", {}).items()}
        case "array":
            return [instance(schema["items"], f"{place} {words}") for place in range(schema.get("minItems", 1))]
        case "string":
            return words[: schema.get("maxLength", 60)]
        case plain:
            return {"boolean": True, "null": None}.get(str(plain), schema.get("minimum", 0))


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)
