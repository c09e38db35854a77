"""What a caller chooses for one summary."""

from pydantic import BaseModel, ConfigDict, Field

from pipeline.summarize.config import Wave
from pipeline.summarize.writer import SummaryType


class SummarizeOptions(BaseModel):
    """One summary's choices; None takes the default of `SummarizeConfig`. They are part of the request's identity."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    summary_type: SummaryType = Field(default=SummaryType.TECHNICAL, description="Whom the summary is for.")
    batch_size: int | None = Field(default=None, ge=1, le=1_000, description="Most chunks of a map batch.")
    reduce_group_size: int | None = Field(default=None, ge=2, le=64, description="Most texts of one reduce call.")
    max_iterations: int | None = Field(default=None, ge=1, le=5, description="Runs before a FAIL is accepted.")
    wave: Wave | None = Field(default=None, description="Batches that run at once.")
