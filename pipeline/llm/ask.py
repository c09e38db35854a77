"""Asks a chat model for JSON until it is what was asked for, each time in stricter words.

The log-probabilities of an answer say how probable each letter was in its place.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Generic, TypeVar

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

    Attributes:
        reason: a snake_case word, then what it means; never a text of the caller or of the model.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class WrongAnswerError(Exception):
    """An answer breaks a rule. Its message goes into the next prompt: it never holds the answer's own words."""


@dataclass(frozen=True, slots=True)
class JsonAnswer(Generic[T]):
    """What was read, and the completion it was read from."""

    value: T
    completion: Completion


async def ask_json(
    chat: ChatModel, request: ChatRequest, read: Callable[[str], T], *, max_attempts: int
) -> JsonAnswer[T]:
    """Returns the first answer that can be read. An attempt is one answer: none is repaired behind our back.

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
            return JsonAnswer(read(completion.text), completion)
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


def fits(chat: ChatModel, request: ChatRequest) -> bool:
    """Tells whether prompt and longest answer fit into the model's context."""
    prompt = sum(chat.count_tokens(message.content) for message in request.messages)
    overhead = 64  # roles, and what the chat template adds
    return prompt + request.max_tokens + overhead <= chat.context_tokens


_AROUND = " \t\n\r\"'`*().:,{}[]<>"


def letter_probabilities(places: Sequence[TokenLogprobs], letters: str, *, key: str = "") -> dict[str, float] | None:
    """Returns the probability of each letter that is among the alternatives where the answer's letter stands.

    Args:
        places: of the answer, token by token.
        letters: those that count.
        key: the answer is JSON, and the letter is the value of this key; empty: it is the first token that is a letter.

    Returns:
        Probabilities that sum to at most 1; None when the place is not found or shows none of the letters.
    """
    place = _place([one.token for one in places], letters, key)
    if place is None:
        return None
    found: dict[str, float] = {}
    for token, logprob in places[place].alternatives:
        if (letter := _letter(token, letters)) and math.isfinite(logprob):
            found[letter] = found.get(letter, 0.0) + math.exp(min(logprob, 0.0))
    return found or None


def _place(tokens: Sequence[str], letters: str, key: str) -> int | None:
    if not key:
        return next((at for at, token in enumerate(tokens) if _letter(token, letters)), None)
    # The last one: a reasoning model may have written the key into its thoughts.
    before, mark, behind = "".join(tokens).rpartition(f'"{key}"')
    value = behind.lstrip(" \t\n:")
    if not mark or not value.startswith('"'):
        return None
    start = len(before) + len(mark) + len(behind) - len(value) + 1
    return next((at for at, end in enumerate(accumulate(map(len, tokens))) if end > start), None)


def _letter(token: str, letters: str) -> str:
    stripped = token.strip(_AROUND)
    return stripped if len(stripped) == 1 and stripped in letters else ""
