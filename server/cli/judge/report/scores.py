"""The scores of a page: one chart for each framework, five metrics each."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from precis.v1 import judge_pb2 as pb

from server.cli.judge.names import (
    cap_name,
    counting_score,
    deciding_caps,
    framework_name,
    limit_name,
    metric_name,
    status_name,
)

TITLES = {
    "twin-lock": "Twin-Lock",
    "judge-lock": "Judge-Lock",
    "ultra": "Ultra",
    "bias-toxicity": "Bias and toxicity",
}
QUOTE_LIMIT = 5  # passages that one metric names


@dataclass(frozen=True, slots=True)
class CapLine:
    """A cap: what it says, whether the score is lower for it, and why it holds."""

    says: str
    lowered: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One metric of one framework.

    Attributes:
        title: its name for people.
        score: in [0, 10]; None when there is none.
        counts: whether the score enters means.
        remarks: what is special about it, a word or two each.
        reason: why it is what it is; why there is none for an error.
        caps: limits that hold.
        inputs: name and value of everything in the formula.
        quotes: passages that decided: name of the text, and words.
    """

    title: str
    score: float | None
    counts: bool = True
    remarks: tuple[str, ...] = ()
    reason: str = ""
    caps: tuple[CapLine, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """The bars of one framework, in the strict order; `mean` over those that count."""

    title: str
    bars: tuple[Bar, ...]
    mean: float | None


def to_title(name: str) -> str:
    """Writes a name as a heading."""
    return TITLES.get(name, name.capitalize())


def to_chart(framework: pb.FrameworkResult) -> Chart:
    """Builds the chart of one judgement."""
    mean = framework.mean_score if framework.HasField("mean_score") else None
    return Chart(to_title(framework_name(framework)), tuple(map(to_bar, framework.metrics)), mean)


def to_bar(metric: pb.JudgeMetric) -> Bar:
    """Builds one bar."""
    remarks = [status_name(metric), capped_at(metric)]
    if metric.HasField("confidence"):
        remarks.append(f"confidence {metric.confidence:.2f}")
    return Bar(
        title=to_title(metric_name(metric)),
        score=metric.score if metric.HasField("score") else None,
        counts=counting_score(metric) is not None,
        remarks=tuple(filter(None, remarks)),
        reason=metric.error or metric.reason,
        caps=tuple(map(to_limit, metric.caps)),
        inputs=tuple((value.name, to_text(value)) for value in metric.inputs),
        quotes=tuple((span.text_id, span.text) for span in metric.evidence[:QUOTE_LIMIT]),
    )


def to_limit(cap: pb.MetricCap) -> CapLine:
    """Builds one limit."""
    return CapLine(cap_name(cap), cap.lowered, cap.reason)


def capped_at(metric: pb.JudgeMetric) -> str:
    """Says which limit holds the score down; empty when none does."""
    limits = [cap.limit for cap in deciding_caps(metric)]
    return f"capped at {limit_name(min(limits))}" if limits else ""


def to_text(value: pb.MetricInput) -> str:
    """Writes an input so that the score can be computed again."""
    match value.WhichOneof("value"):
        case "number":
            return f"{value.number:.6g}"
        case "count":
            return str(value.count)
        case "flag":
            return "yes" if value.flag else "no"
        case _:
            return value.text


def mean_charts(scores: Mapping[tuple[str, str], Sequence[float]]) -> list[Chart]:
    """Builds the charts of the means of many judgements from the scores that count, by framework and metric."""
    charts = []
    for framework in dict.fromkeys(framework for framework, _ in scores):
        bars = tuple(mean_bar(metric, values) for (name, metric), values in scores.items() if name == framework)
        means = [bar.score for bar in bars if bar.score is not None]
        charts.append(Chart(to_title(framework), bars, statistics.fmean(means) if means else None))
    return charts


def mean_bar(metric: str, values: Sequence[float]) -> Bar:
    """Builds the bar of one mean."""
    if not values:
        return Bar(to_title(metric), None, counts=False, remarks=("no score that counts",))
    reason = f"Mean of {len(values)} scores; the lowest is {min(values):.2f}, the highest {max(values):.2f}."
    return Bar(to_title(metric), statistics.fmean(values), reason=reason)
