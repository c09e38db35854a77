"""Words for the enums of a judgement, the same in tables, pages and messages."""

from precis.v1 import evidence_pb2, judge_pb2

from server.cli.judge_floors import FrameworkChoice, MetricChoice

FRAMEWORKS = {
    judge_pb2.JUDGE_FRAMEWORK_TWIN_LOCK: FrameworkChoice.TWIN_LOCK,
    judge_pb2.JUDGE_FRAMEWORK_JUDGE_LOCK: FrameworkChoice.JUDGE_LOCK,
    judge_pb2.JUDGE_FRAMEWORK_ULTRA: FrameworkChoice.ULTRA,
}
METRICS = {
    judge_pb2.JUDGE_METRIC_NAME_COVERAGE: MetricChoice.COVERAGE,
    judge_pb2.JUDGE_METRIC_NAME_ALIGNMENT: MetricChoice.ALIGNMENT,
    judge_pb2.JUDGE_METRIC_NAME_HALLUCINATION: MetricChoice.HALLUCINATION,
    judge_pb2.JUDGE_METRIC_NAME_RELEVANCE: MetricChoice.RELEVANCE,
    judge_pb2.JUDGE_METRIC_NAME_BIAS_TOXICITY: MetricChoice.BIAS_TOXICITY,
}
COUNTING = {judge_pb2.JUDGE_METRIC_STATUS_SCORED, judge_pb2.JUDGE_METRIC_STATUS_NO_CLAIMS}
"""Statuses with a score that counts."""

STATUSES = {
    judge_pb2.JUDGE_METRIC_STATUS_ABSTAINED: "abstained",
    judge_pb2.JUDGE_METRIC_STATUS_ERROR: "error",
    judge_pb2.JUDGE_METRIC_STATUS_NO_CLAIMS: "no claims",
}
"""What is said beside a score; nothing for a plain one."""

LABELS = {
    evidence_pb2.CLAIM_LABEL_SUPPORTED: "supported",
    evidence_pb2.CLAIM_LABEL_PARTIAL: "partial",
    evidence_pb2.CLAIM_LABEL_UNSUPPORTED: "unsupported",
}
MISMATCHES = {
    evidence_pb2.MISMATCH_KIND_NUMBER: "number",
    evidence_pb2.MISMATCH_KIND_DATE: "date",
    evidence_pb2.MISMATCH_KIND_NAME: "name",
    evidence_pb2.MISMATCH_KIND_NEGATION: "negation",
}
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
