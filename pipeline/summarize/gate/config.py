"""What the gate checks, and how far it goes to repair."""

from typing import Annotated, ClassVar

from pydantic import Field

from pipeline.frozen import FrozenModel

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class TrustConfig(FrozenModel):
    """Settings of the gate behind every answer that becomes part of a summary."""

    exact: bool = Field(default=True, description="Whether answers are checked at all; nothing else works without it.")
    claims: bool = Field(default=True, description="Whether a model reads the sentences that are not the input's own.")
    max_claims: int = Field(
        default=64, ge=0, le=1_000, description="Sentences of an answer that it reads, at most: 64 take about 2 s."
    )
    max_cited_claims: int = Field(
        default=256,
        ge=0,
        le=10_000,
        description="Written sentences of a finished summary that it compares with the document itself, at most.",
    )
    max_checks: int = Field(default=2, ge=1, le=64, description="Answers that it reads at once; callers take turns.")
    asks_again: bool = Field(default=True, description="Whether a bad answer is asked for once more, with the faults.")
    rewrites: bool = Field(
        default=True, description="Whether sentences of the input are chosen where an answer stays unusable."
    )
    min_map_recall: ClassVar[float] = 0.5  # least share of a batch's values that its text keeps with their subjects
    min_merge_recall: ClassVar[float] = 0.5  # the same of a merge, times the share of its texts that it has room for
    max_dropped: Share = Field(default=0.25, description="Share of its sentences that an answer may lose to the gate.")
