"""Asks the language model until an answer is valid, each time in stricter words."""

import logging
import math
import re
from dataclasses import dataclass, field

from pipeline.judge.fusion import from_classification, from_log_probabilities, parse_level
from pipeline.judge.images.image import Image
from pipeline.judge.synthesis.answer import AnswerProblemError, ModelAnswer, answer_schema, read_answer
from pipeline.judge.synthesis.check import Levels
from pipeline.judge.synthesis.config import SynthesisConfig
from pipeline.judge.synthesis.messages import Prompt, allowed_letters, make_prompt
from pipeline.judge.synthesis.request import Mode, SynthesisRequest
from pipeline.judge.ultra.levels import LevelSource
from pipeline.llm.ask import letter_probabilities
from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion, LlmUsage
from pipeline.llm.errors import BadAnswerError, EmptyAnswerError, LlmError, RequestRefusedError
from pipeline.llm.metering import MeteredChatModel
from pipeline.llm.refusal import IMAGES

_log = logging.getLogger(__name__)
_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Reply:
    """A valid answer and the completion that holds it."""

    answer: ModelAnswer
    completion: Completion


@dataclass(slots=True)
class Asked:
    """What came of asking.

    Attributes:
        reply: valid; None when there is none after all attempts.
        error: why there is no answer: a snake_case word, then what it means.
        attempts: answers asked for.
        usage: what they cost.
        notes: what a reader should know.
    """

    reply: Reply | None = None
    error: str | None = None
    attempts: int = 0
    usage: LlmUsage = field(default_factory=LlmUsage)
    notes: list[str] = field(default_factory=list)


async def ask(request: SynthesisRequest, images: tuple[Image, ...], chat: ChatModel, config: SynthesisConfig) -> Asked:
    """Returns a valid answer, or why there is none, and what it cost. Never raises LlmError."""
    metered = MeteredChatModel(chat)
    asked = await _ask(request, images, metered, config)
    asked.usage = metered.usage
    return asked


def read_levels(reply: Reply, config: SynthesisConfig) -> Levels:
    """Returns the level probabilities of an answer in scoring mode: from log-probabilities, else from its letter."""
    found = letter_probabilities(reply.completion.top_logprobs, "ABCDE", key="final_answer")
    if found and math.fsum(found.values()) >= config.least_letter_mass:
        logs = {parse_level(letter): math.log(p) for letter, p in found.items() if p > 0}
        return Levels(from_log_probabilities(logs), LevelSource.LOG_PROBABILITIES)
    return Levels(from_classification(parse_level(reply.answer.final_answer)), LevelSource.CLASSIFICATION)


async def _ask(request: SynthesisRequest, images: tuple[Image, ...], chat: ChatModel, config: SynthesisConfig) -> Asked:
    asked, problem = Asked(), ""
    while asked.attempts < config.max_attempts:
        prompt = make_prompt(request, images, chat, answer_tokens=config.answer_tokens, problem=problem)
        if prompt is None:
            asked.error = "context_overflow: the evidence does not fit into the model's context"
            return asked
        asked.attempts += 1
        try:
            await _attempt(asked, prompt, request, chat, config)
            return asked
        except (AnswerProblemError, BadAnswerError) as error:
            problem = _problem(error)
            asked.error = f"invalid_answer: {problem}"
            _log.warning("synthesis_refused attempt=%d error=%s", asked.attempts, type(error).__name__)
        except LlmError as error:
            if not images or not isinstance(error, RequestRefusedError) or IMAGES not in error.refused_fields:
                asked.error = f"{_WORD_START.sub('_', type(error).__name__.removesuffix('Error')).lower()}: {error}"
                return asked  # it has been retried already; other words would not help
            asked.notes.append("images_refused: the endpoint takes no images; it answered without them")
            images, asked.attempts = (), asked.attempts - 1
    return asked


async def _attempt(
    asked: Asked, prompt: Prompt, request: SynthesisRequest, chat: ChatModel, config: SynthesisConfig
) -> None:
    """Fills in a valid answer. Raises AnswerProblemError or LlmError."""
    letters = allowed_letters(request)
    completion = await chat.complete(
        ChatRequest(
            prompt.messages,
            config.answer_tokens,
            temperature=0.0,
            json_schema=answer_schema(letters),
            top_logprobs=config.top_logprobs if request.mode is Mode.SCORING else 0,
            seed=config.seed,
        )
    )
    checked = read_answer(completion.text, letters, {item.id for item in request.evidence.items()})
    asked.reply, asked.error = Reply(checked.answer, completion), None
    if prompt.was_shortened:
        asked.notes.append("evidence_shortened: the model did not see all of the explanations and the context")
    if checked.unknown_id_count:
        asked.notes.append(f"unknown_evidence: {checked.unknown_id_count} cited ids do not exist")


def _problem(error: AnswerProblemError | BadAnswerError) -> str:
    """Says what was wrong, in words of ours."""
    if isinstance(error, EmptyAnswerError):
        return "there was no answer"
    return "it was not the JSON asked for" if isinstance(error, BadAnswerError) else str(error)
