"""Judges a few summaries or many: what is read and sent, what scores and claims amount to, and their page."""

import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb
from precis.words import Framework, Priority
from rich.console import Console

from server.cli.bulk import Work, category_field
from server.cli.commands.judge import BEST_SCORE, Floor, FrameworkChoice, JudgeOptions
from server.cli.connection import CommandClient
from server.cli.console import counted, number
from server.cli.documents.read import document_name, read_document_text
from server.cli.files import not_empty, text_of
from server.cli.judge import names, table
from server.cli.judge.calibration import Calibration
from server.cli.judge.names import ClaimVerdict, metrics_of
from server.cli.tally import Answer, ItemRow, Tally, histogram


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


def read_summaries(source: Path, *summaries: Path) -> list[Item]:
    """Reads a source and its summaries; one of them may come from standard input. Raises InputError."""
    text, *others = (not_empty(read_document_text(path), path) for path in (source, *summaries))
    return [Item(document_name(path), text, other) for path, other in zip(summaries, others, strict=True)]


def to_item(fields: dict[str, Any], place: str) -> Item:
    """Takes an item out of plain data; fields that it does not have are left alone. Raises InputError."""
    category = fields.get("category")
    named = {**fields, "id": str(fields.get("id", place)), "category": category if isinstance(category, str) else ""}
    return Item(*(text_of(named, name) for name in ("id", "source", "summary", "category")))


def to_work(
    options: JudgeOptions, applied: Calibration | None = None, *, is_bulk: bool, second_reading: bool | None = None
) -> Work[Item, pb.JudgeResult]:
    """Describes how items are judged, by the framework of a calibration too; what is not set is left to the server."""
    frameworks = options.frameworks
    if applied is not None:
        asked = {*frameworks, applied.framework}
        frameworks = tuple(choice for choice in FrameworkChoice if choice in asked)
    words: list[Framework] = [choice.value for choice in frameworks]
    priority: Priority = "bulk" if is_bulk else "interactive"
    use_language_model = False if options.no_llm else None  # as the server's settings say
    asked_for = pb.JudgeOptions(use_language_model=use_language_model, second_reading=second_reading)

    async def send(client: CommandClient, item: Item) -> pb.JudgeResult:
        judged = await client.judge(
            item.source, item.summary, frameworks=words, view="full", options=asked_for, priority=priority
        )
        return judged.message

    def more_fields(item: Item, result: pb.JudgeResult) -> dict[str, Any]:
        calibrated = {"calibrated": asdict(applied.verdict_of(result))} if applied else {}
        return category_field(item, result) | {"scores": names.flat_scores(result)} | calibrated

    decisive = (*frameworks, str(use_language_model), *(["second reading"] if second_reading else []))
    return Work("judging", "result", pb.JudgeResult, send, decisive, more_fields, stops=not is_bulk)


def _row_of(item: Item, result: pb.JudgeResult, breaches: Sequence[str], faults: Sequence[str]) -> ItemRow:
    metrics = [(f"{framework} {name}", one) for framework, name, one in metrics_of(result)]
    special = sorted({status for _, metric in metrics if (status := names.status_name(metric))})
    special += [JudgeTally.limit_words] if breaches else []
    means = {
        names.title_of(names.framework_word(one.framework)): one.mean_score if one.HasField("mean_score") else None
        for one in result.frameworks
    }
    counting = [mean for mean in means.values() if mean is not None]
    mean = statistics.fmean(counting) if counting else None
    verdict = ClaimVerdict(result)
    return ItemRow(
        item.id,
        item.category,
        headline=mean,
        # Those under a limit before all others, then by mean score; without any score is as bad as 0.
        badness=BEST_SCORE - (mean or 0.0) + (BEST_SCORE if breaches else 0.0),
        scores={name: names.counting_score(metric) for name, metric in metrics},
        statuses=special,
        faults=faults,
        cells={
            **{f"{title} mean": (number(value), "low-cell") for title, value in means.items()},
            "worst claim": (number(verdict.worst_score), ""),
            "unsupported claims": (str(verdict.unsupported_count), "high-cell"),
            "claims": (str(verdict.claim_count), ""),
            "not checked": (str(verdict.unchecked_count), ""),
            "status": (", ".join(special), "status-cell"),
        },
        bars={
            **{f"{title}, mean score": value for title, value in means.items()},
            "Score of the worst claim": verdict.worst_score,
        },
    )


