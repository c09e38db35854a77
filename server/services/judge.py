"""JudgeService: judgements of summaries, and answers to questions about quality.

The judge on the terms of one request: the server's settings with the caller's laid over them, models, one cache. What
a caller gets wrong becomes an InvalidInputError with the field's path. A judgement, whole or in progress, becomes
messages: as much of it as the request's view holds.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from precis.v1 import evidence_pb2, synthesis_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceServicer
from prometheus_client import CollectorRegistry

from pipeline.assess.assessor import Assessor
from pipeline.assess.request import AssessRequest, AssessStage
from pipeline.assess.run import AssessModels, TextJudge
from pipeline.assess.synthesizer import Synthesizer
from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judge import Judge as SummaryJudge
from pipeline.judge.judge import JudgeCaches
from pipeline.judge.judgement import EvidenceReady, Judgement, MetricReady
from pipeline.judge.locks.caps import RelevanceMode
from pipeline.judge.request import JudgeRequest, MetricToolScore
from pipeline.judge.result import Cap, Framework, MetricName, MetricResult
from pipeline.llm.chat_model import ChatModel
from pipeline.llm.config import LlmRole
from pipeline.protocols import ModelIdentity, Models
from server.backends import Backends
from server.config import ServicesConfig
from server.observe.service_metrics import AnswerMetrics, JudgeMetrics
from server.rpc import fields
from server.rpc.admission import Context
from server.rpc.models import CallScope, call_terms
from server.services.assess_messages import parse_assess, parse_synthesis, to_assess_event, to_synthesis
from server.services.bulk import Bulk
from server.services.reply import Exceptions, only, reply
from server.settings import Settings


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """One checked request: what to judge, how, whether a language model may be asked, and how much to answer."""

    request: JudgeRequest
    config: JudgeConfig
    uses_language_model: bool
    view: fields.ResultView


ASSESS_ROLES = (LlmRole.PLANNER, LlmRole.EXECUTOR, LlmRole.SYNTHESIZER)


class JudgeServicer(JudgeServiceServicer):
    """Judges summaries, and answers questions about quality.

    Args:
        settings: `judge`, which a request may override, `synthesis` and `services`.
        registry: of the metrics that count every judgement and answer.
        cpu: threads for reading long texts; owned by the app.
        stopping: set when the server drains: streams finish what they have read and end.
    """

    def __init__(
        self,
        settings: Settings,
        backends: Backends,
        registry: CollectorRegistry,
        *,
        cpu: Executor,
        stopping: asyncio.Event,
    ) -> None:
        self._defaults = settings.judge
        self._scoring = backends.scoring
        self._chats = backends.chats or {}
        self._cpu = cpu
        self._caches = JudgeCaches(settings.judge.cache)
        self._synthesizer = Synthesizer(settings.synthesis, executor=cpu)
        self._assessor = Assessor(self._synthesizer)
        self._bulk = Bulk(pb.JudgeBatchResponse, settings.services, stopping)
        self._metrics = JudgeMetrics(registry)
        self._answer_metrics = AnswerMetrics(registry)

    async def Judge(self, request: pb.JudgeRequest, context: Context) -> pb.JudgeResponse:
        """Judges one summary. A full queue is refused at once."""
        with call_terms(request.priority, context, "judge") as terms:
            return await self._judge(request, terms)

    def JudgeBatch(
        self, request_iterator: AsyncIterator[pb.JudgeBatchRequest], context: Context
    ) -> AsyncGenerator[pb.JudgeBatchResponse, None]:
        """Judges items as they come, and answers in the order of completion."""
        return self._bulk.answers(request_iterator, context, self._judge)

    async def JudgeStream(
        self, request: pb.JudgeStreamRequest, context: Context
    ) -> AsyncGenerator[pb.JudgeStreamResponse, None]:
        """Judges one summary and tells what is known as soon as it is. A client that leaves stops the work."""
        with call_terms(request.priority, context, "judge") as terms:
            parsed, judge, models = self._parse(request, terms)
            async with aclosing(judge.stream(parsed.request, models)) as events:
                async for event in events:
                    if isinstance(event, Judgement):
                        self._metrics.observe(event)
                        yield pb.JudgeStreamResponse(result=_result(event, parsed, models, terms))
                    else:
                        yield JUDGE_REPLIES[parsed.view].to_event(event)

    async def Synthesize(
        self, request: synthesis_pb2.SynthesizeRequest, context: Context
    ) -> synthesis_pb2.SynthesizeResponse:
        """Answers one question from the evidence that it brings."""
        with call_terms(request.priority, context, "judge"):
            parsed = parse_synthesis(request)
            chat = self._chats.get(LlmRole.SYNTHESIZER) if fields.may_ask_language_model(request.options) else None
            synthesis = await self._synthesizer.synthesize(parsed, chat_model=chat)
            self._answer_metrics.synthesized(synthesis)
            name = chat.identity if chat else ""
            return synthesis_pb2.SynthesizeResponse(synthesis=to_synthesis(synthesis, language_model=name))

    async def Assess(
        self, request: synthesis_pb2.AssessRequest, context: Context
    ) -> AsyncGenerator[synthesis_pb2.AssessResponse, None]:
        """Plans, runs tools and answers until the evidence suffices. A client that leaves stops the work."""
        with call_terms(request.priority, context, "judge") as terms:
            parsed, chats = parse_assess(request), self._chats
            may_ask = bool(chats) and fields.may_ask_language_model(request.options)
            judge = self._text_judge(parsed, terms, chats[LlmRole.JUDGE] if may_ask else None)
            models = AssessModels(*(chats[role] for role in ASSESS_ROLES)) if may_ask else None
            asked = (*ASSESS_ROLES, *([LlmRole.JUDGE] if judge else []))
            names = ", ".join(dict.fromkeys(chats[role].identity for role in asked)) if chats else ""
            synthesizer = chats[LlmRole.SYNTHESIZER].identity if chats else ""
            async with aclosing(self._assessor.stream(parsed, judge=judge, models=models)) as events:
                async for event in events:
                    self._answer_metrics.assess_event(event)
                    yield to_assess_event(event, all_roles=names, synthesizer=synthesizer)

    async def _judge(self, request: pb.JudgeRequest, terms: CallScope) -> pb.JudgeResponse:
        parsed, judge, models = self._parse(request, terms)
        judgement = await self._counted(judge, models, parsed.request)
        return pb.JudgeResponse(result=_result(judgement, parsed, models, terms))

    def _parse(
        self, request: pb.JudgeRequest | pb.JudgeStreamRequest, terms: CallScope
    ) -> tuple[JudgeInput, SummaryJudge, Models]:
        parsed = parse_judge(request, self._defaults)
        chat = self._chats.get(LlmRole.JUDGE) if parsed.uses_language_model else None
        return parsed, *self._bound(parsed.request, parsed.config, terms, chat)

    def _text_judge(self, request: AssessRequest, terms: CallScope, chat: ChatModel | None) -> TextJudge | None:
        """Gives what judges the request's texts; None when it judges none: images need no model."""
        if not request.summary.strip() or request.stage is AssessStage.PLAN:
            return None
        return partial(self._counted, *self._bound(request, self._defaults, terms, chat))

    def _bound(
        self, texts: JudgeRequest | AssessRequest, config: JudgeConfig, terms: CallScope, chat: ChatModel | None
    ) -> tuple[SummaryJudge, Models]:
        """Makes the judge of one request, and binds the models that it may ask to its call.

        Raises:
            ModelNotLoadedError: the server runs without a model that judgements need.
        """
        is_short = len(texts.source) + len(texts.summary) <= ServicesConfig.inline_chars
        executor = None if is_short else self._cpu  # a short text is read before a thread would have begun
        judge = SummaryJudge(config, executor=executor, caches=self._caches, owner=terms.call.owner)
        return judge, self._scoring.bound(terms, chat)

    async def _counted(self, judge: SummaryJudge, models: Models, request: JudgeRequest) -> Judgement:
        judgement = await judge.judge(request, models)
        self._metrics.observe(judgement)
        return judgement


