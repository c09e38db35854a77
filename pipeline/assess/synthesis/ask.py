"""Asks the language model until an answer is valid, each time in stricter words.

Reads a language model's answer, and refuses what cannot be one.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from pipeline.assess.images.image import Image
from pipeline.assess.synthesis.config import SynthesisConfig
from pipeline.assess.synthesis.messages import allowed_letters, make_prompt
from pipeline.assess.synthesis.request import Levels, Mode, SynthesisRequest
from pipeline.judge.fusion import from_classification, from_log_probabilities, parse_level
from pipeline.judge.ultra.levels import LevelSource
from pipeline.llm.ask import (
    Refusal,
    UnusableAnswerError,
    WrongAnswerError,
    ask_until_valid,
    letter_probabilities,
    object_schema,
    read_json,
)
from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion, LlmUsage
from pipeline.llm.errors import RequestRefusedError
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


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer that can be used: the ids that exist, and the letter alone. It may have cited others."""

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
    return object_schema(properties, title="quality_answer")


def read_answer(text: str, letters: str, known_ids: Collection[str]) -> CheckedAnswer:
    """Reads a reply in JSON.

    Raises:
        WrongAnswerError: it is not the JSON asked for, answers with no letter of those allowed, says nothing, or
            cites evidence of which nothing exists.
    """
    answer = read_json(text, ModelAnswer)
    final = answer.final_answer.strip()
    if letters:
        final = final.rstrip(".) ").upper()
        if len(final) != 1 or final not in letters:
            raise WrongAnswerError("final_answer was no letter of those allowed")
    if not final or not answer.quality_reasoning.strip():
        raise WrongAnswerError("final_answer or quality_reasoning was blank")
    ids = tuple(dict.fromkeys(one for one in answer.used_evidence if one in known_ids))
    unknown = len(set(answer.used_evidence)) - len(ids)
    if unknown and not ids:
        raise WrongAnswerError("used_evidence had no id of the evidence")
    checked = answer.model_copy(
        update={"final_answer": final, "quality_reasoning": answer.quality_reasoning.strip(), "used_evidence": ids}
    )
    return CheckedAnswer(checked, unknown)


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
        attempts: answers that were asked for, each with one request.
    """

    reply: Reply | None = None
    error: str | None = None
    attempts: int = 0
    usage: LlmUsage = field(default_factory=LlmUsage)
    notes: list[str] = field(default_factory=list)


async def ask(request: SynthesisRequest, images: tuple[Image, ...], chat: ChatModel, config: SynthesisConfig) -> Asked:
    """Returns a valid answer, or why there is none, and what it cost. Never raises LlmError."""
    metered = MeteredChatModel(chat)
    question = _Question(request, images, metered, config)
    asked = question.asked
    try:
        asked.reply = await ask_until_valid(question.ask, max_attempts=config.max_attempts, about=_about(request))
    except UnusableAnswerError as error:
        asked.error = error.reason
    asked.usage = metered.usage
    return asked


def _about(request: SynthesisRequest) -> str:
    """Sums up the evidence for the log: counts, no texts."""
    items = request.evidence.items()
    scores = len(request.evidence.tool_scores)
    parts, images = len(request.scope), len(request.images)
    return f"mode={request.mode} parts={parts} findings={len(items) - scores} tool_scores={scores} images={images}"


def read_levels(reply: Reply, config: SynthesisConfig) -> Levels:
    """Returns the level probabilities of an answer in scoring mode: from log-probabilities, else from its letter."""
    found = letter_probabilities(reply.completion.top_logprobs, "ABCDE", key="final_answer")
    if found and math.fsum(found.values()) >= config.least_letter_mass:
        logs = {parse_level(letter): math.log(p) for letter, p in found.items() if p > 0}
        return Levels(from_log_probabilities(logs), LevelSource.LOGITS)
    return Levels(from_classification(parse_level(reply.answer.final_answer)), LevelSource.CLASSIFICATION)


class _Question:
    """A question, asked again while the answer is not valid; without images once the endpoint has refused them."""

    def __init__(
        self, request: SynthesisRequest, images: tuple[Image, ...], chat: ChatModel, config: SynthesisConfig
    ) -> None:
        self.asked = Asked()
        self._request = request
        self._images = images
        self._chat = chat
        self._config = config

    async def ask(self, refusal: Refusal) -> Reply:
        """Returns a valid answer. Raises WrongAnswerError, LlmError or UnusableAnswerError."""
        try:
            return await self._attempt(refusal)
        except RequestRefusedError as error:
            if not self._images or IMAGES not in error.refused_fields:
                raise
        self.asked.notes.append("images_refused: the endpoint takes no images; it answered without them")
        self.asked.attempts -= 1
        self._images = ()
        return await self._attempt(refusal)

    async def _attempt(self, refusal: Refusal) -> Reply:
        request, config, letters = self._request, self._config, allowed_letters(self._request)
        tokens = config.answer_tokens
        prompt = make_prompt(request, self._images, self._chat, answer_tokens=tokens, refusal=refusal)
        if prompt is None:
            raise UnusableAnswerError("context_overflow: the evidence does not fit into the model's context")
        self.asked.attempts += 1
        completion = await self._chat.complete(
            ChatRequest(
                prompt.messages,
                tokens,
                temperature=0.0,
                json_schema=answer_schema(letters),
                top_logprobs=config.top_logprobs if request.mode is Mode.SCORING else 0,
                seed=config.seed,
                asks_once=True,
            )
        )
        checked = read_answer(completion.text, letters, {item.id for item in request.evidence.items()})
        if prompt.was_shortened:
            self.asked.notes.append("evidence_shortened: the model did not see all of the explanations and the context")
        if checked.unknown_id_count:
            self.asked.notes.append(f"unknown_evidence: {checked.unknown_id_count} cited ids do not exist")
        return Reply(checked.answer, completion)