@dataclass
class JudgeTally(Tally[Item, pb.JudgeResult]):
    """Collects what many judgements, or a few, amount to."""

    headline_name = "mean score"
    digits = 2
    top = BEST_SCORE
    noun = "Judgement"
    terminal: ClassVar[Any] = table
    template = "judgements.html"
    script = "claims.js"
    floors: Sequence[Floor] = ()  # scores under these are faults
    applied: Calibration | None = None  # a calibration; what does not pass is a fault too
    special: Counter[str] = field(default_factory=Counter)  # how often a metric has an unusual status
    # of all summaries; those that were not checked, and of the checked ones those that are not supported
    claims: Counter[str] = field(default_factory=Counter)
    faulty_count: int = 0  # summaries with such a claim
    verdicts: Counter[str] = field(default_factory=Counter)  # how many pass, fail, or have no verdict
    judges: set[tuple[str, ...]] = field(default_factory=set)  # rules and models of every judgement
    # of the language model in this run; of items kept from an earlier one, nothing
    usage: common_pb2.LlmUsage = field(default_factory=common_pb2.LlmUsage)

    def take(self, item: Item, result: pb.JudgeResult, /, *, is_kept: bool) -> ItemRow:
        """See Tally."""
        if not names.is_unread(result):
            self.judges.add((result.rules, *(model.sha256 for model in result.models)))
        if not is_kept:
            names.add(self.usage, result.language_model_usage)
        for framework, name, metric in metrics_of(result):
            if status := names.status_name(metric):
                self.special[f"{framework} {name}: {status}"] += 1
        claims = ClaimVerdict(result)
        self.claims.update(claims=claims.claim_count)
        self.claims.update({"not checked": claims.unchecked_count, "not supported": claims.unsupported_count})
        self.faulty_count += bool(claims.unsupported_count)
        breaches = names.breaches_of(result, self.floors)
        fails = []
        if self.applied is not None:
            verdict = self.applied.verdict_of(result).verdict
            self.verdicts[verdict] += 1
            fails = [] if verdict == "pass" else [f"{self.applied.kind} does not pass --calibration"]
        return _row_of(item, result, breaches, [*breaches, *fails])

    def counts(self) -> list[str]:
        """See Tally."""
        counts = self.claims.items() if self.claims["claims"] else ()
        return [f"{count:,} {what}" for what, count in counts if count or what != "not checked"]

    def remarks(self) -> list[str]:
        """See Tally."""
        lines = [f"{what} in {counted(count, 'item')}" for what, count in self.special.items()]
        if self.applied:
            counts = ", ".join(
                f"{self.verdicts[word]} {word}" for word in ("pass", "fail", "none") if self.verdicts[word]
            )
            lines.append(f"{self.applied.kind} calibrated: {counts or 'no verdicts'}; {self.applied.basis}")
        if len(self.judges) > 1:
            lines.append("The results come from different models or rules; without --resume all items are judged anew.")
        return list(filter(None, (*lines, names.in_words(self.usage))))

    def show(self, console: Console, results: Sequence[tuple[str, pb.JudgeResult]], *, is_brief: bool) -> None:
        """See Tally."""
        super().show(console, results, is_brief=is_brief)
        if self.applied:
            verdicts = [(item_id, self.applied.verdict_of(result)) for item_id, result in results]
            console.print(table.verdict_table(self.applied, verdicts))

    @staticmethod
    def claim_histogram(claims: Sequence[evidence_pb2.Claim]) -> list[tuple[float, float, Counter[str]]]:
        """Counts the claims of a summary by probability and label."""
        return histogram(((claim.probability, names.label_word(claim.label)) for claim in claims), 1.0)
