"""Judgements become messages without losing anything."""

from dataclasses import replace

import pytest
from precis.v1 import judge_pb2 as pb
from prometheus_client import CollectorRegistry

from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.table import Claim, EvidenceTable
from pipeline.judge.judgement import EvidenceReady, Judgement, JudgeTimings, MetricReady
from pipeline.judge.result import Cap, Framework, FrameworkResult, MetricName, MetricResult, MetricStatus
from pipeline.llm.chat_model import LlmUsage
from pipeline.protocols import ModelIdentity
from pipeline.reading.passage import TextSpan
from server.observe.service_metrics import JudgeMetrics
from server.rpc.fields import ResultView
from server.services.judge import JUDGE_REPLIES
from tests.unit.pipeline.judge.tables import table
from tests.unit.server.filled import filled

FULL = JUDGE_REPLIES[ResultView.FULL]
to_result, to_event = FULL.to_result, FULL.to_event
QUOTE = TextSpan("summary", 3, 8, "12 km", "12 km")
COVERAGE = MetricResult(
    MetricName.COVERAGE,
    MetricStatus.ABSTAINED,
    4.25,
    0.5,
    "It tells two points of three.",
    (QUOTE, TextSpan("source", 0, 4, "Text", "Text")),
    {"recall": 0.75, "full_count": 0, "severity": "severe", "is_capped": False},
    (Cap("extraneous_claim", 4.0, "A claim is unsupported."),),
)
FAILED = MetricResult(MetricName.RELEVANCE, MetricStatus.ERROR, None, None, "", (), {}, error="missing_metric")


def metrics() -> tuple[MetricResult, ...]:
    others = {MetricName.COVERAGE: COVERAGE, MetricName.RELEVANCE: FAILED}
    plain = replace(COVERAGE, status=MetricStatus.SCORED, score=0.0, confidence=None)
    return tuple(others.get(name, replace(plain, name=name)) for name in MetricName)


def to_metric(metric: MetricResult) -> pb.JudgeMetric:
    return FULL.to_metric_done(MetricReady(Framework.ULTRA, metric)).metric


def judgement() -> Judgement:
    return Judgement(
        request_hash="f" * 64,
        evidence=table(),
        frameworks=(FrameworkResult(Framework.ULTRA, metrics()),),
        config=JudgeConfig(),
        language_model="m@there",
        degraded=True,
        notes=("one", "two"),
        is_cached=False,
        timings=JudgeTimings(9.5, 6.25, 3.125),
        language_model_usage=LlmUsage(14, 21_300, 840, 2),
    )


def test_a_metric_without_a_score_says_why() -> None:
    failed = to_metric(FAILED)
    assert not failed.HasField("score")
    assert not failed.HasField("confidence")
    assert (failed.status, failed.error) == (pb.JUDGE_METRIC_STATUS_ERROR, "missing_metric")


@pytest.mark.parametrize(
    ("value", "field"), [(True, "flag"), (False, "flag"), (0, "count"), (0.0, "number"), ("", "text")]
)
def test_an_input_keeps_its_type(value: float | str, field: str) -> None:
    [sent] = to_metric(replace(COVERAGE, inputs={"name": value})).inputs
    assert sent.WhichOneof("value") == field
    assert getattr(sent, field) == value


def test_a_language_model_that_cost_nothing_is_left_out() -> None:
    result = to_result(replace(judgement(), language_model_usage=LlmUsage()))
    assert not result.HasField("language_model_usage")
    failed = to_result(
        replace(judgement(), language_model_usage=LlmUsage(retries=3))
    )  # no answer at all, and yet not nothing
    assert (failed.language_model_usage.calls, failed.language_model_usage.retries) == (0, 3)


def test_models_are_named_nli_first() -> None:
    one = filled(EvidenceTable)
    result = to_result(replace(judgement(), evidence=one))
    assert (result.evidence.scored_pair_count, result.evidence.tokenizer) == (one.pair_count, one.models.tokenizer)
    named = [ModelIdentity(model.name, model.revision, model.sha256, model.precision) for model in result.models]
    assert named == [one.models.entailment, one.models.embedder]


def test_the_view_of_scores_holds_no_evidence() -> None:
    result, whole = JUDGE_REPLIES[ResultView.SCORES].to_result(judgement()), to_result(judgement())
    whole.ClearField("evidence")
    for framework in whole.frameworks:
        framework.ClearField("objects_json")
        for metric in framework.metrics:
            for name in ("reason", "evidence", "inputs", "caps"):
                metric.ClearField(name)
    assert result == whole


def test_the_view_of_claims_holds_reasons_caps_and_the_passage_that_decided() -> None:
    claim = filled(Claim)
    evidence = replace(table(), claims=(claim,))
    result = JUDGE_REPLIES[ResultView.CLAIMS].to_result(replace(judgement(), evidence=evidence))
    assert {field.name for field, _ in result.evidence.ListFields()} == {"claims"}
    [sent] = result.evidence.claims
    kept = {"passage", "probability", "contradiction", "support", "mismatches", "label", "second_reading"}
    assert {field.name for field, _ in sent.ListFields()} == kept
    [metric, *_] = result.frameworks[0].metrics
    assert (metric.reason, [cap.reason for cap in metric.caps]) == (COVERAGE.reason, ["A claim is unsupported."])
    assert not metric.inputs
    assert not metric.evidence


def test_the_view_of_claims_says_once_why_a_score_was_lowered() -> None:
    low = Cap("low", 4.0, "It is low.")
    caps = (low, Cap("idle", 9.0, "It is idle.", lowered=False), replace(low, reason="It has another reason."))
    told = MetricReady(Framework.ULTRA, replace(COVERAGE, caps=caps, reason="Capped at 4: It is low."))
    sent = JUDGE_REPLIES[ResultView.CLAIMS].to_metric_done(told).metric
    assert [(cap.name, cap.reason) for cap in sent.caps] == [("low", ""), ("low", "It has another reason.")]


def test_events_are_of_the_same_view_as_the_result() -> None:
    scores = JUDGE_REPLIES[ResultView.SCORES]
    assert scores.to_event(EvidenceReady(table())).WhichOneof("event") == "evidence"
    assert scores.to_event(EvidenceReady(table())).evidence.ByteSize() == 0
    assert not scores.to_event(MetricReady(Framework.ULTRA, COVERAGE)).metric.metric.reason


def test_judgements_are_counted_once() -> None:
    registry = CollectorRegistry()
    counts = JudgeMetrics(registry)
    counts.observe(judgement())
    counts.observe(replace(judgement(), is_cached=True))
    for cached in ("true", "false"):
        assert registry.get_sample_value("precis_judgements_total", {"cached": cached}) == 1
    labels = {"framework": "ultra", "metric": "coverage", "status": "abstained"}
    assert registry.get_sample_value("precis_judged_metrics_total", labels) == 1
