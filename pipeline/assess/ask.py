"""Asks a language model for an answer, reads it, and refuses what cannot be one.

One task for each kind of answer; whatever in a prompt is not ours is data.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel, ConfigDict, Field

from pipeline.assess.config import SynthesisConfig
from pipeline.assess.evidence import evidence_json
from pipeline.assess.images import Image
from pipeline.assess.request import Levels, Mode, SynthesisRequest
from pipeline.judge.fusion import LevelSource, from_classification, from_log_probabilities, parse_level
from pipeline.llm.ask import (
    JsonAnswer,
    UnusableAnswerError,
    WrongAnswerError,
    ask_json,
    fits,
    letter_probabilities,
    object_schema,
    read_json,
)
from pipeline.llm.chat_model import NO_USAGE, ChatMessage, ChatModel, ChatRequest, LlmUsage
from pipeline.llm.conversation import conversation
from pipeline.llm.errors import RequestRefusedError
from pipeline.llm.fence import Fence
from pipeline.llm.metering import MeteredChatModel
from pipeline.llm.refusal import IMAGES
from pipeline.prompts.prompts import Prompts

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEVEL_LETTERS = LETTERS[:5]
_MAX_ANSWER_CHARS = 4_000
_SHORTENINGS = ((None, 1.0), (400, 0.5), (100, 0.0), (0, 0.0))  # characters of an explanation, share of the context
_TOP_LOGPROBS = 20  # the most that endpoints give, to find all five letters
_LEAST_LETTER_MASS = 0.5  # of the letters together; with less, the model was thinking of other words


class ModelAnswer(BaseModel):
    """What the model is asked to reply with. The letter comes first: its probabilities then precede all reasoning."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    final_answer: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)
    quality_reasoning: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)
    used_evidence: tuple[str, ...] = ()
    need_replan: bool = False
    replan_reason: str | None = None


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


