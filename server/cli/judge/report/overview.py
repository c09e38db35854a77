"""What many numbers look like at a glance: claims by probability, items by score, and a line for each item."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from precis.v1 import evidence_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.judge import names
from server.cli.judge.floors import BEST_SCORE
from server.cli.judge.verdict import ClaimVerdict, badness_of, verdict_of

BIN_COUNT = 10
PLAIN = "items"  # what is counted when nothing is told apart


@dataclass(frozen=True, slots=True)
class Bin:
    """A tenth of a histogram's range, from `low` to `high`; the last one has its upper end.

    Attributes:
        counts: of values, by kind.
    """

    low: float
    high: float
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """Counts all kinds."""
        return self.counts.total()


def histogram(values: Iterable[tuple[float, str]], limit: float) -> list[Bin]:
    """Counts values of [0, limit], each with its kind, in tenths of the range."""
    bins = [Bin(limit * at / BIN_COUNT, limit * (at + 1) / BIN_COUNT) for at in range(BIN_COUNT)]
    for value, kind in values:
        bins[min(int(value / limit * BIN_COUNT), BIN_COUNT - 1)].counts[kind] += 1
    return bins


def claim_histogram(claims: Sequence[evidence_pb2.Claim]) -> list[Bin]:
    """Counts claims by probability and label."""
    return histogram(((claim.probability, names.label_word(claim.label)) for claim in claims), 1.0)


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One item of many.

    Attributes:
        means: by framework; None without scores that count.
        statuses: what is special about its scores, such as "partial"; in the order of the alphabet.
        breach_count: scores under a floor.
        category: the caller's; empty for none.
    """

    id: str
    badness: float
    means: Mapping[str, float | None]
    verdict: ClaimVerdict
    statuses: tuple[str, ...]
    breach_count: int
    category: str = ""


def row_of(item_id: str, category: str, result: pb.JudgeResult, breach_count: int) -> IndexRow:
    """Builds the row of an item."""
    statuses = {names.status_name(metric) for framework in result.frameworks for metric in framework.metrics}
    return IndexRow(
        item_id,
        badness_of(result, is_breached=bool(breach_count)),
        {
            names.framework_word(framework.framework): framework.mean_score
            if framework.HasField("mean_score")
            else None
            for framework in result.frameworks
        },
        verdict_of(result),
        tuple(sorted(statuses - {""})),
        breach_count,
        category,
    )


def item_histograms(rows: Sequence[IndexRow]) -> dict[str, list[Bin]]:
    """Counts items by the mean of each framework, and by their worst claim."""
    frameworks = dict.fromkeys(framework for row in rows for framework in row.means)
    values = {
        f"{names.title_of(framework)}, mean score": [row.means.get(framework) for row in rows]
        for framework in frameworks
    }
    values["Score of the worst claim"] = [row.verdict.worst_score for row in rows]
    return {
        title: histogram(((value, PLAIN) for value in found if value is not None), BEST_SCORE)
        for title, found in values.items()
    }


def mean_results(
    scores: Mapping[names.MetricKey, list[float]], statuses: Counter[tuple[names.MetricKey, str]]
) -> list[pb.FrameworkResult]:
    """Writes the means of many judgements as if they were one; a mean is partial when a score in it is."""
    results: dict[int, pb.FrameworkResult] = {}
    for (framework, metric), values in scores.items():
        result = results.setdefault(framework, pb.FrameworkResult(framework=framework))
        mean = result.metrics.add(name=metric)
        if values:
            is_partial = statuses[(framework, metric), "partial"]
            mean.status = pb.JUDGE_METRIC_STATUS_PARTIAL if is_partial else pb.JUDGE_METRIC_STATUS_SCORED
            mean.score = statistics.fmean(values)
            spread = f"the lowest is {min(values):.2f}, the highest {max(values):.2f}"
            mean.reason = f"Mean of {len(values)} scores; {spread}."
    for result in results.values():
        if means := [metric.score for metric in result.metrics if metric.HasField("score")]:
            result.mean_score = statistics.fmean(means)
    return list(results.values())
