"""What Ultra asks of a language model: how probable each quality level is, and where the evidence stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pipeline.errors import PipelineError
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.fusion import Distribution
from pipeline.judge.metric import MetricName
from pipeline.text.passage import Passage


class LevelSource(StrEnum):
    """What level probabilities were made from, the most telling first."""

    LOG_PROBABILITIES = "log_probabilities"  # of the letters, two orders averaged
    SAMPLES = "samples"  # several answers
    CLASSIFICATION = "classification"  # one answer
    NONE = "none"  # no model: the tools alone


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool's opinion of one metric.

    Attributes:
        name: snake_case, for example `claim_support`; a caller's own tool keeps its name.
        score: in [1, 5].
        weight: in the mean of the tools, not negative; one of weight 0 is shown and says nothing.
    """

    name: str
    score: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LevelTask:
    """What the model is asked about.

    Attributes:
        metric: which one.
        table: the evidence.
        tools: their opinions; never empty.
        attempt: 1, or 2 after disputed claims were reread.
    """

    metric: MetricName
    table: EvidenceTable
    tools: Sequence[Tool]
    attempt: int


@dataclass(frozen=True, slots=True)
class LevelReading:
    """What the model believes.

    Attributes:
        probabilities: of the levels, worst first, not smoothed; two orders of the letters averaged where there are two.
        source: how they were obtained.
        claimed_span_count: quotes that the model gave.
        evidence: those of the quotes that stand in the source or the summary, as places there.
        reason: why, in the model's words; may be empty.
    """

    probabilities: Distribution
    source: LevelSource
    claimed_span_count: int
    evidence: tuple[Passage, ...]
    reason: str

    @property
    def verified_share(self) -> float:
        """Verified of claimed quotes, in [0, 1]; 1 when none was claimed."""
        return min(1.0, len(self.evidence) / self.claimed_span_count) if self.claimed_span_count else 1.0


class LevelError(PipelineError):
    """The model gave nothing usable for one metric, after all attempts; the tools decide alone.

    Attributes:
        reason: snake_case word, then what it means; never the caller's text.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LevelJudge(Protocol):
    """A language model that grades one metric at a time on an anchored rubric."""

    @property
    def identity(self) -> str:
        """The model's name, for the response."""

    async def read_level(self, task: LevelTask) -> LevelReading:
        """Returns level probabilities. Raises LevelError when the model gives nothing usable."""
