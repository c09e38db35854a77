"""Judges a few summaries or many: what is read and sent, what scores and claims amount to, and their page."""

import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from precis.calls import JUDGE, Call, rpc_path
from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console

from server.cli.bulk import read_json_lines, run_few, run_many
from server.cli.commands.judge import BEST_SCORE, Floor, FrameworkChoice, JudgeOptions
from server.cli.connection import CommandClient
from server.cli.console import page_number
from server.cli.documents.read import document_name, read_document_text
from server.cli.errors import InputError
from server.cli.files import STDIN, text_of
from server.cli.judge import names
from server.cli.judge.calibration import Calibration, read_calibration
from server.cli.judge.names import ClaimVerdict, MetricKey, verdict_of
from server.cli.judge.table import print_judgements, print_verdicts
from server.cli.options import Connection, RunOptions
from server.cli.results import Answer, Work, category_field
from server.cli.tally import Bin, ItemRow, Tally, histogram, plain_histogram


@dataclass(frozen=True, slots=True)
class Item:
    """A summary with its source; `category` is the caller's, and goes into the results."""

    id: str
    source: str
    summary: str
    category: str = ""

    def sha256(self, *terms: str) -> str:
        """Hashes the item and the terms under which it is judged, in hexadecimal."""
        return hashlib.sha256(json.dumps([self.id, self.source, self.summary, *terms]).encode()).hexdigest()


JudgeAnswer = Answer[Item, pb.JudgeResult]


def read_summaries(source: Path, summaries: Sequence[Path]) -> list[Item]:
    """Reads a source and its summaries; one of them may come from standard input. Raises InputError."""
    if [source, *summaries].count(STDIN) > 1:
        raise InputError("only one of --source and --summary can be standard input")
    text = read_document_text(source)
    return [Item(document_name(path), text, read_document_text(path)) for path in summaries]


def to_item(fields: dict[str, Any], place: str) -> Item:
    """Takes an item out of plain data; fields that it does not have are left alone. Raises InputError."""
    category = fields.get("category")
    named = {**fields, "id": str(fields.get("id", place)), "category": category if isinstance(category, str) else ""}
    return Item(*(text_of(named, name) for name in ("id", "source", "summary", "category")))


def to_work(
    options: JudgeOptions, priority: common_pb2.Priority.ValueType, applied: Calibration | None = None
) -> Work[Item, pb.JudgeResult]:
    """Describes how items are judged, by the framework of a calibration too; what is not set is left to the server."""
    frameworks = options.frameworks
    if applied is not None:
        asked = {*frameworks, applied.framework}
        frameworks = tuple(choice for choice in FrameworkChoice if choice in asked)
    common = pb.JudgeRequest(
        frameworks=[pb.JudgeFramework.Value(f"JUDGE_FRAMEWORK_{choice.name}") for choice in frameworks],
        options=pb.JudgeOptions(use_language_model=options.use_language_model),
        priority=priority,
        view=common_pb2.RESULT_VIEW_FULL,  # for --output, --report and what the tables show
    )

    async def send(client: CommandClient, item: Item) -> pb.JudgeResult:
        request = pb.JudgeRequest(source=item.source, summary=item.summary)
        request.MergeFrom(common)
        call = Call(rpc_path(JUDGE, "Judge"), request, pb.JudgeResponse.FromString)
        return (await client.send(call)).result

    def more_fields(item: Item, result: pb.JudgeResult) -> dict[str, Any]:
        calibrated = {"calibrated": applied.verdict_of(result).to_fields()} if applied else {}
        return category_field(item, result) | {"scores": names.flat_scores(result)} | calibrated

    decisive = (*frameworks, str(options.use_language_model))
    return Work("judging", "result", pb.JudgeResult, send, decisive, more_fields)


UNDER = "under the limit"


@dataclass(frozen=True, slots=True)
class JudgeRow(ItemRow):
    """One judgement of many; `means` are mean scores by framework, None without scores that count."""

    means: Mapping[str, float | None]
    verdict: ClaimVerdict


