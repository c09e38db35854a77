"""Settings of a summary: the defaults, and what an operator or a caller may change."""

from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, SecretStr, model_validator

from pipeline.frozen import FrozenModel
from pipeline.summarize.steering.wishes import SummaryDetail

ALL: Final = "all"

Wave = Annotated[int, Field(ge=1)] | Literal["all"]
"""Batches that run at once; see `SummarizeConfig.wave`."""


class SummarizeLimits(FrozenModel):
    """How much one document may hold. More is an InvalidInputError, never a cut text."""

    max_chunks: int = Field(default=50_000, ge=1, description="Chunks of a document.")
    max_document_chars: int = Field(default=40_000_000, ge=1, description="Characters of all chunks together.")
    max_name_chars: int = Field(default=500, ge=1, description="Characters of a document's id and of its name.")
    max_key_chars: int = Field(default=200, ge=1, description="Characters of an idempotency key.")


class StorageConfig(FrozenModel):
    """Where summaries and their results are kept."""

    directory: Path = Field(default=Path("summaries"), description="Folder of the SQLite files; made if missing.")
    postgres_url: SecretStr | None = Field(
        default=None, description="Postgres instead of SQLite, for servers on several hosts. Needs the extra postgres."
    )
    postgres_pool_size: int = Field(default=4, ge=1, description="Connections for summaries, and as many again.")
    check_s: float = Field(
        default=5.0, gt=0, description="Time between checks that it can be used; SummarizeService is healthy if so."
    )


class JobsConfig(FrozenModel):
    """Summaries that run without a reader."""

    concurrency: int = Field(default=2, ge=1, le=32, description="Submitted summaries that a server runs at once.")
    max_queued: int = Field(
        default=1_000,
        ge=1,
        description="Submitted summaries that have not ended; more are refused. A tenant may have as many as are free.",
    )
    poll_s: float = Field(default=2.0, gt=0, description="How often jobs of other servers are looked for.")
    max_attempts: int = Field(default=5, ge=1, description="Runs that break off before a job is given up as failed.")


_SETTINGS_OF_THE_RESULT = {
    *("batch_size", "reduce_group_size", "max_iterations", "wave", "detail"),
    *("min_topics", "max_topics", "max_citations"),
}


class SummarizeConfig(FrozenModel):
    """Defaults of a summary."""

    batch_size: int = Field(default=7, ge=1, le=1_000, description="Most chunks of a map batch.")
    context_batches: ClassVar[int] = 3  # earlier extractions that a batch sees
    reduce_group_size: int = Field(default=4, ge=2, le=64, description="Most texts that one reduce call merges.")
    max_iterations: int = Field(default=2, ge=1, le=5, description="Map-reduce runs before a FAIL is accepted.")
    wave: Wave = Field(
        default=ALL,
        description='Batches that run at once. With a number a batch sees earlier extractions, with "all" '
        "the source before it.",
    )
    detail: SummaryDetail = Field(
        default=SummaryDetail.SCHEDULE,
        description="Length where the caller sets none: that of the schedule of the evaluation, or all that "
        "there is room for.",
    )
    source_tail_tokens: ClassVar[int] = 200  # source before a batch that wave "all" shows it
    outline_tokens: ClassVar[int] = 200  # headings above a batch, and abbreviations, that wave "all" shows it
    critique_tokens: ClassVar[int] = 1_000  # most of a critique that later prompts carry
    min_topics: int = Field(default=5, ge=1, description="Fewest key topics.")
    max_topics: int = Field(default=10, ge=1, description="Most key topics.")
    max_citations: int = Field(
        default=20_000, ge=0, le=20_000, description="Sentences of a summary whose place in the document is given."
    )
    progress_events: int = Field(default=256, ge=1, description="Events that wait for a slow reader before they join.")
    partial_chars: int = Field(default=400_000, ge=1, description="Most characters of a partial result's text.")
    lease_ttl_s: float = Field(default=15.0, gt=0, description="A server that is silent for so long lost its summary.")
    heartbeat_s: float = Field(
        default=1.0, gt=0, description="How often a lease is renewed and cancels are looked for."
    )
    keep_days: float = Field(default=30.0, gt=0, description="Summaries that nobody touched for so long are deleted.")
    limits: SummarizeLimits = SummarizeLimits()
    jobs: JobsConfig = JobsConfig()

    def result_settings(self) -> str:
        """Returns the settings that a summary depends on, as JSON."""
        return self.model_dump_json(include=_SETTINGS_OF_THE_RESULT)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.min_topics > self.max_topics:
            raise ValueError(f"expected min_topics up to max_topics {self.max_topics}, got {self.min_topics}")
        if self.heartbeat_s * 3 > self.lease_ttl_s:
            raise ValueError(f"expected lease_ttl_s of at least 3 heartbeats, got {self.lease_ttl_s}")
        return self
