"""Writes the answer to a question about quality from evidence and tool scores (docs/concepts/assessments.md).

In scoring mode the score is arithmetic: the tools' mean, or the worst distortion where it is lower, fused with level
probabilities. A language model gives the probabilities and the words; without one the tools decide alone. Only findings
and scores of the asked scope are read. Whether the evidence suffices is decided from the evidence; a model that saw
images may say that it is unsure.
"""

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pipeline.assess.choose import answer_in_short, choose, describe
from pipeline.assess.config import SynthesisConfig
from pipeline.assess.evidence import WorstDistortion, evidence_json, mean_score
from pipeline.assess.images import Image
from pipeline.assess.request import CheckedQuestion, Levels, Mode, SynthesisRequest, check_request
from pipeline.assess.result import DETERMINISTIC, ReplanNeed, ReplanReason, Synthesis, replan_needs
from pipeline.judge.fusion import (
    Fusion,
    FusionForm,
    LevelSource,
    NothingToFuseError,
    from_classification,
    from_log_probabilities,
    fuse,
    parse_level,
    to_distribution,
)
from pipeline.llm.ask import (
    UnusableAnswerError,
    WrongAnswerError,
    ask_json,
    fits,
    letter_logprobs,
    read_json,
    reply_schema,
)
from pipeline.llm.chat_model import NO_USAGE, ChatMessage, ChatModel, ChatRequest, Completion, LlmUsage
from pipeline.llm.config import LlmRole
from pipeline.llm.conversation import Fence, author_of, conversation
from pipeline.llm.errors import RequestRefusedError
from pipeline.llm.metering import MeteredChatModel
from pipeline.llm.refusal import IMAGES
from pipeline.off_loop import OffLoop
from pipeline.prompts.prompts import Prompts

LEAST_AGREEMENT = 0.2
"""Less agreement of tools and level probabilities is as good as none: a certain model is three levels away."""

LEVELS_APART = 2.0
"""At most, between an answer about images and what the tools measured."""

GENERIC_ANSWER = "The evidence does not allow an answer."
"""Stands where neither a model nor the evidence answers: an answer is never empty."""


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEVEL_LETTERS = LETTERS[:5]
_MAX_ANSWER_CHARS = 4_000
_SHORTENINGS = ((None, 1.0), (400, 0.5), (100, 0.0), (0, 0.0))  # characters of an explanation, share of the context
_TOP_LOGPROBS = 20  # the most that endpoints give, to find all five letters


class ModelAnswer(BaseModel):
    """What the model is asked to reply with. The letter comes first: its probabilities then precede all reasoning."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    final_answer: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)
    quality_reasoning: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)
    used_evidence: tuple[str, ...] = ()
    need_replan: bool = False
    replan_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking."""

    # valid, its `used_evidence` only ids that exist; None when there is none after all attempts
    answer: ModelAnswer | None = None
    levels: Levels | None = None  # the level probabilities of the answer, in scoring mode
    error: str | None = None  # why there is no answer: a snake_case word, then what it means
    attempts: int = 0  # answers that were asked for, each with one request
    usage: LlmUsage = NO_USAGE
    notes: tuple[str, ...] = ()


class Synthesizer:
    """Answers questions. Holds no state between calls; one object serves any number of them at once."""

    def __init__(self, config: SynthesisConfig | None = None, *, executor: Executor | None = None) -> None:
        self.config = config or SynthesisConfig()
        self.off_loop = OffLoop(executor)

    async def synthesize(self, request: SynthesisRequest, *, chat_model: ChatModel | None = None) -> Synthesis:
        """Returns an answer, whatever the model does; without one it is composed from the evidence.

        Raises InvalidInputError: a part of the request breaks a rule; raised before any model is asked.
        """
        return await self.answer(await self.off_loop(lambda: check_request(request, self.config.limits)), chat_model)

    async def answer(self, checked: CheckedQuestion[SynthesisRequest], chat_model: ChatModel | None) -> Synthesis:
        """Returns an answer to a request that has been checked."""
        checked = _within_scope(checked)
        if chat_model is None or checked.levels is not None:
            return _synthesis(checked, Asked(levels=checked.levels), DETERMINISTIC)
        asked = await _ask(checked, chat_model, self.config)
        return _synthesis(checked, asked, author_of(chat_model, LlmRole.SYNTHESIZER))


