"""Judgements become messages without losing anything."""

import json
from dataclasses import replace

import pytest
from precis.v1 import common_pb2, fusion_pb2
from precis.v1 import judge_pb2 as pb
from prometheus_client import CollectorRegistry

from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.table import Claim, EvidenceTable
from pipeline.judge.judgement import EvidenceReady, Judgement, JudgeTimings, MetricReady
from pipeline.judge.result import Cap, Framework, FrameworkResult, JsonObject, MetricName, MetricResult, MetricStatus
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
    objects: dict[MetricName, JsonObject] = {
        metric.name: {"error": metric.error} if metric.error else {"score": metric.score} for metric in metrics()
    }
    return Judgement(
        request_hash="f" * 64,
        evidence=table(),
        frameworks=(FrameworkResult(Framework.ULTRA, metrics(), objects),),
        config=JudgeConfig(),
        language_model="m@there",
        degraded=True,
        notes=("one", "two"),
        is_cached=False,
        timings=JudgeTimings(9.5, 6.25, 3.125),
        language_model_usage=LlmUsage(14, 21_300, 840, 2),
    )


def test_a_metric_keeps_everything() -> None:
    metric = to_metric(COVERAGE)
    assert (metric.name, metric.status) == (pb.JUDGE_METRIC_NAME_COVERAGE, pb.JUDGE_METRIC_STATUS_ABSTAINED)
    assert (metric.score, metric.confidence, metric.reason) == (4.25, 0.5, COVERAGE.reason)
    assert [(span.text_id, span.text) for span in metric.evidence] == [("summary", "12 km"), ("source", "Text")]
    assert [(one.name, one.WhichOneof("value")) for one in metric.inputs] == [
        ("recall", "number"),
        ("full_count", "count"),
        ("severity", "text"),
        ("is_capped", "flag"),
    ]
    assert not metric.HasField("error")


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


def test_the_result_holds_evidence_metrics_and_objects() -> None:
    result = to_result(judgement())
    assert len(result.evidence.claims) == 3
    [framework] = result.frameworks
    assert framework.framework == pb.JUDGE_FRAMEWORK_ULTRA
    assert [metric.name for metric in framework.metrics] == sorted(pb.JudgeMetricName.values())[1:]
    assert framework.mean_score == 0
    objects = json.loads(framework.objects_json)
    assert list(objects) == ["coverage", "alignment", "hallucination", "relevance", "bias_toxicity"]
    assert objects["relevance"] == {"error": "missing_metric"}


def test_the_result_says_how_it_came_about() -> None:
    result = to_result(judgement())
    assert (result.request_hash, result.language_model) == ("f" * 64, "m@there")
    assert (result.degraded, list(result.notes), result.is_cached) == (True, ["one", "two"], False)
    assert result.timings.total.ToMicroseconds() == 9500
    assert result.timings.evidence.ToMicroseconds() == 6250
    assert result.timings.scoring.ToMicroseconds() == 3125
    assert len(result.models) == 2
    assert result.language_model_usage == common_pb2.LlmUsage(
        identity="m@there", calls=14, prompt_tokens=21_300, completion_tokens=840, retries=2
    )


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


def test_applied_options_are_those_of_the_config() -> None:
    config = JudgeConfig().with_overrides(
        {
            "evidence": {"max_claims": 12},
            "lock": {"relevance_mode": "jaccard"},
            "ultra": {"eta": 3.0, "form": "paper_raw"},
        }
    )
    assert to_result(replace(judgement(), config=config)).applied_options == pb.JudgeOptions(
        relevance_mode=pb.RELEVANCE_MODE_JACCARD,
        fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW,
        eta=3.0,
        max_claims=12,
    )


def test_steps_are_sent_as_they_are() -> None:
    assert to_event(EvidenceReady(table())).evidence.claims[0].passage.text == "claim 0"
    done = to_event(MetricReady(Framework.TWIN_LOCK, COVERAGE)).metric
    assert (done.framework, done.metric) == (pb.JUDGE_FRAMEWORK_TWIN_LOCK, to_metric(COVERAGE))


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
    kept = {"passage", "probability", "contradiction", "support", "mismatches", "label"}
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
