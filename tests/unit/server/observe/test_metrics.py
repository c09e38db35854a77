"""Metrics of calls: buckets that fit all, examples from traces, a bounded number of callers; the spread of scores."""

from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest

from pipeline.judge.result import MetricStatus
from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.config import LlmConfig, PriceConfig, RateConfig
from pipeline.llm.endpoint import Endpoint
from server.backends import EndpointCollector
from server.observe.metrics import MOST_CALLERS, OTHERS, CallMetrics
from server.observe.service_metrics import JudgeMetrics
from tests.unit.server.services.test_judge_reply import judgement


def test_a_traced_call_is_the_example_of_its_bucket() -> None:
    registry = CollectorRegistry()
    observe = CallMetrics(registry).method("precis.v1.SummarizeService/Summarize")
    observe("OK", 700.0, "ab" * 16)
    observe("OK", 0.002, None)
    lines = generate_latest(registry).decode().splitlines()  # type: ignore[no-untyped-call]
    examples = {line.partition('le="')[2].partition('"')[0]: line for line in lines if "# {" in line}
    assert list(examples) == ["900.0"]
    assert f'# {{trace_id="{"ab" * 16}"}} 700.0' in examples["900.0"]


@pytest.mark.parametrize(
    ("rpc", "seconds"),
    [
        ("precis.v1.InferenceService/Entail", 0.003),
        ("precis.v1.JudgeService/Judge", 4.0),
        ("precis.v1.SummarizeService/Summarize", 1_200.0),
    ],
)
def test_what_an_rpc_usually_takes_falls_between_the_buckets(rpc: str, seconds: float) -> None:
    registry = CollectorRegistry()
    CallMetrics(registry).method(rpc)("OK", seconds, None)
    [family] = [one for one in registry.collect() if one.name == "precis_call_seconds"]
    counts = {one.labels["le"]: one.value for one in family.samples if one.name.endswith("_bucket")}
    below = [float(le) for le, count in counts.items() if count == 0]
    above = [float(le) for le, count in counts.items() if count == 1 and le != "+Inf"]
    assert len(below) >= 3
    assert len(above) >= 3
    assert min(above) <= 2 * max(below)


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


async def test_totals_are_read_at_every_scrape() -> None:
    prices, rates = PriceConfig(prompt_per_million=1_000_000.0), RateConfig(max_concurrency=3)
    endpoint = Endpoint(LlmConfig(base_url="http://127.0.0.1:1/v1", model="m", prices=prices, rates=rates))
    usage, registry = endpoint.usage, CollectorRegistry()
    registry.register(EndpointCollector([endpoint]))
    assert registry.get_sample_value("precis_llm_attempts_total") == 0
    usage.count_attempt()
    usage.answers += 1
    usage.count_tokens(LlmUsage(1, prompt_tokens=7, completion_tokens=2), prices)
    usage.count_attempt()
    usage.failures["AnswerTimeoutError"] += 1
    usage.retries += 1
    values = {
        name: registry.get_sample_value(f"precis_llm_{name}_total")
        for name in ("attempts", "retries", "answers", "prompt_tokens", "completion_tokens", "cost")
    }
    assert values == {"attempts": 2, "retries": 1, "answers": 1, "prompt_tokens": 7, "completion_tokens": 2, "cost": 7}
    assert registry.get_sample_value("precis_llm_failures_total", {"error": "AnswerTimeoutError"}) == 1
    async with endpoint.limiter.attempt(endpoint.limiter.take_number(), 0):
        gauges = [
            registry.get_sample_value(f"precis_llm_{name}") for name in ("in_flight", "waiting", "concurrency_limit")
        ]
    assert gauges == [1, 0, 3]