def _synthesis(checked: CheckedQuestion[SynthesisRequest], asked: Asked, author: str) -> Synthesis:
    """Takes the model's words, or those of the evidence; in scoring mode the fused level."""
    request, levels, answer = checked.request, asked.levels, asked.answer
    worst = None if request.form is FusionForm.PAPER_RAW else request.evidence.worst_distortion()
    fusion = _fuse(request, levels, worst)
    needs = replan_needs(request.scope, request.evidence, _doubts(checked, asked, fusion, worst))
    final, error = _decide(request, fusion, answer)
    notes = (*checked.notes, *asked.notes, *_fusion_notes(fusion, levels))
    return Synthesis(
        final_answer=final,
        quality_reasoning=answer.quality_reasoning if answer else describe(request.evidence, fusion, worst),
        mode=request.mode,
        fusion=fusion,
        worst_distortion=worst,
        level_source=levels.source if levels else LevelSource.UNIFORM,
        replan_needs=needs,
        used_evidence=request.evidence.only(answer.used_evidence) if answer else request.evidence,
        author=author if answer else DETERMINISTIC,
        attempt_count=asked.attempts,
        usage=asked.usage,
        notes=(*notes, *_answer_notes(answer, final, needs)) if answer else notes,
        error=asked.error or error,
        degraded=asked.error is not None,
    )


def _doubts(
    checked: CheckedQuestion[SynthesisRequest], asked: Asked, fusion: Fusion | None, worst: WorstDistortion | None
) -> Iterator[ReplanNeed]:
    """Yields what speaks against an answer. A model is believed to be unsure only of images that it saw."""
    scope, seen = checked.request.scope, asked.answer if checked.images else None
    if fusion is not None:
        measured = worst.score if worst is not None else fusion.tool_mean
        level = parse_level(seen.final_answer) if seen and asked.levels else None
        if measured is not None and level is not None and abs(level - measured) > LEVELS_APART:
            message = f"the answer {level.letter} contradicts what the tools measured, {measured:.2f}"
            yield ReplanNeed(ReplanReason.CONTRADICTION, message, scope)
    if seen is not None and seen.need_replan:
        yield ReplanNeed(ReplanReason.UNCERTAIN, "the answer is unsure", scope)
    if fusion is not None and fusion.agreement is not None and fusion.agreement < LEAST_AGREEMENT:
        message = f"tools and level probabilities hardly agree ({fusion.agreement:.2f})"
        yield ReplanNeed(ReplanReason.DISAGREEMENT, message, scope)


def _answer_notes(answer: ModelAnswer, final: str, needs: tuple[ReplanNeed, ...]) -> Iterator[str]:
    if final != answer.final_answer:
        yield f"level_moved: the model alone chose {answer.final_answer}, with the tools it is {final}"
    if answer.need_replan and not needs:
        yield "model_asks_for_evidence: it wants more, but the evidence has no gap"


def _fusion_notes(fusion: Fusion | None, levels: Levels | None) -> Iterator[str]:
    if fusion is None or fusion.agreement is None or levels is None:
        return
    if fusion.probabilities != to_distribution(levels.probabilities):
        yield "probabilities_smoothed: the level probabilities alone would have silenced the tools"
    if fusion.agreement < LEAST_AGREEMENT:
        yield f"no_agreement: {fusion.agreement:.2f} between tools and level probabilities; trust the score little"


def _within_scope(checked: CheckedQuestion[SynthesisRequest]) -> CheckedQuestion[SynthesisRequest]:
    """Leaves out what the evidence says of other parts, with a note."""
    request = checked.request
    evidence = request.evidence.within(request.scope)
    if not (others := len(request.evidence.items()) - len(evidence.items())):
        return checked
    note = f"out_of_scope: {others} findings or scores of other parts were left out"
    return replace(checked, request=replace(request, evidence=evidence), notes=(*checked.notes, note))


def _decide(request: SynthesisRequest, fusion: Fusion | None, answer: ModelAnswer | None) -> tuple[str, str | None]:
    """Returns the fused level, the model's answer or that of the evidence; and why there is none if there is none."""
    if request.mode is Mode.SCORING:
        found = fusion.level.letter if fusion else ""
        error = "nothing_to_fuse: neither tool scores nor level probabilities"
    elif answer is not None:
        return answer.final_answer, None
    elif request.choices:
        index = choose(request.question, request.choices, request.evidence, fusion)
        found = "" if index is None else LETTERS[index]
        error = "no_supported_choice: the evidence names none of the choices, or several alike"
    else:
        found = answer_in_short(request.evidence, fusion)
        error = "no_evidence: there is nothing to answer from"
    return (found, None) if found else (GENERIC_ANSWER, error)


def _fuse(request: SynthesisRequest, levels: Levels | None, worst: WorstDistortion | None) -> Fusion | None:
    """Fuses around the tools' mean, or around the worst distortion where that one decides."""
    fused = partial(fuse, probabilities=levels.probabilities if levels else None, eta=request.eta, form=request.form)
    scores = request.evidence.tool_scores
    try:
        if worst is not None:
            return replace(fused([worst.score]), tool_mean=mean_score(scores))
        return fused([one.score for one in scores])
    except NothingToFuseError:
        return None


