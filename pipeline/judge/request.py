"""What one judgement is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.judge.framework import Framework
from pipeline.judge.metric import MetricName


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A summary to judge against its source.

    Attributes:
        source: the whole article, as the caller sent it.
        summary: likewise.
        frameworks: wanted, in any order, repeats ignored; empty for all three.
        tool_scores: scores in [1, 5] of the caller's own tools, by metric, then by tool; Ultra fuses them with its own.
    """

    source: str
    summary: str
    frameworks: tuple[Framework, ...] = ()
    tool_scores: Mapping[MetricName, Mapping[str, float]] = field(default_factory=dict)

    @property
    def wanted(self) -> tuple[Framework, ...]:
        """The frameworks in their fixed order, each once."""
        return tuple(framework for framework in Framework if framework in self.frameworks or not self.frameworks)
