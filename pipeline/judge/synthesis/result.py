"""What comes out of a synthesis."""

from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pipeline.judge.fusion import Fusion
from pipeline.judge.synthesis.evidence import Evidence
from pipeline.judge.synthesis.replan import ReplanNeed
from pipeline.judge.synthesis.request import Mode
from pipeline.judge.ultra.levels import LevelSource
from pipeline.llm.chat_model import LlmUsage

DETERMINISTIC = "deterministic"
"""The author of an answer that no language model wrote."""


class SummarizerOutput(BaseModel):
    """The answer (seed 004). Its fields cannot contradict each other."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    final_answer: str = Field(description="Letter of a choice, letter of the level, or an open answer.")
    quality_reasoning: str = Field(min_length=1, description="Why, from the evidence.")
    need_replan: bool = Field(default=False, description="Whether the evidence does not suffice.")
    replan_reason: str | None = Field(default=None, description="What is missing; None without need_replan.")
    used_evidence: tuple[str, ...] = Field(default=(), description="Ids of the evidence that the answer rests on.")
    error: str | None = Field(default=None, description="Why there is no proper answer; never the caller's text.")
    degraded: bool = Field(default=False, description="A fallback stands in place of the language model's answer.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.need_replan != bool(self.replan_reason):
            raise ValueError("expected a replan_reason with need_replan, and none without")
        if self.degraded and (self.need_replan or self.error is None):
            raise ValueError("expected a degraded answer to say why, and not to ask for replanning")
        if not self.final_answer and self.error is None:
            raise ValueError("expected an answer, or an error")
        return self


@dataclass(frozen=True, slots=True)
class Synthesis:
    """An answer with everything it came from.

    Attributes:
        output: the answer.
        mode: its kind.
        fusion: how the score came about; None when there was nothing to fuse.
        level_source: where the level probabilities come from.
        replan_needs: the gaps in the evidence, also those of a degraded answer, which asks for nothing.
        used_evidence: what the answer rests on.
        author: "deterministic", or the identity of the chat model.
        attempts: answers that the language model was asked for; 0 without one.
        usage: what they cost.
        notes: what a reader should know, in a few words each.
    """

    output: SummarizerOutput
    mode: Mode
    fusion: Fusion | None
    level_source: LevelSource
    replan_needs: tuple[ReplanNeed, ...]
    used_evidence: Evidence
    author: str
    attempts: int
    usage: LlmUsage
    notes: tuple[str, ...]
