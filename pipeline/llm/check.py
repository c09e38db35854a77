"""Asks a language model small questions, each of which shows whether one thing can be had of it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.llm import errors
from pipeline.llm.ask import object_schema
from pipeline.llm.chat_model import ChatMessage, ChatRequest, Completion
from pipeline.llm.config import ModelConfig
from pipeline.llm.dialect import takes_schemas
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.openai import OpenAiChatModel

PARROT = (
    ChatMessage("system", "You are the parrot Polly. Whatever you are asked, say your name and nothing else."),
    ChatMessage("user", "What is the capital of France?"),
)
GREETING = (ChatMessage("user", "Greet Ann, who comes home late."),)
SCHEMA = object_schema({"greeting": {"type": "string"}, "warmth": {"type": "integer"}})
LETTER = (ChatMessage("user", "Is Paris the capital of France? Answer with one letter: A for yes, B for no."),)
COUNTING = (ChatMessage("user", "Count from one to sixty, in words with commas between them."),)
REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What can be had of a model: True or False, REFUSED where its endpoint refuses the field that asks for it."""

    first_answer_s: float
    tokens_per_s: float | None
    system_role: bool | str
    json_by_schema: bool | str
    json_by_words: bool
    logprobs: bool | str
    stream: bool | str
    context_tokens: int
    held_tokens: int | None
    thinking_tokens: int
    left_out: tuple[str, ...]


async def check_model(config: ModelConfig) -> tuple[Abilities | None, list[tuple[str, str]]]:
    """Returns what a model can, and why it cannot be used, each reason behind the field of the settings to change.

    Where one question has no answer at all, that is the reason, and nothing else is known.
    """
    try:
        async with Endpoint(config.model_copy(update={"structured_output": "auto"})) as endpoint:
            can = await _ask_all(endpoint, config)
    except (errors.AuthenticationFailedError, errors.QuotaExhaustedError, errors.LlmSettingsError) as error:
        return None, [("api_key_file", str(error))]
    except errors.LlmError as error:
        causes = {errors.UnknownModelError: "model", errors.AnswerTimeoutError: "timeouts.attempt_s"}
        return None, [(causes.get(type(error), "base_url"), str(error))]
    return can, list(_problems(can, config.structured_output))


async def _ask_all(endpoint: Endpoint, config: ModelConfig) -> Abilities:
    model = OpenAiChatModel(endpoint)
    await model.learn_context()
    in_words = OpenAiChatModel(endpoint, config.model_copy(update={"structured_output": "prompt"}))
    form = ChatRequest(GREETING, 128, 0.0, SCHEMA, asks_once=True)
    drafts: list[str] = []
    counting = ChatRequest(COUNTING, 256, 0.0, seed=0, asks_once=True, on_draft=drafts.append)
    started_s = time.monotonic()
    first = await model.complete(ChatRequest(PARROT, 64, 0.0, asks_once=True))
    first_answer_s = time.monotonic() - started_s
    by_schema, by_words = [await _answer(one, form) is not None for one in (model, in_words)]
    letter = await _answer(model, ChatRequest(LETTER, 16, 0.0, top_logprobs=5, asks_once=True))
    started_s = time.monotonic()
    counted = await _answer(model, counting)
    counting_s = time.monotonic() - started_s
    refused = model.dialect.refused
    return Abilities(
        first_answer_s=round(first_answer_s, 2),
        tokens_per_s=round(counted.usage.completion_tokens / counting_s, 1) if counted else None,
        system_role=REFUSED if "system" in refused else "polly" in first.text.lower(),
        json_by_schema=by_schema if takes_schemas(refused) else REFUSED,
        json_by_words=by_words or (by_schema and not takes_schemas(refused)),
        logprobs=REFUSED if "logprobs" in refused else bool(letter and letter.top_logprobs),
        stream=REFUSED if "stream" in refused else len(drafts) > 1,
        context_tokens=model.context_tokens,
        held_tokens=await endpoint.context_of(config.model),
        thinking_tokens=model.thinking_tokens,
        left_out=tuple(sorted(refused)),
    )


async def _answer(model: OpenAiChatModel, request: ChatRequest) -> Completion | None:
    """Returns an answer; None where what was asked for cannot be had. Raises LlmError where nothing can."""
    try:
        return await model.complete(request)
    except (errors.BadAnswerError, errors.RequestRefusedError):
        return None


def _problems(can: Abilities, structured_output: str) -> Iterator[tuple[str, str]]:
    if can.json_by_schema is not True and not can.json_by_words:
        yield "model", "it writes no JSON that fits a schema"
    elif structured_output == "json_schema" and can.json_by_schema is not True:
        yield "structured_output", "no schema is kept"
    elif structured_output != "prompt" and can.json_by_schema is False:
        yield "structured_output", "JSON is written as words ask for it, not as a schema does"
    if can.held_tokens and can.held_tokens < can.context_tokens:
        yield "context_tokens", f"{can.context_tokens:,} tokens are set, and the endpoint holds {can.held_tokens:,}"