def read_answer(text: str, letters: str, known_ids: Collection[str]) -> ModelAnswer:
    """Reads a reply in JSON; the letter alone is its answer.

    Raises:
        WrongAnswerError: it is not the JSON asked for, answers with no letter of those allowed, says nothing, or
            cites evidence of which nothing exists.
    """
    answer = read_json(text, ModelAnswer)
    final, reasoning = answer.final_answer.strip(), answer.quality_reasoning.strip()
    if letters:
        final = final.rstrip(".) ").upper()
        if len(final) != 1 or final not in letters:
            raise WrongAnswerError(f"final_answer was no letter of {', '.join(letters)}")
    if not final or not reasoning:
        raise WrongAnswerError("final_answer or quality_reasoning was blank")
    if answer.used_evidence and not set(answer.used_evidence) & set(known_ids):
        raise WrongAnswerError("used_evidence had no id of the evidence")
    return answer.model_copy(update={"final_answer": final, "quality_reasoning": reasoning})


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking.

    Attributes:
        answer: valid, its `used_evidence` only ids that exist; None when there is none after all attempts.
        levels: the level probabilities of the answer, in scoring mode.
        error: why there is no answer: a snake_case word, then what it means.
        attempts: answers that were asked for, each with one request.
    """

    answer: ModelAnswer | None = None
    levels: Levels | None = None
    error: str | None = None
    attempts: int = 0
    usage: LlmUsage = NO_USAGE
    notes: tuple[str, ...] = ()


async def ask(request: SynthesisRequest, images: tuple[Image, ...], chat: ChatModel, config: SynthesisConfig) -> Asked:
    """Returns a valid answer, or why there is none, and what it cost. Never raises LlmError.

    An endpoint that refuses images is asked again without them.
    """
    metered = MeteredChatModel(chat)
    prompt, notes = _prompt(request, images, chat, config.answer_tokens)
    ids = request.evidence.items().keys()
    read = partial(read_answer, letters=allowed_letters(request), known_ids=ids)
    try:
        found = await ask_json(metered, prompt, read, max_attempts=config.max_attempts)
    except UnusableAnswerError as error:
        if images and isinstance(cause := error.__cause__, RequestRefusedError) and IMAGES in cause.refused_fields:
            asked = await ask(request, (), chat, config)
            refused = "images_refused: the endpoint takes no images; it answered without them"
            return replace(asked, usage=metered.usage + asked.usage, notes=(refused, *asked.notes))
        return Asked(error=error.reason, attempts=metered.request_count, usage=metered.usage, notes=notes)
    cited = tuple(dict.fromkeys(found.value.used_evidence))
    known = tuple(one for one in cited if one in ids)
    if unknown := len(cited) - len(known):
        notes = (*notes, f"unknown_evidence: {unknown} cited ids do not exist")
    answer = found.value.model_copy(update={"used_evidence": known})
    levels = read_levels(found) if request.mode is Mode.SCORING else None
    return Asked(answer, levels, None, metered.request_count, metered.usage, notes)


def _prompt(
    request: SynthesisRequest, images: tuple[Image, ...], chat: ChatModel, max_tokens: int
) -> tuple[ChatRequest, tuple[str, ...]]:
    """Returns the longest form that leaves room for the answer, or the shortest; notes say whether it was cut."""
    asked = ChatRequest(
        (),
        max_tokens,
        temperature=0.0,
        json_schema=answer_schema(allowed_letters(request)),
        top_logprobs=_TOP_LOGPROBS if request.mode is Mode.SCORING else 0,
        seed=0,
    )
    for explanation_chars, share in _SHORTENINGS:
        context = request.context[: int(share * len(request.context))]
        asked = replace(asked, messages=answer_messages(chat.prompts, request, images, context, explanation_chars))
        if fits(chat, asked):
            break
    shortened = "evidence_shortened: the model did not see all of the explanations and the context"
    return asked, (shortened,) if explanation_chars is not None else ()


def read_levels(reply: JsonAnswer[ModelAnswer]) -> Levels:
    """Returns the level probabilities of an answer in scoring mode: from log-probabilities, else from its letter."""
    found = letter_probabilities(reply.completion.top_logprobs, LEVEL_LETTERS, key="final_answer")
    if found and math.fsum(found.values()) >= _LEAST_LETTER_MASS:
        logs = {parse_level(letter): math.log(p) for letter, p in found.items() if p > 0}
        return Levels(from_log_probabilities(logs), LevelSource.LOGITS)
    return Levels(from_classification(parse_level(reply.value.final_answer)), LevelSource.CLASSIFICATION)


def answer_messages(
    prompts: Prompts, request: SynthesisRequest, images: Sequence[Image], context: str, explanation_chars: int | None
) -> tuple[ChatMessage, ...]:
    """Returns the conversation.

    Args:
        context: what is shown of that of the request.
        explanation_chars: shown of each explanation; None: all.
    """
    evidence = evidence_json(request.evidence, explanation_chars=explanation_chars)
    fence = Fence([request.question, *request.choices, *request.scope, context, evidence])
    words = {
        "question": fence.mark(request.question),
        "scope": _inline(fence, ", ".join(request.scope)),
        "context": f"Material:\n{fence.mark(context)}" if context.strip() else "",
        "evidence": "Evidence:\n" + fence.mark(evidence),
    }
    parts = [image.part for image in images]
    if request.mode is Mode.SCORING:
        return conversation(prompts["scoring"], fence, words, images=parts)
    lettered = zip(LETTERS, request.choices, strict=False)
    choices = "\n".join(f"{letter}. {_inline(fence, text)}" for letter, text in lettered)
    section = "choice" if choices else "open"
    return conversation(prompts["explanation"], fence, words | {"choices": choices}, section, images=parts)


def allowed_letters(request: SynthesisRequest) -> str:
    """Returns the letters that may be the answer; empty for an open answer."""
    return LEVEL_LETTERS if request.mode is Mode.SCORING else LETTERS[: len(request.choices)]


def _inline(fence: Fence, text: str) -> str:
    return fence.mark(" ".join(text.split())).replace("\n", "")