def answer_schema(letters: str) -> dict[str, Any]:
    """Returns the JSON schema of a reply; with letters, the answer is one of them."""
    schema = reply_schema(ModelAnswer, "quality_answer")
    if letters:
        schema["properties"]["final_answer"] = {"type": "string", "enum": list(letters)}
    return schema


def read_answer(text: str, known_ids: Collection[str]) -> ModelAnswer:
    """Reads a reply in JSON.

    Raises WrongAnswerError: it is not the JSON asked for, says nothing, or cites evidence of which nothing exists.
    """
    answer = read_json(text, ModelAnswer)
    final, reasoning = answer.final_answer.strip(), answer.quality_reasoning.strip()
    if not final or not reasoning:
        raise WrongAnswerError("final_answer or quality_reasoning was blank")
    if answer.used_evidence and not set(answer.used_evidence) & set(known_ids):
        raise WrongAnswerError("used_evidence had no id of the evidence")
    return answer.model_copy(update={"final_answer": final, "quality_reasoning": reasoning})


async def _ask(checked: CheckedQuestion[SynthesisRequest], chat: ChatModel, config: SynthesisConfig) -> Asked:
    """Returns a valid answer, or why there is none, and what it cost. Never raises LlmError.

    An endpoint that refuses images is asked again without them.
    """
    metered, request, images = MeteredChatModel(chat), checked.request, checked.images
    prompt, notes = _prompt(request, images, chat, config.answer_tokens)
    ids = request.evidence.items().keys()
    read = partial(read_answer, known_ids=ids)
    try:
        answer, completion = await ask_json(metered, prompt, read, max_attempts=config.max_attempts)
    except UnusableAnswerError as error:
        if images and isinstance(cause := error.__cause__, RequestRefusedError) and IMAGES in cause.refused_fields:
            asked = await _ask(replace(checked, images=()), chat, config)
            refused = "images_refused: the endpoint takes no images; it answered without them"
            return replace(asked, usage=metered.usage + asked.usage, notes=(refused, *asked.notes))
        return Asked(error=str(error), attempts=metered.request_count, usage=metered.usage, notes=notes)
    cited = tuple(dict.fromkeys(answer.used_evidence))
    known = tuple(one for one in cited if one in ids)
    if unknown := len(cited) - len(known):
        notes = (*notes, f"unknown_evidence: {unknown} cited ids do not exist")
    answer = answer.model_copy(update={"used_evidence": known})
    levels = read_levels(answer, completion) if request.mode is Mode.SCORING else None
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


def read_levels(answer: ModelAnswer, completion: Completion) -> Levels:
    """Returns the level probabilities of an answer in scoring mode: from log-probabilities, else from its letter."""
    if found := letter_logprobs(completion.top_logprobs, LEVEL_LETTERS, "final_answer"):
        levels = {parse_level(letter): logprob for letter, logprob in found.items()}
        return Levels(from_log_probabilities(levels), LevelSource.LOGITS)
    return Levels(from_classification(parse_level(answer.final_answer)), LevelSource.CLASSIFICATION)


def answer_messages(
    prompts: Prompts, request: SynthesisRequest, images: Sequence[Image], context: str, explanation_chars: int | None
) -> tuple[ChatMessage, ...]:
    """Returns the conversation, with a part of the request's context and of each explanation; None: all of it."""
    evidence = evidence_json(request.evidence, explanation_chars=explanation_chars)
    fence = Fence([request.question, *request.choices, *request.scope, context, evidence])
    words = {
        "question": fence.mark(request.question),
        "scope": fence.mark_in_line(", ".join(request.scope)),
        "context": f"Material:\n{fence.mark(context)}" if context.strip() else "",
        "evidence": "Evidence:\n" + fence.mark(evidence),
    }
    if request.mode is Mode.SCORING:
        return conversation(prompts["scoring"], fence, words, images=images)
    lettered = zip(LETTERS, request.choices, strict=False)
    choices = "\n".join(f"{letter}. {fence.mark_in_line(text)}" for letter, text in lettered)
    section = "choice" if choices else "open"
    return conversation(prompts["explanation"], fence, words | {"choices": choices}, section, images=images)


def allowed_letters(request: SynthesisRequest) -> str:
    """Returns the letters that may be the answer; empty for an open answer."""
    return LEVEL_LETTERS if request.mode is Mode.SCORING else LETTERS[: len(request.choices)]
