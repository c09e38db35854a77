"""Writes the answer to a question about quality from evidence and tool scores (docs/concepts/assessments.md).

In scoring mode the score is arithmetic: the tools' mean fused with level probabilities. A language model gives the
probabilities and the words; without one the tools decide alone. Only findings and scores of the asked scope are read.
Whether the evidence suffices is decided from the evidence; a model that saw images may say that it is unsure.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace

from pipeline.assess.synthesis.ask import LETTERS, Asked, ModelAnswer, ask
from pipeline.assess.synthesis.choose import answer_in_short, choose, describe
from pipeline.assess.synthesis.config import SynthesisConfig
from pipeline.assess.synthesis.request import CheckedRequest, Levels, Mode, SynthesisRequest, check_request
from pipeline.assess.synthesis.result import (
    DETERMINISTIC,
    LEAST_AGREEMENT,
    ReplanNeed,
    SummarizerOutput,
    Synthesis,
    replan_needs,
)
from pipeline.judge.fusion import Fusion, LevelSource, NothingToFuseError, check_distribution, fuse, parse_level
from pipeline.llm.chat_model import ChatModel, LlmUsage
from pipeline.off_loop import OffLoop

NOTHING_TO_FUSE = "nothing_to_fuse: neither tool scores nor level probabilities"
NO_CHOICE = "no_supported_choice: the evidence names none of the choices, or several alike"
NO_EVIDENCE = "no_evidence: there is nothing to answer from"
GENERIC_ANSWER = "The evidence does not allow an answer."
"""Stands where neither a model nor the evidence answers: an answer is never empty."""


class Synthesizer:
    """Answers questions. Holds no state between calls; one object serves any number of them at once.

    Args:
        config: how to answer.
        executor: where images are checked, so that the event loop stays free; the caller owns it. None: in the loop's
            own thread, for scripts and tests.
    """

    def __init__(self, config: SynthesisConfig | None = None, *, executor: Executor | None = None) -> None:
        self.config = config or SynthesisConfig()
        self.off_loop = OffLoop(executor)

    async def synthesize(self, request: SynthesisRequest, *, chat_model: ChatModel | None = None) -> Synthesis:
        """Returns an answer, whatever the model does.

        Args:
            request: the question and its evidence.
            chat_model: writes the answer; None: it is composed from the evidence.

        Raises:
            InvalidInputError: a part of the request breaks a rule; raised before any model is asked.
        """
        return await self.answer(await self.off_loop(lambda: check_request(request, self.config.limits)), chat_model)

    async def answer(self, checked: CheckedRequest, chat_model: ChatModel | None) -> Synthesis:
        """Returns an answer to a request that has been checked."""
        checked = _within_scope(checked)
        if chat_model is None or checked.levels is not None:
            return _synthesis(checked, Asked(None, checked.levels, None, 0, LlmUsage()), DETERMINISTIC)
        asked = await ask(checked.request, checked.images, chat_model, self.config)
        return _synthesis(checked, asked, chat_model.identity)


def _synthesis(checked: CheckedRequest, asked: Asked, author: str) -> Synthesis:
    """Takes the model's words, or those of the evidence; in scoring mode the fused level."""
    request, levels, answer = checked.request, asked.levels, asked.answer
    fusion = _fuse(request, levels)
    has_seen = answer is not None and bool(checked.images)
    needs = replan_needs(
        request.scope,
        request.evidence,
        fusion,
        seen_level=parse_level(answer.final_answer) if answer and has_seen and levels else None,
        is_unsure=answer is not None and has_seen and answer.need_replan,
    )
    output = (
        _from_model(answer, request.mode, fusion, needs) if answer else _from_evidence(request, fusion, needs, asked)
    )
    notes = (*checked.notes, *asked.notes, *_fusion_notes(fusion, levels), *_answer_notes(answer, output))
    return Synthesis(
        output=output,
        mode=request.mode,
        fusion=fusion,
        level_source=levels.source if levels else LevelSource.UNIFORM,
        replan_needs=needs,
        used_evidence=request.evidence.only(answer.used_evidence) if answer else request.evidence,
        author=author if answer else DETERMINISTIC,
        attempt_count=asked.attempts,
        usage=asked.usage,
        notes=notes,
    )


