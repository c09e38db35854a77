"""What many judgements amount to: the spread of the scores, the worst items, the failed ones."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console

from server.cli.console import shown
from server.cli.errors import NegativeAnswer
from server.cli.judge.floors import BEST_SCORE, Floor
from server.cli.judge.items import Item
from server.cli.judge.names import (
    add,
    breaches_of,
    counting_score,
    framework_word,
    in_words,
    metric_word,
    status_name,
)
from server.cli.results import Answer
from server.cli.spread import SHOWN_ITEMS, FailedItems, WorstItems, spread_table, worst_table

JudgeAnswer = Answer[Item, pb.JudgeResult]
MetricKey = tuple[pb.JudgeFramework.ValueType, pb.JudgeMetricName.ValueType]


@dataclass
class JudgeTally:
    """Collects what the summary needs; a few numbers for each item, never the results themselves.

    Attributes:
        scores: those that count, by framework and metric.
        statuses: how often a metric has an unusual status, by framework, metric and status.
        worst: id and mean score of the worst items.
        failed: items without a judgement.
        kept_count: judgements from an earlier run.
        judged_count: judgements, those included.
        breached_count: items with a score under --fail-under.
        breaches: how often each metric is.
        models: every set of models that judged.
        usage: of the language model in this run; of items kept from an earlier one, nothing.
    """

    floors: Sequence[Floor] = ()
    scores: dict[MetricKey, list[float]] = field(default_factory=dict)
    statuses: Counter[tuple[MetricKey, str]] = field(default_factory=Counter)
    worst: WorstItems[tuple[str, float | None]] = field(default_factory=lambda: WorstItems(SHOWN_ITEMS))
    failed: FailedItems = field(default_factory=FailedItems)
    kept_count: int = 0
    judged_count: int = 0
    breached_count: int = 0
    breaches: Counter[str] = field(default_factory=Counter)
    models: set[tuple[str, ...]] = field(default_factory=set)
    usage: common_pb2.LlmUsage = field(default_factory=common_pb2.LlmUsage)

    @property
    def item_count(self) -> int:
        """Items that were answered."""
        return self.judged_count + self.failed.count

    def add(self, answer: JudgeAnswer) -> None:
        """Takes one answer in."""
        if answer.error is not None:
            self.failed.add(answer.id, answer.error)
        elif answer.result is not None:
            self.kept_count += answer.is_kept
            self._add_result(answer.id, answer.result)
            if not answer.is_kept:
                add(self.usage, answer.result.language_model_usage)

    def check(self) -> None:
        """Raises CliError when items failed, NegativeAnswer when a score is under a limit."""
        self.failed.check(self.item_count)
        if self.breached_count:
            metrics = ", ".join(f"{metric} in {count}" for metric, count in self.breaches.most_common())
            raise NegativeAnswer(f"{self.breached_count} of {self.item_count} items are under a limit: {metrics}")

    def _add_result(self, item_id: str, result: pb.JudgeResult) -> None:
        self.judged_count += 1
        self.models.add(tuple(model.sha256 for model in result.models))
        breaches = breaches_of(result, self.floors)
        self.breached_count += bool(breaches)
        self.breaches.update(breach.metric for breach in breaches)
        self.worst.add(badness_of(result, is_breached=bool(breaches)), (item_id, mean_of(result)))
        for framework in result.frameworks:
            for metric in framework.metrics:
                key = (framework.framework, metric.name)
                score, status = counting_score(metric), status_name(metric)
                self.scores.setdefault(key, []).extend([] if score is None else [score])
                if status:
                    self.statuses[key, status] += 1


def mean_of(result: pb.JudgeResult) -> float | None:
    """Returns the mean score of all frameworks; None when no score counts."""
    means = [framework.mean_score for framework in result.frameworks if framework.HasField("mean_score")]
    return sum(means) / len(means) if means else None


def badness_of(result: pb.JudgeResult, *, is_breached: bool) -> float:
    """Ranks items: those under a limit before all others, then by mean score; without any score is as bad as 0."""
    return BEST_SCORE - (mean_of(result) or 0.0) + (BEST_SCORE if is_breached else 0.0)


def words_of(key: MetricKey) -> str:
    """Names a metric of a framework."""
    return f"{framework_word(key[0])} {metric_word(key[1])}"


def print_tally(console: Console, tally: JudgeTally) -> None:
    """Prints the tables of a bulk run."""
    kept = f", {tally.kept_count} kept from an earlier run" if tally.kept_count else ""
    console.print(f"{tally.item_count} items, {tally.failed.count} failed{kept}", markup=False)
    if tally.judged_count:
        scores = ((words_of(key), scores) for key, scores in tally.scores.items())
        console.print(spread_table(scores, digits=2))
        for (key, status), count in tally.statuses.items():
            console.print(shown(f"{words_of(key)}: {status} in {count} items", style="dim"))
        rows = ((item_id, "-" if mean is None else f"{mean:.2f}") for _, (item_id, mean) in tally.worst.ranked())
        console.print(worst_table("mean score", rows))
    if cost := in_words(tally.usage):
        console.print(shown(cost, style="dim"))
    tally.failed.print(console)
