"""Enum numbers of requests as what they mean.

What results refer to: places in the caller's texts, and models.

What a language model cost, as a message.
"""

from collections.abc import Mapping
from typing import TypeVar, overload

from precis.v1 import common_pb2

from pipeline.errors import InvalidInputError
from pipeline.llm.chat_model import LlmUsage
from pipeline.protocols import ModelIdentity
from pipeline.text.passage import TextSpan

Meaning = TypeVar("Meaning")


def meaning_of(numbers: Mapping[Meaning, int], number: int, field: str) -> Meaning:
    """Looks an enum number up. Raises InvalidInputError: proto3 lets unknown numbers through."""
    for meaning, known in numbers.items():
        if known == number:
            return meaning
    raise InvalidInputError(field, "one of the numbers " + ", ".join(map(str, numbers.values())), str(number))


def to_model_identity(identity: ModelIdentity) -> common_pb2.ModelIdentity:
    """Gives which model wrote a number."""
    return common_pb2.ModelIdentity(name=identity.name, revision=identity.revision, sha256=identity.sha256)


@overload
def to_span(passage: TextSpan) -> common_pb2.TextSpan: ...
@overload
def to_span(passage: TextSpan | None) -> common_pb2.TextSpan | None: ...
def to_span(passage: TextSpan | None) -> common_pb2.TextSpan | None:
    """Gives a stretch of the caller's text; nothing for nothing, which leaves a message field unset."""
    if passage is None:
        return None
    return common_pb2.TextSpan(text_id=passage.text_id, start=passage.start, end=passage.end, text=passage.quote)


def to_usage(usage: LlmUsage, identity: str) -> common_pb2.LlmUsage | None:
    """Gives what the language model's answers cost; None, which leaves the field unset, when that is nothing."""
    if usage == LlmUsage():
        return None
    return common_pb2.LlmUsage(
        identity=identity,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        retries=usage.retries,
    )
