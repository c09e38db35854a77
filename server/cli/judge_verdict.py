"""Whether a judgement reaches the scores of `--fail-under`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from precis.v1 import judge_pb2 as pb

from server.cli.judge_floors import Floor
from server.cli.judge_names import FRAMEWORKS, METRICS, counting_score, framework_name, metric_name, status_name


@dataclass(frozen=True, slots=True)
class Breach:
    """A metric under its floor.

    Attributes:
        floor: what was asked for.
        metric: framework and metric, for example "ultra hallucination".
        found: how it falls short: "3.00 < 7", or that there is no score that counts.
    """

    floor: Floor
    metric: str
    found: str

    def __str__(self) -> str:
        """Says it in a few words."""
        return f"{self.metric} {self.found}"


def breaches_of(result: pb.JudgeResult, floors: Sequence[Floor]) -> list[Breach]:
    """Lists what is under a floor; a score that is missing or does not count is."""
    return [
        Breach(floor, f"{framework_name(framework)} {metric_name(metric)}", found(metric, floor))
        for floor in floors
        for framework in frameworks_of(result, floor)
        for metric in framework.metrics
        if METRICS.get(metric.name) == floor.metric and is_under(counting_score(metric), floor.score)
    ]


def frameworks_of(result: pb.JudgeResult, floor: Floor) -> Iterator[pb.FrameworkResult]:
    """Yields the frameworks that a floor speaks of."""
    for framework in result.frameworks:
        if floor.framework in (None, FRAMEWORKS.get(framework.framework)):
            yield framework


def is_under(score: float | None, floor: float) -> bool:
    """Tells whether a score is lower than a floor, or not there."""
    return score is None or score < floor


def found(metric: pb.JudgeMetric, floor: Floor) -> str:
    """Says how a metric falls short."""
    score = counting_score(metric)
    return (
        f"{score:.2f} < {floor.score:g}" if score is not None else f"has no score that counts ({status_name(metric)})"
    )
