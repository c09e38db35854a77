"""A judgement, whole or in progress, as messages: as much of it as the request's view holds."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judgement import EvidenceReady, Judgement, MetricReady
from pipeline.judge.result import Cap, FrameworkResult, MetricResult
from pipeline.protocols import ModelIdentity
from server.rpc.fields import ResultView, to_usage
from server.services.reply import Exceptions, only, reply


def objects_json(result: FrameworkResult) -> str:
    """Writes the framework's own objects."""
    objects = {str(name): found for name, found in result.objects.items()}
    return json.dumps(objects, ensure_ascii=False, allow_nan=False)


def inputs(metric: MetricResult) -> tuple[pb.MetricInput, ...]:
    """Gives the numbers, counts and words of a formula."""
    return tuple(
        pb.MetricInput(name=name, **{_INPUT_KINDS[type(value)]: value})  # type: ignore[arg-type]  # of that kind
        for name, value in metric.inputs.items()
    )


def models(judgement: Judgement) -> tuple[ModelIdentity, ...]:
    """Lists the models that the numbers come from."""
    table = judgement.evidence
    return (table.models.entailment, table.models.embedder) if table else ()


def usage(judgement: Judgement) -> common_pb2.LlmUsage | None:
    """Gives what the language model's answers cost; None when that is nothing."""
    return to_usage(judgement.language_model_usage, judgement.language_model or "")


def lowering_caps(metric: MetricResult) -> tuple[Cap, ...]:
    """Lists the caps that lowered something, without a reason that the metric's own repeats."""
    lowering = [cap for cap in metric.caps if cap.lowered]
    return tuple(replace(cap, reason="") if cap.reason in metric.reason else cap for cap in lowering)


_INPUT_KINDS = {bool: "flag", int: "count", float: "number", str: "text"}
_FULL: Exceptions = {
    "JudgeResult.models": models,
    "JudgeResult.applied_options": "config",
    "JudgeResult.language_model_usage": usage,
    "JudgeResult.truncated_pair_count": None,  # of the call
    "JudgeOptions.use_language_model": None,  # of the call
    "JudgeOptions.relevance_mode": "lock.relevance_mode",
    "JudgeOptions.fusion_form": "ultra.form",
    "JudgeOptions.eta": "ultra.eta",
    "JudgeOptions.max_claims": "evidence.max_claims",
    "FrameworkResult.objects_json": objects_json,
    "JudgeMetric.inputs": inputs,
    "EvidenceTable.scored_pair_count": "pair_count",
    "EvidenceTable.tokenizer": "models.tokenizer",
}
_SCORES = ("name", "status", "score", "confidence", "error")
_EXCEPTIONS: dict[ResultView, Exceptions] = {
    ResultView.FULL: _FULL,
    ResultView.CLAIMS: {
        **_FULL,
        **only(pb.JudgeMetric, (*_SCORES, "reason")),
        "JudgeMetric.caps": lowering_caps,
        **only(evidence_pb2.EvidenceTable, ("claims", "omitted_claim_count")),
        **only(evidence_pb2.Claim, ("passage", "contradiction", "support", "mismatches", "label", "probability")),
        "FrameworkResult.objects_json": None,
    },
    ResultView.SCORES: {
        **_FULL,
        **only(pb.JudgeMetric, _SCORES),
        **only(evidence_pb2.EvidenceTable, ()),
        "FrameworkResult.objects_json": None,
        "JudgeResult.evidence": None,
    },
}


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What a response of one view is made by.

    Attributes:
        to_result: gives a judgement, without what only the server knows of the call.
        to_evidence: gives the table, without the caller's two texts.
        to_metric_done: gives one metric of a framework.
    """

    to_result: Callable[[Judgement], pb.JudgeResult]
    to_evidence: Callable[[EvidenceTable], evidence_pb2.EvidenceTable]
    to_metric_done: Callable[[MetricReady], pb.MetricDone]

    def to_event(self, event: EvidenceReady | MetricReady) -> pb.JudgeStreamResponse:
        """Gives one step of a judgement in progress."""
        match event:
            case EvidenceReady(evidence):
                return pb.JudgeStreamResponse(evidence=self.to_evidence(evidence))
            case MetricReady():
                return pb.JudgeStreamResponse(metric=self.to_metric_done(event))


JUDGE_REPLIES = {
    view: JudgeReply(
        reply(Judgement, pb.JudgeResult, exceptions),
        reply(EvidenceTable, evidence_pb2.EvidenceTable, exceptions),
        reply(MetricReady, pb.MetricDone, exceptions),
    )
    for view, exceptions in _EXCEPTIONS.items()
}
