"""Words for what a judgement says, the same in tables, pages and messages; and whether it reaches `--fail-under`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb
from precis.words import word_of

from server.cli.judge.floors import Floor

framework_word = partial(word_of, pb.JudgeFramework)
metric_word = partial(word_of, pb.JudgeMetricName)
label_word = partial(word_of, evidence_pb2.ClaimLabel)
mismatch_word = partial(word_of, evidence_pb2.MismatchKind)

COUNTING = {pb.JUDGE_METRIC_STATUS_SCORED, pb.JUDGE_METRIC_STATUS_PARTIAL, pb.JUDGE_METRIC_STATUS_NO_CLAIMS}
"""Statuses with a score that counts."""

MetricKey = tuple[pb.JudgeFramework.ValueType, pb.JudgeMetricName.ValueType]
"""A metric of a framework."""

WHOLE_SCORE = "score"  # what most caps limit
LEAST_CONTRADICTION = 0.5  # some passage always has the highest contradiction; below this it says nothing


def counting_score(metric: pb.JudgeMetric) -> float | None:
    """Returns a score that may enter means and comparisons; None for any other."""
    return metric.score if metric.status in COUNTING and metric.HasField("score") else None


def status_name(metric: pb.JudgeMetric) -> str:
    """Says what is special about a metric's score; empty when nothing is."""
    if metric.status == pb.JUDGE_METRIC_STATUS_SCORED:
        return ""
    return str(word_of(pb.JudgeMetricStatus, metric.status)).replace("-", " ")


def is_unread(result: pb.JudgeResult) -> bool:
    """Tells whether no model read the texts, because they are not English; no metric has a score then."""
    return any(one.status == pb.JUDGE_METRIC_STATUS_UNSUPPORTED_LANGUAGE for _, one in metrics_of(result))


def metrics_of(result: pb.JudgeResult) -> Iterator[tuple[MetricKey, pb.JudgeMetric]]:
    """Yields all metrics of all frameworks."""
    for framework in result.frameworks:
        yield from (((framework.framework, metric.name), metric) for metric in framework.metrics)


def is_partial(framework: pb.FrameworkResult) -> bool:
    """Tells whether a score of a framework comes from a part of the claims."""
    return any(metric.status == pb.JUDGE_METRIC_STATUS_PARTIAL for metric in framework.metrics)


def deciding_caps(metric: pb.JudgeMetric) -> list[pb.MetricCap]:
    """Lists the caps without which the score would be higher, not those on a part of it."""
    return [cap for cap in metric.caps if cap.lowered and cap.applies_to in ("", WHOLE_SCORE)]


def cap_name(cap: pb.MetricCap) -> str:
    """Says what a cap limits, unless that is the score itself, and to how much."""
    part = "" if cap.applies_to in ("", WHOLE_SCORE) else cap.applies_to.replace("_", " ")
    return f"{part} at most {limit_name(cap.limit)}".lstrip()


def limit_name(limit: float) -> str:
    """Writes a limit with as many decimals as a score, and without those that are 0."""
    return f"{limit:.2f}".rstrip("0").rstrip(".")


def is_contradicted(claim: evidence_pb2.Claim) -> bool:
    """Tells whether the source rather says the opposite than nothing."""
    return not is_supported(claim) and claim.contradiction > max(claim.probability, LEAST_CONTRADICTION)


def is_supported(claim: evidence_pb2.Claim) -> bool:
    """Tells whether `support` supports the claim, rather than being the closest that there is."""
    return claim.label == evidence_pb2.CLAIM_LABEL_SUPPORTED


def doubted_words(claim: evidence_pb2.Claim) -> list[common_pb2.TextSpan]:
    """Lists the words of a claim that are not supported, without those that a mismatch names, nor the whole claim."""
    known = {(span.start, span.end) for span in (claim.passage, *(mismatch.claim for mismatch in claim.mismatches))}
    return [span for span in claim.unsupported if (span.start, span.end) not in known]


def models_said(models: Iterable[Any], *others: str) -> str:
    """Names models, each with the beginning of its hash, and others in a line."""
    return ", ".join([*(f"{model.name} {model.sha256[:8]}" for model in models), *others])


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


def breaches_of(result: pb.JudgeResult, floors: Sequence[Floor]) -> list[str]:
    """Lists what is under a floor, for example "ultra hallucination 3.00 < 7"; a score that does not count is."""
    return [
        f"{framework_word(framework.framework)} {floor.metric} {shortfall}"
        for floor in floors
        for framework in result.frameworks
        if floor.framework in (None, framework_word(framework.framework))
        for metric in framework.metrics
        if metric_word(metric.name) == floor.metric and (shortfall := shortfall_of(metric, floor.score))
    ]


def shortfall_of(metric: pb.JudgeMetric, floor: float) -> str:
    """Says how a metric falls short; empty when it does not."""
    score = counting_score(metric)
    if score is None:
        return f"has no score that counts ({status_name(metric)})"
    return f"{score:.2f} < {floor:g}" if score < floor else ""


TITLES = {
    "twin-lock": "Twin-Lock",
    "judge-lock": "Judge-Lock",
    "ultra": "Ultra",
    "bias-toxicity": "Bias and toxicity",
}
QUOTES_SHOWN = 5  # passages that one metric names
REFS_SHOWN = 4  # claims that a sentence of the source names at once; more are folded
SYMBOLS = {"supported": "✓", "partial": "~", "unsupported": "✗"}  # colour is never the only sign
COVERED = {
    evidence_pb2.KEY_POINT_COVERAGE_FULLY: ("✓", "fully"),
    evidence_pb2.KEY_POINT_COVERAGE_PARTIAL: ("~", "in part"),
    evidence_pb2.KEY_POINT_COVERAGE_NOT: ("✗", "not"),
}


def label_counts(claims: Iterable[evidence_pb2.Claim]) -> Counter[str]:
    """Counts the claims of each label."""
    return Counter(label_word(claim.label) for claim in claims)


def title_of(word: str) -> str:
    """Writes a word as a heading."""
    return TITLES.get(word, word.capitalize())


def remarks_of(metric: pb.JudgeMetric, left_out: str = "") -> list[str]:
    """Lists what is special about a score, a few words each; a metric without a status is a mean of no scores.

    Args:
        metric: the metric.
        left_out: how many claims were not checked; stands beside a score that is partial.
    """
    limits = [cap.limit for cap in deciding_caps(metric)]
    remarks = (
        status_name(metric) if metric.status else "no score that counts",
        left_out if metric.status == pb.JUDGE_METRIC_STATUS_PARTIAL else "",
        f"capped at {limit_name(min(limits))}" if limits else "",
        f"confidence {metric.confidence:.2f}" if metric.HasField("confidence") else "",
    )
    return list(filter(None, remarks))


def input_text(value: pb.MetricInput) -> str:
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
