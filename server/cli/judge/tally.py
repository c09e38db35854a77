"""What many judgements amount to: the spread of the scores, the worst items, the failed ones."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console

from server.cli.console import shown
from server.cli.errors import NegativeAnswer
from server.cli.judge.floors import Floor
from server.cli.judge.items import Item
from server.cli.judge.names import (
    MetricKey,
    add,
    breaches_of,
    counting_score,
    framework_word,
    in_words,
    is_unread,
    metric_word,
    status_name,
)
from server.cli.judge.verdict import badness_of, mean_of, verdict_of
from server.cli.results import Answer
from server.cli.spread import SHOWN_ITEMS, Tally, WorstItems, spread_table, worst_table

JudgeAnswer = Answer[Item, pb.JudgeResult]


@dataclass
class JudgeTally(Tally[Item, pb.JudgeResult]):
    """Collects what the summary needs.

    Attributes:
        scores: those that count, by framework and metric.
        statuses: how often a metric has an unusual status, by framework, metric and status.
        worst: id and mean score of the worst items.
        claim_count: claims of all summaries.
        unchecked_count: of those, the ones that were not checked.
        unsupported_count: of the checked ones.
        breached_count: items with a score under --fail-under.
        breaches: how often each metric is.
        models: every set of models that judged.
        usage: of the language model in this run; of items kept from an earlier one, nothing.
    """

    headline_name = "mean score"
    floors: Sequence[Floor] = ()
    scores: dict[MetricKey, list[float]] = field(default_factory=dict)
    statuses: Counter[tuple[MetricKey, str]] = field(default_factory=Counter)
    worst: WorstItems[tuple[str, float | None]] = field(default_factory=lambda: WorstItems(SHOWN_ITEMS))
    claim_count: int = 0
    unchecked_count: int = 0
    unsupported_count: int = 0
    breached_count: int = 0
    breaches: Counter[str] = field(default_factory=Counter)
    models: set[tuple[str, ...]] = field(default_factory=set)
    usage: common_pb2.LlmUsage = field(default_factory=common_pb2.LlmUsage)

    def add(self, answer: JudgeAnswer) -> None:
        """Takes one answer in."""
        super().add(answer)
        if answer.result is not None and not answer.is_kept:
            add(self.usage, answer.result.language_model_usage)

    def check(self) -> None:
        """Raises CliError when items failed, NegativeAnswer when a score is under a limit."""
        self.failed.check(self.item_count)
        if self.breached_count:
            metrics = ", ".join(f"{metric} in {count}" for metric, count in self.breaches.most_common())
            raise NegativeAnswer(f"{self.breached_count} of {self.item_count} items are under a limit: {metrics}")

    def headline_of(self, result: pb.JudgeResult) -> float | None:
        """See Tally."""
        return mean_of(result)

    def scores_by_name(self) -> list[tuple[str, list[float]]]:
        """See Tally."""
        return [(words_of(key), scores) for key, scores in self.scores.items()]

    def add_result(self, item_id: str, result: pb.JudgeResult) -> None:
        """See Tally."""
        if not is_unread(result):
            self.models.add(tuple(model.sha256 for model in result.models))
        breaches, verdict = breaches_of(result, self.floors), verdict_of(result)
        self.claim_count += verdict.claim_count
        self.unchecked_count += verdict.unchecked_count
        self.unsupported_count += verdict.unsupported_count
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


def claims_said(tally: JudgeTally) -> str:
    """Says how many claims were checked and how many are not supported, without a full stop."""
    unread = f", {tally.unchecked_count:,} not checked" if tally.unchecked_count else ""
    return f"{tally.claim_count:,} claims{unread}, {tally.unsupported_count:,} not supported"


def words_of(key: MetricKey) -> str:
    """Names a metric of a framework."""
    return f"{framework_word(key[0])} {metric_word(key[1])}"


def print_tally(console: Console, tally: JudgeTally) -> None:
    """Prints the tables of a bulk run."""
    tally.print_counts(console)
    if tally.claim_count:
        console.print(f"{claims_said(tally)}.", markup=False)
    if tally.done_count:
        if any(tally.scores.values()):
            console.print(spread_table(tally.scores_by_name(), digits=2))
            tally.print_categories(console, digits=2)
        for (key, status), count in tally.statuses.items():
            console.print(shown(f"{words_of(key)}: {status} in {count} items", style="dim"))
        rows = ((item_id, "-" if mean is None else f"{mean:.2f}") for _, (item_id, mean) in tally.worst.ranked())
        console.print(worst_table("mean score", rows))
    if cost := in_words(tally.usage):
        console.print(shown(cost, style="dim"))
    tally.failed.print(console)
