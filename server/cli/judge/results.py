"""The results of a bulk run as JSON Lines: written as they come, and read again to go on after an interruption.

A line is {"id", "item_sha256", "result"} or {"id", "item_sha256", "error"}. The hash is of id, texts and terms, so that
a changed item is judged again.

What a bulk run of the judge amounts to: the spread of the scores, the worst items, the failed ones.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from google.protobuf import json_format
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from rich import box
from rich.console import Console
from rich.table import Table

from server.cli.bulk import FailedItems, WorstItems, spread_table
from server.cli.console import shown
from server.cli.errors import CliError, InputError
from server.cli.files import partial_of, to_json_fields, to_json_line
from server.cli.judge.floors import BEST_SCORE, Floor
from server.cli.judge.items import Item
from server.cli.judge.names import add, breaches_of, counting_score, framework_name, in_words, metric_name, status_name


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """What became of one item.

    Attributes:
        id: the item's.
        item: None for one that could not be read.
        result: None for one that failed.
        error: why it failed.
        line: its line in the results.
        is_kept: it comes from an earlier run.
    """

    id: str
    item: Item | None
    result: pb.JudgeResult | None
    error: common_pb2.ItemError | None
    line: str
    is_kept: bool = False


def to_answer(
    item_id: str, item: Item | None, sha256: str, outcome: pb.JudgeResult | common_pb2.ItemError
) -> ItemAnswer:
    """Builds the answer to an item from its judgement or its error."""
    error, result = (outcome, None) if isinstance(outcome, common_pb2.ItemError) else (None, outcome)
    fields = {"id": item_id, "item_sha256": sha256, "error" if error else "result": to_json_fields(outcome)}
    return ItemAnswer(item_id, item, result, error, to_json_line(fields))


@dataclass
class EarlierResults:
    """The judgements of an earlier run, found by the hash of their item. Failed items are not among them."""

    file: BinaryIO | None = None
    offsets: dict[str, list[int]] = field(default_factory=dict)

    def take(self, item: Item, sha256: str) -> ItemAnswer | None:
        """Returns the judgement of an item, once for each time that it was judged."""
        offsets = self.offsets.get(sha256)
        if self.file is None or not offsets:
            return None
        self.file.seek(offsets.pop(0))
        line = self.file.readline().decode()
        result = json_format.ParseDict(json.loads(line)["result"], pb.JudgeResult(), ignore_unknown_fields=True)
        return ItemAnswer(item.id, item, result, None, line, is_kept=True)


@contextmanager
def earlier_results(output: Path | None, *, resume: bool) -> Iterator[EarlierResults]:
    """Opens what an interrupted run left, or else the results of one that ended; nothing without `resume`.

    What an interrupted run left is put into FILE.earlier, because FILE.partial is about to be written anew, and stays
    there until a run has ended.

    Raises:
        InputError: a file is there but does not hold results.
    """
    if output is None:
        yield EarlierResults()
        return
    earlier = output.with_name(output.name + ".earlier")
    try:
        if resume:
            set_aside(partial_of(output), earlier)
            path = earlier if earlier.exists() else output
            with path.open("rb") if path.exists() else nullcontext() as file:
                yield EarlierResults(file, index_lines(file, path) if file else {})
        else:
            yield EarlierResults()
        earlier.unlink(missing_ok=True)
    except BrokenPipeError:
        raise  # stdout's, from the block: its reader has gone
    except OSError as error:
        raise CliError(f"cannot go on with {output}: {error.strerror}") from error


def set_aside(partial: Path, earlier: Path) -> None:
    """Adds the complete lines of an interrupted run to those of the runs before it."""
    if not partial.exists():
        return
    with partial.open("rb") as left, earlier.open("ab") as kept:
        for line in left:
            if line.endswith(b"\n"):  # else the run ended while it was written
                kept.write(line)
    partial.unlink()


def index_lines(file: BinaryIO, path: Path) -> dict[str, list[int]]:
    """Finds where the judgement of each item begins."""
    offsets: dict[str, list[int]] = {}
    start = 0
    for number, line in enumerate(file, start=1):
        fields = parse_result_line(line, f"{path}: line {number}")
        if "result" in fields:
            offsets.setdefault(fields["item_sha256"], []).append(start)
        start += len(line)
    return offsets


def parse_result_line(line: bytes, place: str) -> dict[str, Any]:
    """Reads a line of results. Raises InputError."""
    try:
        fields = json.loads(line)
        if isinstance(fields["item_sha256"], str) and ("result" in fields or "error" in fields):
            return dict(fields)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InputError(f"{place} is no result of precis judge; to judge all items again, leave out --resume")


SHOWN_ITEMS = 10


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
    scores: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    statuses: Counter[tuple[str, str, str]] = field(default_factory=Counter)
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

    def add(self, answer: ItemAnswer) -> None:
        """Takes one answer in."""
        if answer.error is not None:
            self.failed.add(answer.id, answer.error)
        elif answer.result is not None:
            self.kept_count += answer.is_kept
            self._add_result(answer.id, answer.result)
            if not answer.is_kept:
                add(self.usage, answer.result.language_model_usage)

    def _add_result(self, item_id: str, result: pb.JudgeResult) -> None:
        self.judged_count += 1
        self.models.add(tuple(model.sha256 for model in result.models))
        breaches = breaches_of(result, self.floors)
        self.breached_count += bool(breaches)
        self.breaches.update(breach.metric for breach in breaches)
        self.worst.add(badness_of(result, is_breached=bool(breaches)), (item_id, mean_of(result)))
        for framework in result.frameworks:
            for metric in framework.metrics:
                key = (framework_name(framework), metric_name(metric))
                score, status = counting_score(metric), status_name(metric)
                self.scores.setdefault(key, []).extend([] if score is None else [score])
                if status:
                    self.statuses[*key, status] += 1


def mean_of(result: pb.JudgeResult) -> float | None:
    """Returns the mean score of all frameworks; None when no score counts."""
    means = [framework.mean_score for framework in result.frameworks if framework.HasField("mean_score")]
    return sum(means) / len(means) if means else None


def badness_of(result: pb.JudgeResult, *, is_breached: bool) -> float:
    """Ranks items: those under a limit before all others, then by mean score; without any score is as bad as 0."""
    return BEST_SCORE - (mean_of(result) or 0.0) + (BEST_SCORE if is_breached else 0.0)


def print_tally(console: Console, tally: JudgeTally) -> None:
    """Prints the tables of a bulk run."""
    kept = f", {tally.kept_count} kept from an earlier run" if tally.kept_count else ""
    console.print(f"{tally.item_count} items, {tally.failed.count} failed{kept}", markup=False)
    if tally.judged_count:
        rows = ((f"{framework} {metric}", scores) for (framework, metric), scores in tally.scores.items())
        console.print(spread_table(rows, digits=2))
        for (framework, metric, status), count in tally.statuses.items():
            console.print(shown(f"{framework} {metric}: {status} in {count} items", style="dim"))
        console.print(worst_table(tally))
    if cost := in_words(tally.usage):
        console.print(shown(cost, style="dim"))
    tally.failed.print(console)


def worst_table(tally: JudgeTally) -> Table:
    """Builds the table of the worst items."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("worst items")
    table.add_column("mean score", justify="right")
    for _, (item_id, mean) in tally.worst.ranked():
        table.add_row(shown(item_id, limit=80), "-" if mean is None else f"{mean:.2f}")
    return table