def row_of(item: Item, result: pb.JudgeResult, *, is_breached: bool) -> JudgeRow:
    """Builds the row of an item."""
    statuses = {names.status_name(metric) for _, metric in names.metrics_of(result)}
    special = sorted(filter(None, statuses)) + [UNDER] * is_breached
    means = {
        names.framework_word(one.framework): one.mean_score if one.HasField("mean_score") else None
        for one in result.frameworks
    }
    verdict = verdict_of(result)
    cells = [
        (page_number(verdict.worst_score), ""),
        (str(verdict.unsupported_count), "high-cell"),
        *((str(count), "") for count in (verdict.claim_count, verdict.unchecked_count)),
        (", ".join(special), "status-cell"),
    ]
    counting = [mean for mean in means.values() if mean is not None]
    mean = sum(counting) / len(counting) if counting else None
    # Those under a limit before all others, then by mean score; without any score is as bad as 0.
    badness = BEST_SCORE - (mean or 0.0) + (BEST_SCORE if is_breached else 0.0)
    return JudgeRow(item.id, item.category, mean, badness, special, cells, means, verdict)


@dataclass
class JudgeTally(Tally[Item, pb.JudgeResult]):
    """Collects what many judgements, or a few, amount to.

    Attributes:
        floors: scores under these are faults.
        applied: a calibration; what does not pass is a fault too.
        scores: those that count, by framework and metric.
        special: how often a metric has an unusual status, by framework, metric and status.
        claim_count: claims of all summaries.
        unchecked_count: of those, the ones that were not checked.
        unsupported_count: of the checked ones.
        faulty_count: summaries with such a claim.
        verdicts: how many pass, fail, or have no verdict.
        judges: rules and models of every judgement.
        usage: of the language model in this run; of items kept from an earlier one, nothing.
    """

    headline_name = "mean score"
    digits = 2
    noun = "Judgement"
    template = "judgements.html"
    script = "claims.js"
    limit_words = UNDER
    floors: Sequence[Floor] = ()
    applied: Calibration | None = None
    scores: dict[MetricKey, list[float]] = field(default_factory=dict)
    special: Counter[tuple[MetricKey, str]] = field(default_factory=Counter)
    claim_count: int = 0
    unchecked_count: int = 0
    unsupported_count: int = 0
    faulty_count: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    judges: set[tuple[str, ...]] = field(default_factory=set)
    usage: common_pb2.LlmUsage = field(default_factory=common_pb2.LlmUsage)

    def take(self, item: Item, result: pb.JudgeResult, /, *, is_kept: bool) -> JudgeRow:
        """See Tally."""
        if not names.is_unread(result):
            self.judges.add((result.rules, *(model.sha256 for model in result.models)))
        if not is_kept:
            names.add(self.usage, result.language_model_usage)
        breaches = names.breaches_of(result, self.floors)
        row = row_of(item, result, is_breached=bool(breaches))
        if self.applied is not None:
            verdict = self.applied.verdict_of(result)
            self.verdicts[verdict.word] += 1
            breaches += [] if verdict.passed else [f"{self.applied.kind} does not pass --calibration"]
        self.note_faults(item.id, breaches)
        self.claim_count += row.verdict.claim_count
        self.unchecked_count += row.verdict.unchecked_count
        self.unsupported_count += row.verdict.unsupported_count
        self.faulty_count += bool(row.verdict.unsupported_count)
        self._add_scores(result)
        return row

    def whole_item(self, item: Item, result: pb.JudgeResult, /) -> JudgeAnswer:
        """See Tally."""
        return JudgeAnswer(item.id, item, result, None, "")

    def _add_scores(self, result: pb.JudgeResult) -> None:
        for key, metric in names.metrics_of(result):
            score, status = names.counting_score(metric), names.status_name(metric)
            self.scores.setdefault(key, []).extend([] if score is None else [score])
            if status:
                self.special[key, status] += 1

    def scores_by_name(self) -> list[tuple[str, list[float]]]:
        """See Tally."""
        return [(words_of(key), scores) for key, scores in self.scores.items()]

    def counts(self) -> list[str]:
        """See Tally."""
        unread = [f"{self.unchecked_count:,} not checked"] if self.unchecked_count else []
        claims = [f"{self.claim_count:,} claims", *unread, f"{self.unsupported_count:,} not supported"]
        return claims if self.claim_count else []

    def remarks(self) -> list[str]:
        """See Tally."""
        lines = [f"{words_of(key)}: {status} in {count} items" for (key, status), count in self.special.items()]
        if self.applied:
            counts = ", ".join(
                f"{self.verdicts[word]} {word}" for word in ("pass", "fail", "none") if self.verdicts[word]
            )
            calibration = self.applied
            lines.append(f"{calibration.kind} calibrated: {counts or 'no verdicts'}; {calibration.basis}")
        if len(self.judges) > 1:
            lines.append("The results come from different models or rules; without --resume all items are judged anew.")
        return list(filter(None, (*lines, names.in_words(self.usage))))

    def show(self, console: Console, results: Sequence[tuple[str, pb.JudgeResult]], *, is_brief: bool) -> None:
        """See Tally."""
        print_judgements(console, results, is_brief=is_brief)
        if self.applied:
            verdicts = [(item_id, self.applied.verdict_of(result)) for item_id, result in results]
            print_verdicts(console, self.applied, verdicts)

    def page_values(self, rows: Sequence[JudgeRow]) -> dict[str, object]:
        """See Tally."""
        frameworks = list(dict.fromkeys(framework for row in rows for framework in row.means))
        means = [f"{names.title_of(framework)} mean" for framework in frameworks]
        pictures = {
            f"{names.title_of(one)}, mean score": plain_histogram((row.means.get(one) for row in rows), BEST_SCORE)
            for one in frameworks
        }
        worst = plain_histogram((row.verdict.worst_score for row in rows), BEST_SCORE)
        return {
            "floors": self.floors,
            "frameworks": frameworks,  # an item may lack some: its cells stay below their headings
            "headings": (*means, "worst claim", "unsupported claims", "claims", "not checked", "status"),
            "charts": mean_results(self.scores, self.special) if rows else [],
            "histograms": {**pictures, "Score of the worst claim": worst},
            "claim_histogram": claim_histogram,
        }


