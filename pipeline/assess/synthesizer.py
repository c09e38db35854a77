"""Writes the answer to a question about quality from evidence and tool scores (docs/concepts/assessments.md).

In scoring mode the score is arithmetic: the tools' mean, or the worst distortion where it is lower, fused with level
probabilities. A language model gives the probabilities and the words; without one the tools decide alone. Only findings
and scores of the asked scope are read. Whether the evidence suffices is decided from the evidence; a model that saw
images may say that it is unsure.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

from pipeline.assess.ask import LETTERS, Asked, ModelAnswer, ask
from pipeline.assess.choose import answer_in_short, choose, describe
from pipeline.assess.config import SynthesisConfig
from pipeline.assess.evidence import WorstDistortion, mean_score
from pipeline.assess.request import Checked, Levels, Mode, SynthesisRequest, check_request
from pipeline.assess.result import DETERMINISTIC, ReplanNeed, ReplanReason, Synthesis, replan_needs
from pipeline.judge.fusion import (
    Fusion,
    FusionForm,
    LevelSource,
    NothingToFuseError,
    check_distribution,
    fuse,
    parse_level,
)
from pipeline.llm.chat_model import ChatModel
from pipeline.llm.config import LlmRole
from pipeline.llm.conversation import author_of
from pipeline.off_loop import OffLoop

LEAST_AGREEMENT = 0.2
"""Less agreement of tools and level probabilities is as good as none: a certain model is three levels away."""

LEVELS_APART = 2.0
"""At most, between an answer about images and what the tools measured."""

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

    async def answer(self, checked: Checked[SynthesisRequest], chat_model: ChatModel | None) -> Synthesis:
        """Returns an answer to a request that has been checked."""
        checked = _within_scope(checked)
        if chat_model is None or checked.levels is not None:
            return _synthesis(checked, Asked(levels=checked.levels), DETERMINISTIC)
        asked = await ask(checked.request, checked.images, chat_model, self.config)
        return _synthesis(checked, asked, author_of(chat_model, LlmRole.SYNTHESIZER))


def _synthesis(checked: Checked[SynthesisRequest], asked: Asked, author: str) -> Synthesis:
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
    checked: Checked[SynthesisRequest], asked: Asked, fusion: Fusion | None, worst: WorstDistortion | None
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
    if fusion.probabilities != check_distribution(levels.probabilities):
        yield "probabilities_smoothed: the level probabilities alone would have silenced the tools"
    if fusion.agreement < LEAST_AGREEMENT:
        yield f"no_agreement: {fusion.agreement:.2f} between tools and level probabilities; trust the score little"


def _within_scope(checked: Checked[SynthesisRequest]) -> Checked[SynthesisRequest]:
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
