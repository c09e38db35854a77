"""A judgement, whole or in progress, as messages."""

import json

from precis.v1 import judge_pb2 as pb

from pipeline.judge.config import JudgeConfig
from pipeline.judge.judgement import EvidenceReady, Judgement, JudgeTimings, MetricReady
from pipeline.judge.result import Cap, FrameworkResult, Input, MetricResult, MetricStatus
from server.rpc.fields import to_model_identity, to_span, to_usage
from server.rpc.status import to_duration
from server.services.evidence_reply import to_evidence
from server.services.judge_request import FRAMEWORKS, FUSION_FORMS, METRICS, RELEVANCE_MODES

STATUSES = {
    MetricStatus.SCORED: pb.JUDGE_METRIC_STATUS_SCORED,
    MetricStatus.NO_CLAIMS: pb.JUDGE_METRIC_STATUS_NO_CLAIMS,
    MetricStatus.ABSTAINED: pb.JUDGE_METRIC_STATUS_ABSTAINED,
    MetricStatus.ERROR: pb.JUDGE_METRIC_STATUS_ERROR,
}


def to_event(event: EvidenceReady | MetricReady) -> pb.JudgeStreamResponse:
    """Gives one step of a judgement in progress."""
    match event:
        case EvidenceReady(table):
            return pb.JudgeStreamResponse(evidence=to_evidence(table))
        case MetricReady(framework, metric):
            done = pb.MetricDone(framework=FRAMEWORKS[framework], metric=to_metric(metric))
            return pb.JudgeStreamResponse(metric=done)


def to_result(judgement: Judgement) -> pb.JudgeResult:
    """Gives a judgement, without what only the server knows of the call."""
    models = judgement.evidence.models
    return pb.JudgeResult(
        evidence=to_evidence(judgement.evidence),
        frameworks=map(to_framework, judgement.frameworks),
        models=[to_model_identity(models.entailment), to_model_identity(models.embedder)],
        language_model=judgement.language_model or "",
        timings=to_timings(judgement.timings),
        applied_options=to_options(judgement.config),
        request_hash=judgement.request_hash,
        is_cached=judgement.is_cached,
        degraded=judgement.degraded,
        notes=judgement.notes,
        language_model_usage=to_usage(judgement.language_model_usage, judgement.language_model or ""),
    )


def to_framework(result: FrameworkResult) -> pb.FrameworkResult:
    """Gives what one framework says."""
    objects = {str(name): found for name, found in result.objects.items()}
    return pb.FrameworkResult(
        framework=FRAMEWORKS[result.framework],
        metrics=map(to_metric, result.metrics),
        mean_score=result.mean_score,
        objects_json=json.dumps(objects, ensure_ascii=False, allow_nan=False),
    )


def to_metric(metric: MetricResult) -> pb.JudgeMetric:
    """Gives one metric with its formula."""
    return pb.JudgeMetric(
        name=METRICS[metric.name],
        status=STATUSES[metric.status],
        score=metric.score,
        confidence=metric.confidence,
        reason=metric.reason,
        evidence=map(to_span, metric.evidence),
        inputs=(to_input(name, value) for name, value in metric.inputs.items()),
        caps=map(to_cap, metric.caps),
        error=metric.error,
    )


def to_input(name: str, value: Input) -> pb.MetricInput:
    """Gives a number, count or word of a formula."""
    match value:
        case bool():  # before int, which it is too
            return pb.MetricInput(name=name, flag=value)
        case int():
            return pb.MetricInput(name=name, count=value)
        case float():
            return pb.MetricInput(name=name, number=value)
        case str():
            return pb.MetricInput(name=name, text=value)


def to_cap(cap: Cap) -> pb.MetricCap:
    """Gives a limit that was applied."""
    return pb.MetricCap(
        name=cap.name, limit=cap.limit, reason=cap.reason, lowered=cap.lowered, applies_to=cap.applies_to
    )


def to_options(config: JudgeConfig) -> pb.JudgeOptions:
    """Gives the settings as applied, without whether a language model might be asked."""
    return pb.JudgeOptions(
        relevance_mode=RELEVANCE_MODES[config.lock.relevance_mode],
        fusion_form=FUSION_FORMS[config.ultra.form],
        eta=config.ultra.eta,
        window_sentences=config.evidence.window_sentences,
    )


def to_timings(timings: JudgeTimings) -> pb.JudgeTimings:
    """Gives the time of each part."""
    return pb.JudgeTimings(
        total=to_duration(timings.total_ms / 1000),
        evidence=to_duration(timings.evidence_ms / 1000),
        scoring=to_duration(timings.scoring_ms / 1000),
    )
