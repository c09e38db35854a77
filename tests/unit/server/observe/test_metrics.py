"""Metrics of calls: examples from traces, and a bounded number of callers; the spread of scores."""

from dataclasses import replace

from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest

from pipeline.judge.result import MetricStatus
from server.observe.metrics import MOST_CALLERS, OTHERS, CallMetrics
from server.observe.service_metrics import JudgeMetrics
from tests.unit.server.services.test_convert_judge import judgement


def test_a_traced_call_is_the_example_of_its_bucket() -> None:
    registry = CollectorRegistry()
    metrics = CallMetrics(registry).method("precis.v1.JudgeService/Judge")
    metrics.observe("OK", 700.0, "ab" * 16)
    metrics.observe("OK", 0.002)
    lines = generate_latest(registry).decode().splitlines()  # type: ignore[no-untyped-call]
    examples = {line.partition('le="')[2].partition('"')[0]: line for line in lines if "# {" in line}
    assert list(examples) == ["900.0"]
    assert f'# {{trace_id="{"ab" * 16}"}} 700.0' in examples["900.0"]


def test_callers_beyond_the_most_share_a_series() -> None:
    registry = CollectorRegistry()
    metrics = CallMetrics(registry)
    for number in [*range(MOST_CALLERS + 5), 0]:
        metrics.waited(f"{number:012x}", 0.1)
    [family] = [one for one in registry.collect() if one.name == "precis_caller_queue_seconds"]
    counts = {one.labels["caller"]: one.value for one in family.samples if one.name.endswith("_count")}
    assert len(counts) == MOST_CALLERS + 1
    assert (counts[f"{0:012x}"], counts[OTHERS]) == (2, 5)


def test_scores_are_spread_over_buckets_but_for_those_that_ultra_is_not_sure_of() -> None:
    registry, made = CollectorRegistry(), judgement()
    [verdict] = made.frameworks
    metric = verdict.metrics[0]
    scored = tuple(
        replace(metric, status=status, score=7.5) for status in (MetricStatus.SCORED, MetricStatus.ABSTAINED)
    )
    JudgeMetrics(registry).observe(replace(made, frameworks=(replace(verdict, metrics=scored),)))
    labels = {"framework": str(verdict.framework), "metric": str(metric.name)}
    for le, count in (("7.0", 0), ("8.0", 1)):
        assert registry.get_sample_value("precis_judged_score_bucket", {**labels, "le": le}) == count