def words_of(key: MetricKey) -> str:
    """Names a metric of a framework."""
    return f"{names.framework_word(key[0])} {names.metric_word(key[1])}"


def claim_histogram(claims: Sequence[evidence_pb2.Claim]) -> list[Bin]:
    """Counts claims by probability and label."""
    return histogram(((claim.probability, names.label_word(claim.label)) for claim in claims), 1.0)


def mean_results(
    scores: Mapping[MetricKey, list[float]], special: Counter[tuple[MetricKey, str]]
) -> list[pb.FrameworkResult]:
    """Writes the means of many judgements as if they were one; a mean is partial when a score in it is."""
    results: dict[int, pb.FrameworkResult] = {}
    for (framework, metric), values in scores.items():
        result = results.setdefault(framework, pb.FrameworkResult(framework=framework))
        mean = result.metrics.add(name=metric)
        if values:
            is_partial = special[(framework, metric), "partial"]
            mean.status = pb.JUDGE_METRIC_STATUS_PARTIAL if is_partial else pb.JUDGE_METRIC_STATUS_SCORED
            mean.score = statistics.fmean(values)
            spread = f"the lowest is {min(values):.2f}, the highest {max(values):.2f}"
            mean.reason = f"Mean of {len(values)} scores; {spread}."
    for result in results.values():
        if means := [metric.score for metric in result.metrics if metric.HasField("score")]:
            result.mean_score = statistics.fmean(means)
    return list(results.values())


async def judge_document(
    source: Path, summaries: Sequence[Path], connection: Connection, options: JudgeOptions, run: RunOptions
) -> None:
    """Reads, judges, prints. Raises CliError."""
    items, applied = read_summaries(source, summaries), read_calibration(options.calibration)
    work = to_work(options, common_pb2.PRIORITY_INTERACTIVE, applied)
    await run_few(work, items, connection, run, JudgeTally(options.floors, applied))


async def judge_bulk(path: Path, connection: Connection, options: JudgeOptions, run: RunOptions) -> None:
    """Reads, judges, prints. Raises CliError; CliError itself when items failed."""
    applied = read_calibration(options.calibration)
    work = to_work(options, common_pb2.PRIORITY_BULK, applied)
    await run_many(work, read_json_lines(path, to_item), connection, run, JudgeTally(options.floors, applied))
