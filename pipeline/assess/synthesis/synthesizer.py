"""Writes the answer to a question about quality from evidence and tool scores (README, Fusion and Answers).

In scoring mode the score is arithmetic: the tools' mean fused with level probabilities. A language model gives the
probabilities and the words; without one the tools decide alone. Only findings and scores of the asked scope are read.
Whether the evidence suffices is decided from the evidence; a model that saw images may say that it is unsure.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace

from pipeline.assess.synthesis.ask import Asked, Reply, ask, read_levels
from pipeline.assess.synthesis.choose import LETTERS, answer_in_short, choose, describe
from pipeline.assess.synthesis.config import SynthesisConfig, SynthesisLimits
from pipeline.assess.synthesis.request import CheckedRequest, Levels, Mode, SynthesisRequest, check_request
from pipeline.assess.synthesis.result import (
    DETERMINISTIC,
    ImageOpinion,
    ReplanNeed,
    SummarizerOutput,
    Synthesis,
    doubts,
    merged,
    replan_needs,
)
from pipeline.judge.fusion import Fusion, NothingToFuseError, fuse, parse_level
from pipeline.judge.ultra.levels import LevelSource
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
        self._config = config or SynthesisConfig()
        self._off_loop = OffLoop(executor)

    @property
    def limits(self) -> SynthesisLimits:
        """How much one request may bring."""
        return self._config.limits

    async def synthesize(self, request: SynthesisRequest, *, chat_model: ChatModel | None = None) -> Synthesis:
        """Returns an answer, whatever the model does.

        Args:
            request: the question and its evidence.
            chat_model: writes the answer; None: it is composed from the evidence.

        Raises:
            InvalidInputError: a part of the request breaks a rule; raised before any model is asked.
        """
        checked = _within_scope(await self._off_loop(lambda: check_request(request, self._config.limits)))
        if chat_model is None or checked.levels is not None:
            return self._from_evidence(checked)
        asked = await ask(checked.request, checked.images, chat_model, self._config)
        if asked.reply is None:
            return self._from_evidence(checked, failed=asked)
        return self._from_model(checked, asked, asked.reply, author=chat_model.identity)

    def _from_model(self, checked: CheckedRequest, asked: Asked, reply: Reply, *, author: str) -> Synthesis:
        """Takes the model's words and, in scoring mode, the fused level."""
        answer, request = reply.answer, checked.request
        levels = read_levels(reply, self._config) if request.mode is Mode.SCORING else None
        fusion = _fuse(request, levels)
        opinion = None
        if checked.images:
            opinion = ImageOpinion(parse_level(answer.final_answer) if levels else None, answer.need_replan)
        needs = self._needs(request, fusion, opinion)
        final, notes = answer.final_answer, [*checked.notes, *asked.notes, *self._fusion_notes(fusion, levels)]
        if levels and fusion is not None:
            final = fusion.level.letter
            if final != answer.final_answer:
                notes.append(f"level_moved: the model alone chose {answer.final_answer}, with the tools it is {final}")
        if answer.need_replan and not needs:
            notes.append("model_asks_for_evidence: it wants more, but the evidence has no gap")
        return Synthesis(
            output=SummarizerOutput(
                final_answer=final,
                quality_reasoning=answer.quality_reasoning,
                need_replan=bool(needs),
                replan_reason=_reason(needs),
                used_evidence=answer.used_evidence,
            ),
            mode=request.mode,
            fusion=fusion,
            level_source=levels.source if levels else LevelSource.UNIFORM,
            replan_needs=needs,
            used_evidence=request.evidence.only(answer.used_evidence),
            author=author,
            attempt_count=asked.attempts,
            usage=asked.usage,
            notes=tuple(notes),
        )

    def _from_evidence(self, checked: CheckedRequest, *, failed: Asked | None = None) -> Synthesis:
        """Answers from the evidence alone; after a model that failed, as a fallback that asks for no replanning."""
        request, levels = checked.request, checked.levels
        fusion = _fuse(request, levels)
        needs = self._needs(request, fusion, None)
        final, error = _decide(request, fusion)
        replans = bool(needs) and failed is None
        return Synthesis(
            output=SummarizerOutput(
                final_answer=final,
                quality_reasoning=describe(request.evidence, fusion),
                need_replan=replans,
                replan_reason=_reason(needs) if replans else None,
                used_evidence=tuple(item.id for item in request.evidence.items()),
                error=failed.error if failed else error,
                degraded=failed is not None,
            ),
            mode=request.mode,
            fusion=fusion,
            level_source=levels.source if levels else LevelSource.UNIFORM,
            replan_needs=needs,
            used_evidence=request.evidence,
            author=DETERMINISTIC,
            attempt_count=failed.attempts if failed else 0,
            usage=failed.usage if failed else LlmUsage(),
            notes=(*checked.notes, *(failed.notes if failed else ()), *self._fusion_notes(fusion, levels)),
        )

    def _needs(
        self, request: SynthesisRequest, fusion: Fusion | None, opinion: ImageOpinion | None
    ) -> tuple[ReplanNeed, ...]:
        gaps = replan_needs(request.scope, request.evidence, self._config)
        return merged((*gaps, *doubts(request.scope, fusion, opinion, self._config)))

    def _fusion_notes(self, fusion: Fusion | None, levels: Levels | None) -> Iterator[str]:
        if fusion is None or fusion.agreement is None or levels is None:
            return
        if fusion.probabilities != levels.probabilities:
            yield "probabilities_smoothed: the level probabilities alone would have silenced the tools"
        if fusion.agreement < self._config.least_agreement:
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
