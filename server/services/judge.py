"""JudgeService: judgements of summaries, and answers to questions about quality.

The judge on the terms of one request: the server's settings with the caller's laid over them, models, one cache.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import dataclass

from precis.v1 import judge_pb2 as pb
from precis.v1 import synthesis_pb2
from precis.v1.judge_pb2_grpc import JudgeServiceServicer

from pipeline.assess.assessor import Assessor
from pipeline.assess.request import AssessRequest, AssessStage
from pipeline.assess.run import AssessModels, TextJudge
from pipeline.assess.synthesis.synthesizer import Synthesizer
from pipeline.judge.cache import JudgeCaches
from pipeline.judge.config import JudgeConfig
from pipeline.judge.judge import Judge
from pipeline.judge.judgement import JudgeEvent, Judgement
from pipeline.judge.request import JudgeRequest
from pipeline.llm.chat_model import ChatModel
from pipeline.llm.config import LlmRole
from pipeline.protocols import Models
from server.backends import Backends
from server.config import ServicesConfig
from server.observe.service_metrics import AnswerMetrics, JudgeMetrics
from server.rpc.admission import Context
from server.rpc.models import CallScope, call_terms
from server.services.assess_reply import AssessNames, to_assess_event, to_synthesis
from server.services.bulk import Bulk
from server.services.judge_reply import JUDGE_REPLIES
from server.services.judge_request import JudgeInput, may_ask_language_model, parse_assess, parse_judge, parse_synthesis


@dataclass(frozen=True, slots=True)
class BoundJudge:
    """A judge with the models, and the language model that may be asked, on one request's terms; counts."""

    inner: Judge
    models: Models
    metrics: JudgeMetrics

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Returns the judgement."""
        judgement = await self.inner.judge(request, self.models)
        self.metrics.observe(judgement)
        return judgement

    async def stream(self, request: JudgeRequest) -> AsyncGenerator[JudgeEvent, None]:
        """Yields what leads to the judgement, and the judgement last. Closing it ends the work."""
        async with aclosing(self.inner.stream(request, self.models)) as events:
            async for event in events:
                if isinstance(event, Judgement):
                    self.metrics.observe(event)
                yield event


class Judges:
    """Makes judges.

    Args:
        defaults: settings of judgements, which a request may override.
        cpu: threads for reading long texts; owned by the app.
    """

    def __init__(
        self,
        defaults: JudgeConfig,
        backends: Backends,
        *,
        cpu: Executor,
        metrics: JudgeMetrics,
    ) -> None:
        self.defaults = defaults
        self._backends = backends
        self._cpu = cpu
        self._metrics = metrics
        self._caches = JudgeCaches(defaults.cache)

    def bound(self, terms: CallScope, chat: ChatModel | None, *, config: JudgeConfig, char_count: int) -> BoundJudge:
        """Makes the judge of one request.

        Args:
            terms: of its call.
            chat: the language model that may be asked.
            char_count: of both texts. Short ones are read on the event loop: that is done before a thread has begun.

        Raises:
            ModelNotLoadedError: the server runs without a model that judgements need.
        """
        executor = self._cpu if char_count > ServicesConfig.inline_chars else None
        judge = Judge(config, executor=executor, caches=self._caches, owner=terms.call.owner)
        return BoundJudge(judge, self._backends.scoring.bound(terms, chat), self._metrics)


ASSESS_ROLES = (LlmRole.PLANNER, LlmRole.EXECUTOR, LlmRole.SYNTHESIZER)


@dataclass(frozen=True, slots=True)
class Answers:
    """What answers questions about quality.

    Attributes:
        chats: the language model of each role; empty without an endpoint.
    """

    synthesizer: Synthesizer
    assessor: Assessor
    chats: Mapping[LlmRole, ChatModel]
    metrics: AnswerMetrics

    @property
    def models(self) -> AssessModels[ChatModel] | None:
        """Those of an assessment."""
        return AssessModels(*(self.chats[role] for role in ASSESS_ROLES)) if self.chats else None

    def names(self, *roles: LlmRole) -> str:
        """Names the models of some roles, each once; empty without an endpoint."""
        return ", ".join(dict.fromkeys(self.chats[role].identity for role in roles if role in self.chats))


class JudgeServicer(JudgeServiceServicer):
    """Judges summaries, and answers questions about quality.

    Args:
        answers: to questions about quality.
        bulk: answers the items of a JudgeBatch.
    """

    def __init__(self, judges: Judges, answers: Answers, *, bulk: Bulk[pb.JudgeBatchResponse]) -> None:
        self._judges = judges
        self._answers = answers
        self._bulk = bulk

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
            parsed = parse_judge(request, self._judges.defaults)
            judge, to_event = self._judge_for(parsed, terms), JUDGE_REPLIES[parsed.view].to_event
            async with aclosing(judge.stream(parsed.request)) as events:
                async for event in events:
                    if isinstance(event, Judgement):
                        yield pb.JudgeStreamResponse(result=_result(event, parsed, judge, terms))
                    else:
                        yield to_event(event)

    async def Synthesize(
        self, request: synthesis_pb2.SynthesizeRequest, context: Context
    ) -> synthesis_pb2.SynthesizeResponse:
        """Answers one question from the evidence that it brings."""
        with call_terms(request.priority, context, "judge"):
            parsed = parse_synthesis(request)
            answers = self._answers
            chat = answers.chats.get(LlmRole.SYNTHESIZER) if may_ask_language_model(request.options) else None
            synthesis = await answers.synthesizer.synthesize(parsed, chat_model=chat)
            answers.metrics.synthesized(synthesis)
            name = chat.identity if chat else ""
            return synthesis_pb2.SynthesizeResponse(synthesis=to_synthesis(synthesis, language_model=name))

    async def Assess(
        self, request: synthesis_pb2.AssessRequest, context: Context
    ) -> AsyncGenerator[synthesis_pb2.AssessResponse, None]:
        """Plans, runs tools and answers until the evidence suffices. A client that leaves stops the work."""
        with call_terms(request.priority, context, "judge") as terms:
            parsed = parse_assess(request)
            answers, may_ask = self._answers, may_ask_language_model(request.options)
            judge = self._text_judge(parsed, terms, answers.chats.get(LlmRole.JUDGE) if may_ask else None)
            models = answers.models if may_ask else None
            asked = (*ASSESS_ROLES, *([LlmRole.JUDGE] if judge else []))
            names = AssessNames(answers.names(*asked), answers.names(LlmRole.SYNTHESIZER))
            async with aclosing(answers.assessor.stream(parsed, judge=judge, models=models)) as events:
                async for event in events:
                    answers.metrics.assess_event(event)
                    yield to_assess_event(event, names)

    async def _judge(self, request: pb.JudgeRequest, terms: CallScope) -> pb.JudgeResponse:
        parsed = parse_judge(request, self._judges.defaults)
        judge = self._judge_for(parsed, terms)
        return pb.JudgeResponse(result=_result(await judge.judge(parsed.request), parsed, judge, terms))

    def _judge_for(self, parsed: JudgeInput, terms: CallScope) -> BoundJudge:
        chat = self._answers.chats.get(LlmRole.JUDGE) if parsed.uses_language_model else None
        return self._judges.bound(terms, chat, config=parsed.config, char_count=parsed.char_count)

    def _text_judge(self, request: AssessRequest, terms: CallScope, chat: ChatModel | None) -> TextJudge | None:
        """Gives what judges the request's texts; None when it judges none: images need no model."""
        if not request.summary.strip() or request.stage is AssessStage.PLAN:
            return None
        char_count = len(request.source) + len(request.summary)
        return self._judges.bound(terms, chat, config=self._judges.defaults, char_count=char_count).judge


def _result(judgement: Judgement, parsed: JudgeInput, judge: BoundJudge, terms: CallScope) -> pb.JudgeResult:
    result = JUDGE_REPLIES[parsed.view].to_result(judgement)
    result.applied_options.use_language_model = judge.models.chat is not None
    result.truncated_pair_count = terms.usage.truncated_pair_count
    return result
