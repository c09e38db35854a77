"""Asks a chat model for JSON until it is what was asked for, each time in stricter words.

The log-probabilities of an answer say how probable each letter was in its place.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake

from pipeline.errors import PipelineError
from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion, TokenLogprobs
from pipeline.llm.errors import BadAnswerError, EmptyAnswerError, LlmError, SchemaMismatchError

_log = logging.getLogger(__name__)
_STRICTER = (
    "Your answer to this was refused before: {problem}. Reply with the JSON asked for and nothing else.",
    "{count} answers were refused. Begin your reply with an opening brace, end it with a closing one, and add nothing.",
)

T = TypeVar("T")
Reply = TypeVar("Reply", bound=BaseModel)


class UnusableAnswerError(PipelineError):
    """The model gave nothing usable after all attempts.

    The message is a snake_case word, then what it means; never a text of the caller or of the model.
    """


class WrongAnswerError(Exception):
    """An answer breaks a rule. Its message goes into the next prompt: it never holds the answer's own words."""


async def ask_json(
    chat: ChatModel, request: ChatRequest, read: Callable[[str], T], *, max_attempts: int
) -> tuple[T, Completion]:
    """Returns the first answer that can be read, and its completion. An attempt is one answer.

    Each attempt is asked for in stricter words than the one before. Every refusal and failure is a line of the log.

    Args:
        read: turns a text into a value; raises WrongAnswerError.
        max_attempts: at least 1.

    Raises UnusableAnswerError: none could be read, the endpoint failed, or the prompt does not fit into its context.
    """
    if not fits(chat, request):
        raise UnusableAnswerError("context_overflow: the evidence does not fit into the model's context")
    *before, last = request.messages
    asked_for = (request.json_schema or {}).get("title", "text")
    words = problem = ""
    for attempt in range(1, max_attempts + 1):
        messages = (*before, replace(last, content=last.content + words))
        try:
            completion = await chat.complete(replace(request, messages=messages, asks_once=True))
            return read(completion.text), completion
        except (WrongAnswerError, BadAnswerError) as error:
            _log.warning("answer_refused attempt=%d error=%s asked_for=%s", attempt, type(error).__name__, asked_for)
            problem = _problem(error)
            words = "\n\n" + " ".join(_STRICTER[:attempt]).format(problem=problem, count=attempt)
        except LlmError as error:  # it has been retried already; other words would not help
            _log.warning("endpoint_failed attempt=%d error=%s asked_for=%s", attempt, type(error).__name__, asked_for)
            name = to_snake(type(error).__name__.removesuffix("Error"))
            raise UnusableAnswerError(f"{name}: {error}") from error
    raise UnusableAnswerError(f"invalid_answer: {problem}")


def _problem(error: WrongAnswerError | BadAnswerError) -> str:
    if isinstance(error, WrongAnswerError | SchemaMismatchError):  # they name rules of ours, never what was answered
        return str(error)
    return "there was no answer" if isinstance(error, EmptyAnswerError) else "it was not the JSON asked for"


def read_json(text: str, kind: type[Reply]) -> Reply:
    """Reads a reply of some kind in JSON. Raises WrongAnswerError if it is none."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise WrongAnswerError(f"{where}: {first['msg']}" if where else "it was no JSON object") from None


def object_schema(properties: Mapping[str, object], title: str = "") -> dict[str, object]:
    """Returns the JSON schema of an object that has all of some properties and no others."""
    return {
        **({"title": title} if title else {}),
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def reply_schema(kind: type[BaseModel], title: str) -> dict[str, Any]:
    """Returns the JSON schema of a kind of reply: each object in it has all of its fields and no others."""
    whole = kind.model_json_schema(mode="serialization")

    def plain(part: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in part:  # not all endpoints follow it
            return plain(whole["$defs"][part["$ref"].rpartition("/")[2]])
        if "anyOf" in part:  # a value or none
            return {**plain(part["anyOf"][0]), "type": [part["anyOf"][0]["type"], "null"]}
        if "properties" in part:
            return object_schema({name: plain(one) for name, one in part["properties"].items()})
        left_out = {"title", "description", "default", "minLength", "maxLength"}  # strict endpoints refuse lengths
        rules = {name: rule for name, rule in part.items() if name not in left_out}
        return {**rules, "items": plain(part["items"])} if "items" in part else rules

    return {"title": title, **plain(whole)}


def fits(chat: ChatModel, request: ChatRequest) -> bool:
    """Tells whether prompt and longest answer fit into the model's context."""
    overhead = 64  # roles, and what the chat template adds
    return request.prompt_tokens(chat.count_tokens) + request.max_tokens + overhead <= chat.context_tokens


_AROUND = " \t\n\r\"'`*().:,{}[]<>"
_LEAST_MASS = 0.5  # of the letters together; with less, the model was thinking of other words


def letter_logprobs(places: Sequence[TokenLogprobs], letters: str, key: str) -> dict[str, float] | None:
    """Returns the log-probability of each letter that is among the alternatives where the answer's letter stands.

    Args:
        places: of the answer, token by token.
        letters: those that count.
        key: of the answer, which is JSON; its value is the letter.

    Returns:
        None when the place is not found, or the letters have less than half of the probability there.
    """
    place = _place([one.token for one in places], key)
    if place is None:
        return None
    found: dict[str, float] = {}
    for token, logprob in places[place].alternatives:
        letter = token.strip(_AROUND)
        if len(letter) == 1 and letter in letters and math.isfinite(logprob):
            found[letter] = found.get(letter, 0.0) + math.exp(min(logprob, 0.0))
    is_thinking_of_them = math.fsum(found.values()) >= _LEAST_MASS
    return {letter: math.log(p) for letter, p in found.items() if p > 0} if is_thinking_of_them else None


def _place(tokens: Sequence[str], key: str) -> int | None:
    # The last one: a reasoning model may have written the key into its thoughts.
    before, mark, behind = "".join(tokens).rpartition(f'"{key}"')
    value = behind.lstrip(" \t\n:")
    if not mark or not value.startswith('"'):
        return None
    start = len(before) + len(mark) + len(behind) - len(value) + 1
    return next((at for at, end in enumerate(accumulate(map(len, tokens))) if end > start), None)
