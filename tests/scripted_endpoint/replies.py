"""What the scripted endpoint answers, from the request alone."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CHARS_PER_TOKEN = 4  # this endpoint's idea of a token


@dataclass(frozen=True, slots=True)
class Reply:
    """Answers `text` when `pattern`, a regular expression, is found in a message of the request."""

    pattern: str  # searched in the text of each message
    text: str  # the answer
    # probabilities of the tokens that stand where `text` has its first key of these; for logprobs
    choices: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes into a completion."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    choices: Mapping[str, float] = field(default_factory=dict)


Author = Callable[[str, int], str]
"""Answers the last message in as many tokens."""


def answer(
    body: Mapping[str, Any], replies: Sequence[Reply], answer_chars: int, author: Author | None = None
) -> Answer:
    """Returns the first reply that fits; else what the author writes, an instance of the schema or the message's end.

    An answer longer than the request's limit of tokens is cut, with finish_reason "length".
    """
    contents = [text_of(message) for message in body["messages"]]
    reply = next((one for one in replies if any(re.search(one.pattern, content) for content in contents)), None)
    max_tokens = int(body.get("max_tokens") or body.get("max_completion_tokens") or 1_000_000)
    if reply is not None:
        text = reply.text
    else:
        text = author(contents[-1], max_tokens) if author else _text(contents, body, answer_chars)
    limit = CHARS_PER_TOKEN * max_tokens
    cut = text[:limit]
    return Answer(
        cut,
        "stop" if cut == text else "length",
        _tokens("".join(contents)),
        _tokens(cut),
        reply.choices if reply else {},
    )


def text_of(message: Mapping[str, Any]) -> str:
    """Returns the text of a message, whose content is a string or a list of parts."""
    content = message["content"]
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def top_logprobs(text: str, count: int, choices: Mapping[str, float] | None = None) -> dict[str, object]:
    """Makes alternatives for each word: the word itself and worse ones, their probabilities halving.

    Where the text first has one of `choices` as a word of its own, the alternatives are these, the best first.
    """
    words = re.findall(r"\w+|\W+" if choices else r"\S+\s*", text)
    chosen = next((place for place, word in enumerate(words) if word in (choices or {})), None)
    return {
        "content": [
            {
                "token": word,
                "logprob": math.log(0.5),
                **(_choices(choices, count) if choices and place == chosen else _alternatives(word, count)),
            }
            for place, word in enumerate(words)
        ]
    }


def _choices(choices: Mapping[str, float], count: int) -> dict[str, object]:
    best = sorted(choices.items(), key=lambda one: -one[1])[:count]
    return {"top_logprobs": [{"token": token, "logprob": math.log(p)} for token, p in best]}


def _alternatives(word: str, count: int) -> dict[str, object]:
    tokens = [word, *(f"~{place}" for place in range(1, count))]
    return {
        "top_logprobs": [{"token": token, "logprob": -math.log(2) * (place + 1)} for place, token in enumerate(tokens)]
    }


def _text(contents: Sequence[str], body: Mapping[str, Any], answer_chars: int) -> str:
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