def _result(judgement: Judgement, parsed: JudgeInput, models: Models, terms: CallScope) -> pb.JudgeResult:
    result = JUDGE_REPLIES[parsed.view].to_result(judgement)
    result.applied_options.use_language_model = models.chat is not None
    if parsed.request.second_reading is not None:
        result.applied_options.second_reading = parsed.request.second_reading
    result.truncated_pair_count = terms.usage.truncated_pair_count
    return result


FRAMEWORKS = fields.EnumCodec(Framework, pb.JudgeFramework.DESCRIPTOR)
METRICS = fields.EnumCodec(MetricName, pb.JudgeMetricName.DESCRIPTOR)
RELEVANCE_MODES = fields.EnumCodec(RelevanceMode, pb.RelevanceMode.DESCRIPTOR)


def parse_judge(request: pb.JudgeRequest | pb.JudgeStreamRequest, defaults: JudgeConfig) -> JudgeInput:
    """Checks a request and fills in the server's defaults.

    Raises:
        InvalidInputError: the first field that breaks its rule. Texts and scores are left to the judge.
    """
    options = request.options
    wanted = JudgeRequest(
        source=request.source,
        summary=request.summary,
        frameworks=parse_frameworks(request.frameworks),
        tool_scores=parse_tool_scores(request.tool_scores),
        second_reading=options.second_reading if options.HasField("second_reading") else None,
    )
    config, view = defaults.with_overrides(parse_overrides(options)), fields.parse_view(request.view)
    return JudgeInput(wanted, config, fields.may_ask_language_model(options), view)


def parse_frameworks(numbers: Sequence[int]) -> tuple[Framework, ...]:
    """Checks the frameworks wanted. Raises InvalidInputError for unknown ones and repeats."""
    frameworks = tuple(FRAMEWORKS.parse(number, f"frameworks[{index}]") for index, number in enumerate(numbers))
    for index, framework in enumerate(frameworks):
        if framework in frameworks[:index]:
            raise InvalidInputError(f"frameworks[{index}]", "each framework once", f"{framework} again")
    return frameworks


