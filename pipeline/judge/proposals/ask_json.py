"""Asks a chat model for JSON until it is what was asked for, each time in stricter words."""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pipeline.errors import PipelineError
from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion
from pipeline.llm.errors import BadAnswerError, LlmError

_log = logging.getLogger(__name__)
_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")
_OVERHEAD_TOKENS = 64  # roles, and what the chat template adds
_STRICTER = "\n\nYour answer to this was refused before: {problem}. Reply with the JSON asked for and nothing else."

T = TypeVar("T")


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
    """Returns the first answer that can be read.

    Args:
        chat: who is asked.
        request: with the JSON schema of the answer.
        read: turns a text into a value; raises WrongAnswerError.
        max_attempts: at least 1.

    Raises:
        UnusableAnswerError: none could be read, the endpoint failed, or the prompt does not fit into its context.
    """
    if not fits(chat, request):
        raise UnusableAnswerError("context_overflow: the evidence does not fit into the model's context")
    problem = ""
    for attempt in range(1, max_attempts + 1):
        try:
            completion = await chat.complete(_stricter(request, problem) if problem else request)
            return JsonAnswer(read(completion.text), completion)
        except WrongAnswerError as error:
            problem = str(error)
        except BadAnswerError:
            problem = "it was not the JSON asked for"
        except LlmError as error:  # it has been retried already; other words would not help
            name = _WORD_START.sub("_", type(error).__name__.removesuffix("Error")).lower()
            raise UnusableAnswerError(f"{name}: {error}") from error
        _log.warning("judge_answer_refused attempt=%d", attempt)
    raise UnusableAnswerError(f"invalid_answer: {problem}")


def fits(chat: ChatModel, request: ChatRequest) -> bool:
    """Tells whether prompt and longest answer fit into the model's context."""
    prompt = sum(chat.count_tokens(message.content) for message in request.messages)
    return prompt + request.max_tokens + _OVERHEAD_TOKENS <= chat.context_tokens


def _stricter(request: ChatRequest, problem: str) -> ChatRequest:
    *before, last = request.messages
    words = replace(last, content=last.content + _STRICTER.format(problem=problem))
    return replace(request, messages=(*before, words))
