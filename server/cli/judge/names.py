"""Words for the enums of a judgement, the same in tables, pages and messages.

Which passages of the source are worth showing beside a claim, and what they are to it.

What the language model cost, in words.

Whether a judgement reaches the scores of `--fail-under`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from precis.v1 import common_pb2, evidence_pb2, judge_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.judge.floors import Floor, FrameworkChoice, MetricChoice
from server.rpc.fields import EnumCodec, words_of

FRAMEWORKS = EnumCodec(FrameworkChoice, judge_pb2.JudgeFramework.DESCRIPTOR).members
METRICS = EnumCodec(MetricChoice, judge_pb2.JudgeMetricName.DESCRIPTOR).members
COUNTING = {judge_pb2.JUDGE_METRIC_STATUS_SCORED, judge_pb2.JUDGE_METRIC_STATUS_NO_CLAIMS}
"""Statuses with a score that counts."""

STATUSES = words_of(judge_pb2.JudgeMetricStatus.DESCRIPTOR)
LABELS = words_of(evidence_pb2.ClaimLabel.DESCRIPTOR)
MISMATCHES = words_of(evidence_pb2.MismatchKind.DESCRIPTOR)
WHOLE_SCORE = "score"  # what most caps limit
UNKNOWN = "unknown"  # a value of a newer server


def framework_name(result: judge_pb2.FrameworkResult) -> str:
    """Names a framework."""
    return FRAMEWORKS.get(result.framework, UNKNOWN)


def metric_name(metric: judge_pb2.JudgeMetric) -> str:
    """Names a metric."""
    return METRICS.get(metric.name, UNKNOWN)


def counting_score(metric: judge_pb2.JudgeMetric) -> float | None:
    """Returns a score that may enter means and comparisons; None for any other."""
    return metric.score if metric.status in COUNTING and metric.HasField("score") else None


def status_name(metric: judge_pb2.JudgeMetric) -> str:
    """Says what is special about a metric's score; empty when nothing is."""
    if metric.status == judge_pb2.JUDGE_METRIC_STATUS_SCORED:
        return ""
    return STATUSES.get(metric.status, UNKNOWN)


def deciding_caps(metric: judge_pb2.JudgeMetric) -> list[judge_pb2.MetricCap]:
    """Lists the caps without which the score would be higher, not those on a part of it."""
    return [cap for cap in metric.caps if cap.lowered and cap.applies_to in ("", WHOLE_SCORE)]


def cap_name(cap: judge_pb2.MetricCap) -> str:
    """Says what a cap limits, unless that is the score itself, and to how much."""
    part = "" if cap.applies_to in ("", WHOLE_SCORE) else cap.applies_to.replace("_", " ")
    return f"{part} at most {limit_name(cap.limit)}".lstrip()


def limit_name(limit: float) -> str:
    """Writes a limit with as many decimals as a score, and without those that are 0."""
    return f"{limit:.2f}".rstrip("0").rstrip(".")


LEAST_CONTRADICTION = 0.5  # some passage always has the highest contradiction; below this it says nothing


def is_contradicted(claim: evidence_pb2.Claim) -> bool:
    """Tells whether `opposition` speaks against the claim, and more clearly than `support` for it."""
    return claim.HasField("opposition") and claim.contradiction > max(claim.entailment, LEAST_CONTRADICTION)


def has_closest(claim: evidence_pb2.Claim) -> bool:
    """Tells whether `support` is worth showing; not again when it is what contradicts the claim."""
    return claim.HasField("support") and not (is_contradicted(claim) and claim.support == claim.opposition)


def is_supported(claim: evidence_pb2.Claim) -> bool:
    """Tells whether `support` supports the claim, rather than being the closest that there is."""
    return claim.label == evidence_pb2.CLAIM_LABEL_SUPPORTED


def cost_of(results: Iterable[pb.JudgeResult]) -> str:
    """Says what the language model cost for all of these results; empty when that was nothing."""
    total = common_pb2.LlmUsage()
    for result in results:
        add(total, result.language_model_usage)
    return in_words(total)


def add(total: common_pb2.LlmUsage, more: common_pb2.LlmUsage) -> None:
    """Adds to a total."""
    total.calls += more.calls
    total.prompt_tokens += more.prompt_tokens
    total.completion_tokens += more.completion_tokens
    total.retries += more.retries


def in_words(usage: common_pb2.LlmUsage) -> str:
    """Gives for example "14 calls of the language model, 21,300 tokens read, 840 written, 2 retries"."""
    if not usage.calls and not usage.retries:
        return ""
    calls = "1 call" if usage.calls == 1 else f"{usage.calls:,} calls"
    tokens = f"{usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written"
    retries = {0: "", 1: ", 1 retry"}.get(usage.retries, f", {usage.retries:,} retries")
    return f"{calls} of the language model, {tokens}{retries}"


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
