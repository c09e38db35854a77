"""Asks the language model until an answer is valid, each time in stricter words.

Reads a language model's answer, and refuses what cannot be one.
"""

import json
import logging
import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.assess.images.image import Image
from pipeline.assess.synthesis.config import SynthesisConfig
from pipeline.assess.synthesis.messages import Prompt, allowed_letters, make_prompt
from pipeline.assess.synthesis.request import Levels, Mode, SynthesisRequest
from pipeline.judge.fusion import from_classification, from_log_probabilities, parse_level
from pipeline.judge.ultra.levels import LevelSource
from pipeline.llm.ask import letter_probabilities
from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion, LlmUsage
from pipeline.llm.errors import BadAnswerError, EmptyAnswerError, LlmError, RequestRefusedError
from pipeline.llm.metering import MeteredChatModel
from pipeline.llm.refusal import IMAGES

_MAX_ANSWER_CHARS = 4_000


class ModelAnswer(BaseModel):
    """What the model is asked to reply with. The letter comes first: its probabilities then precede all reasoning."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    final_answer: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)
    quality_reasoning: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)
    used_evidence: tuple[str, ...] = ()
    need_replan: bool = False
    replan_reason: str | None = None


class AnswerProblemError(Exception):
    """An answer that is none. Its message goes into the next prompt: it never holds the answer's own words."""


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer that can be used.

    Attributes:
        answer: with the ids that exist, and the letter alone.
        unknown_id_count: ids that it cited and that do not exist.
    """

    answer: ModelAnswer
    unknown_id_count: int


def answer_schema(letters: str) -> dict[str, object]:
    """Returns the JSON schema of a reply; with letters, the answer is one of them."""
    text = {"type": "string", "minLength": 1, "maxLength": _MAX_ANSWER_CHARS}
    properties = {
        "final_answer": {"type": "string", "enum": list(letters)} if letters else text,
        "quality_reasoning": text,
        "used_evidence": {"type": "array", "items": {"type": "string"}},
        "need_replan": {"type": "boolean"},
        "replan_reason": {"type": ["string", "null"]},
    }
    return {
        "title": "quality_answer",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_answer(text: str, letters: str, known_ids: Collection[str]) -> CheckedAnswer:
    """Reads a reply in JSON.

    Raises:
        AnswerProblemError: it is not the JSON asked for, answers with no letter of those allowed, says nothing, or
            cites evidence of which nothing exists.
    """
    try:
        answer = ModelAnswer.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise AnswerProblemError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise AnswerProblemError("it was no JSON") from None
    final = answer.final_answer.strip()
    if letters:
        final = final.rstrip(".) ").upper()
        if len(final) != 1 or final not in letters:
            raise AnswerProblemError("final_answer was no letter of those allowed")
    if not final or not answer.quality_reasoning.strip():
        raise AnswerProblemError("final_answer or quality_reasoning was blank")
    ids = tuple(dict.fromkeys(one for one in answer.used_evidence if one in known_ids))
    unknown = len(set(answer.used_evidence)) - len(ids)
    if unknown and not ids:
        raise AnswerProblemError("used_evidence had no id of the evidence")
    checked = answer.model_copy(
        update={"final_answer": final, "quality_reasoning": answer.quality_reasoning.strip(), "used_evidence": ids}
    )
    return CheckedAnswer(checked, unknown)


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
        return Levels(from_log_probabilities(logs), LevelSource.LOGITS)
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
