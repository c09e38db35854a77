"""How to judge: every number that an operator may choose."""

from pydantic import BaseModel, ConfigDict, Field


class JudgeLimits(BaseModel):
    """How much one request may ask for. More is an InvalidInputError, never a cut text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_source_chars: int = Field(default=2_000_000, ge=1, description="Characters of the source text.")
    max_summary_chars: int = Field(default=200_000, ge=1, description="Characters of the summary.")
    max_tool_scores: int = Field(default=32, ge=0, description="Scores of the caller's own tools for one metric.")


class JudgeConfig(BaseModel):
    """The settings of a judgement (SCORING, sections 2 and 3)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limits: JudgeLimits = JudgeLimits()
    max_cached_judgements: int = Field(
        default=256, ge=0, description="Finished judgements kept in memory by the hash of their request. 0: none."
    )