def _from_model(
    answer: ModelAnswer, mode: Mode, fusion: Fusion | None, needs: tuple[ReplanNeed, ...]
) -> SummarizerOutput:
    return SummarizerOutput(
        final_answer=fusion.level.letter if fusion and mode is Mode.SCORING else answer.final_answer,
        quality_reasoning=answer.quality_reasoning,
        need_replan=bool(needs),
        replan_reason=_reason(needs),
        used_evidence=answer.used_evidence,
    )


def _from_evidence(
    request: SynthesisRequest, fusion: Fusion | None, needs: tuple[ReplanNeed, ...], asked: Asked
) -> SummarizerOutput:
    """Answers from the evidence alone; after a model that failed, as a fallback that asks for no replanning."""
    final, error = _decide(request, fusion)
    is_fallback = asked.error is not None
    return SummarizerOutput(
        final_answer=final,
        quality_reasoning=describe(request.evidence, fusion),
        need_replan=bool(needs) and not is_fallback,
        replan_reason=None if is_fallback else _reason(needs),
        used_evidence=tuple(request.evidence.items()),
        error=asked.error or error,
        degraded=is_fallback,
    )


def _answer_notes(answer: ModelAnswer | None, output: SummarizerOutput) -> Iterator[str]:
    if answer is None:
        return
    if output.final_answer != answer.final_answer:
        moved = f"the model alone chose {answer.final_answer}, with the tools it is {output.final_answer}"
        yield f"level_moved: {moved}"
    if answer.need_replan and not output.need_replan:
        yield "model_asks_for_evidence: it wants more, but the evidence has no gap"


def _fusion_notes(fusion: Fusion | None, levels: Levels | None) -> Iterator[str]:
    if fusion is None or fusion.agreement is None or levels is None:
        return
    if fusion.probabilities != check_distribution(levels.probabilities):
        yield "probabilities_smoothed: the level probabilities alone would have silenced the tools"
    if fusion.agreement < LEAST_AGREEMENT:
        yield f"no_agreement: {fusion.agreement:.2f} between tools and level probabilities; trust the score little"


def _within_scope(checked: CheckedRequest) -> CheckedRequest:
    """Leaves out what the evidence says of other parts, with a note."""
    request = checked.request
    evidence = request.evidence.within(request.scope)
    if not (others := len(request.evidence.items()) - len(evidence.items())):
        return checked
    note = f"out_of_scope: {others} findings or scores of other parts were left out"
    return replace(checked, request=replace(request, evidence=evidence), notes=(*checked.notes, note))


def _decide(request: SynthesisRequest, fusion: Fusion | None) -> tuple[str, str | None]:
    """Returns the answer that the evidence gives, and why there is none if there is none."""
    if request.mode is Mode.SCORING:
        return (fusion.level.letter, None) if fusion else (GENERIC_ANSWER, NOTHING_TO_FUSE)
    if request.choices:
        index = choose(request.question, request.choices, request.evidence, fusion)
        return (LETTERS[index], None) if index is not None else (GENERIC_ANSWER, NO_CHOICE)
    answer = answer_in_short(request.evidence, fusion)
    return (answer, None) if answer else (GENERIC_ANSWER, NO_EVIDENCE)


def _fuse(request: SynthesisRequest, levels: Levels | None) -> Fusion | None:
    scores = [one.score for one in request.evidence.tool_scores]
    try:
        return fuse(scores, levels.probabilities if levels else None, eta=request.eta, form=request.form)
    except NothingToFuseError:
        return None


def _reason(needs: tuple[ReplanNeed, ...]) -> str | None:
    return "; ".join(need.message for need in needs) or None
