"""What one judgement is asked for."""

from dataclasses import dataclass

from pipeline.judge.framework import Framework
from pipeline.judge.fusion import LogisticMapping
from pipeline.judge.metric import MetricName


@dataclass(frozen=True, slots=True)
class MetricToolScore:
    """What one of the caller's own tools says of one metric; Ultra fuses it with its own tools.

    Attributes:
        metric: which metric the tool measures.
        tool: its name; each once for a metric.
        score: in [1, 5], 5 is best, unless there is a mapping. NaN is left out, with a note.
        mapping: brings a score of another scale to [1, 5].
    """

    metric: MetricName
    tool: str
    score: float
    mapping: LogisticMapping | None = None


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A summary to judge against its source.

    Attributes:
        source: the whole article, as the caller sent it.
        summary: likewise.
        frameworks: wanted, in any order, repeats ignored; empty for all three.
        tool_scores: of the caller's own tools.
    """

    source: str
    summary: str
    frameworks: tuple[Framework, ...] = ()
    tool_scores: tuple[MetricToolScore, ...] = ()

    @property
    def wanted(self) -> tuple[Framework, ...]:
        """The frameworks in their fixed order, each once."""
        return tuple(framework for framework in Framework if framework in self.frameworks or not self.frameworks)