def parse_overrides(options: pb.JudgeOptions) -> dict[str, Any]:
    """Lists the options that the caller set, by section of JudgeConfig. Raises InvalidInputError."""
    overrides: dict[str, dict[str, Any]] = {"ultra": fields.parse_fusion(options, "eta")}
    if options.HasField("max_claims"):
        overrides["evidence"] = {"max_claims": options.max_claims}
    if options.relevance_mode:
        mode = RELEVANCE_MODES.parse(options.relevance_mode, "options.relevance_mode")
        overrides["lock"] = {"relevance_mode": mode}
    return overrides


def parse_tool_scores(scores: Sequence[pb.MetricToolScore]) -> tuple[MetricToolScore, ...]:
    """Reads the caller's tool scores; the judge checks names and ranges.

    Raises:
        InvalidInputError: an unknown metric, or a mapping with a parameter that is not finite.
    """
    return tuple(
        MetricToolScore(METRICS.parse(score.metric, f"{field}.metric"), score.tool, score.score, mapping)
        for score, field, mapping in fields.with_mappings(scores, "tool_scores")
    )


def models_of(judgement: Judgement) -> tuple[ModelIdentity, ...]:
    """Lists the models that the numbers come from."""
    table = judgement.evidence
    return (table.models.entailment, table.models.embedder) if table else ()


def lowering_caps(metric: MetricResult) -> tuple[Cap, ...]:
    """Lists the caps that lowered something, without a reason that the metric's own repeats."""
    lowering = [cap for cap in metric.caps if cap.lowered]
    return tuple(replace(cap, reason="") if cap.reason in metric.reason else cap for cap in lowering)


_INPUT_KINDS = {bool: "flag", int: "count", float: "number", str: "text"}
_FULL: Exceptions = {
    "JudgeResult.models": models_of,
    "JudgeResult.applied_options": "config",
    "JudgeResult.rules": "config.rules",
    "JudgeResult.language_model_usage": lambda one: fields.to_usage(one.language_model_usage, one.language_model or ""),
    "JudgeResult.truncated_pair_count": None,  # of the call
    "JudgeOptions.use_language_model": None,  # of the call
    "JudgeOptions.second_reading": None,  # of the request
    "JudgeOptions.relevance_mode": "lock.relevance_mode",
    "JudgeOptions.fusion_form": "ultra.form",
    "JudgeOptions.eta": "ultra.eta",
    "JudgeOptions.max_claims": "evidence.max_claims",
    "FrameworkResult.objects_json": lambda result: json.dumps(result.objects, ensure_ascii=False, allow_nan=False),
    "JudgeMetric.inputs": lambda metric: [
        pb.MetricInput(name=name, **{_INPUT_KINDS[type(value)]: value}) for name, value in metric.inputs.items()
    ],
    "EvidenceTable.scored_pair_count": "pair_count",
    "EvidenceTable.tokenizer": "models.tokenizer",
}
_SCORES = ("name", "status", "score", "confidence", "error")
_EXCEPTIONS: dict[fields.ResultView, Exceptions] = {
    fields.ResultView.FULL: _FULL,
    fields.ResultView.CLAIMS: {
        **_FULL,
        **only(pb.JudgeMetric, (*_SCORES, "reason")),
        "JudgeMetric.caps": lowering_caps,
        **only(evidence_pb2.EvidenceTable, ("claims", "omitted_claim_count")),
        **only(
            evidence_pb2.Claim,
            ("passage", "contradiction", "support", "mismatches", "label", "probability", "second_reading"),
        ),
        "FrameworkResult.objects_json": None,
    },
    fields.ResultView.SCORES: {
        **_FULL,
        **only(pb.JudgeMetric, _SCORES),
        **only(evidence_pb2.EvidenceTable, ()),
        "FrameworkResult.objects_json": None,
        "JudgeResult.evidence": None,
    },
}


class JudgeReply(NamedTuple):
    """What a response of one view is made by: the result and the table without what only the server knows of a call."""

    to_result: Callable[[Judgement], pb.JudgeResult]
    to_evidence: Callable[[EvidenceTable], evidence_pb2.EvidenceTable]
    to_metric_done: Callable[[MetricReady], pb.MetricDone]

    def to_event(self, event: EvidenceReady | MetricReady) -> pb.JudgeStreamResponse:
        """Gives one step of a judgement in progress."""
        if isinstance(event, EvidenceReady):
            return pb.JudgeStreamResponse(evidence=self.to_evidence(event.evidence))
        return pb.JudgeStreamResponse(metric=self.to_metric_done(event))


JUDGE_REPLIES = {
    view: JudgeReply(
        reply(Judgement, pb.JudgeResult, exceptions),
        reply(EvidenceTable, evidence_pb2.EvidenceTable, exceptions),
        reply(MetricReady, pb.MetricDone, exceptions),
    )
    for view, exceptions in _EXCEPTIONS.items()
}
