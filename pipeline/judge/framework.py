"""One framework's verdict: five metrics and their JSON objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pipeline.judge.metric import MetricName, MetricResult

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""What `json.dumps` takes; never NaN or infinity."""

JsonObject = dict[str, Json]


class Framework(StrEnum):
    """The ways to judge, in the order in which they are reported."""

    TWIN_LOCK = "twin_lock"
    JUDGE_LOCK = "judge_lock"
    ULTRA = "ultra"


@dataclass(frozen=True, slots=True)
class FrameworkResult:
    """What one framework says of a summary.

    Attributes:
        framework: which one.
        metrics: all five, in the order of `MetricName`; one that failed is there with status ERROR.
        objects: the metrics' JSON objects (seed 002), same order; `{"error": "<reason>"}` for one that failed.
    """

    framework: Framework
    metrics: tuple[MetricResult, ...]
    objects: Mapping[MetricName, JsonObject]

    def __getitem__(self, name: MetricName) -> MetricResult:
        """Returns one metric."""
        return self.metrics[tuple(MetricName).index(name)]

    @property
    def mean(self) -> float | None:
        """Mean of the scores that count; None when there is none."""
        scores = [metric.score for metric in self.metrics if metric.counts and metric.score is not None]
        return sum(scores) / len(scores) if scores else None
