"""JudgeService: judgements of summaries, and answers to questions about quality."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from functools import partial

from pipeline.judge.assess.assessor import Assessor
from pipeline.judge.assess.request import AssessRequest
from pipeline.judge.assess.run import TextJudge
from pipeline.judge.judgement import Judgement
from pipeline.judge.synthesis.synthesizer import Synthesizer
from pipeline.llm.chat_model import ChatModel
from protos.precis.v1 import judge_pb2 as pb
from protos.precis.v1 import synthesis_pb2
from protos.precis.v1.judge_pb2_grpc import JudgeServiceServicer
from server.backends import Backends
from server.bound_models import Terms
from server.call_terms import parse_priority, to_call
from server.calls import Context, current_call
from server.convert_assess import to_assess_event
from server.convert_judge import to_event, to_result
from server.convert_synthesis import to_synthesis
from server.judge_metrics import JudgeMetrics
from server.judges import Judges
from server.parse_assess import parse_assess
from server.parse_judge import JudgeInput, parse_judge
from server.parse_synthesis import may_ask_language_model, parse_synthesis


class JudgeServicer(JudgeServiceServicer):
    """Judges summaries, and answers questions about quality.

    Args:
        backends: the models.
        judges: makes the judge of each request.
        synthesizer: writes answers.
        assessor: plans, runs tools, and has answers written.
        metrics: counts what was judged.
    """

    def __init__(
        self,
        backends: Backends,
        judges: Judges,
        synthesizer: Synthesizer,
        *,
        assessor: Assessor,
        metrics: JudgeMetrics,
    ) -> None:
        self._backends = backends
        self._judges = judges
        self._synthesizer = synthesizer
        self._assessor = assessor
        self._metrics = metrics

    async def Judge(self, request: pb.JudgeRequest, context: Context) -> pb.JudgeResponse:
        """Judges one summary. A full queue is refused at once."""
        with _terms(request.priority, context) as terms:
            parsed = parse_judge(request, self._judges.defaults)
            models = self._backends.scoring.bound(terms)
            judgement = await self._judges.judge_for(parsed).judge(
                parsed.request,
                entailment=models.entailment,
                embedder=models.embedder,
                tokenizer=models.tokenizer,
                chat_model=self._chat_for(parsed),
            )
            return pb.JudgeResponse(result=self._result(judgement, parsed, terms))

    async def JudgeStream(
        self, request: pb.JudgeStreamRequest, context: Context
    ) -> AsyncGenerator[pb.JudgeStreamResponse, None]:
        """Judges one summary and tells what is known as soon as it is. A client that leaves stops the work."""
        with _terms(request.priority, context) as terms:
            parsed = parse_judge(request, self._judges.defaults)
            models = self._backends.scoring.bound(terms)
            events = self._judges.judge_for(parsed).stream(
                parsed.request,
                entailment=models.entailment,
                embedder=models.embedder,
                tokenizer=models.tokenizer,
                chat_model=self._chat_for(parsed),
            )
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, Judgement):
                        yield pb.JudgeStreamResponse(result=self._result(event, parsed, terms))
                    else:
                        yield to_event(event)

    async def Synthesize(
        self, request: synthesis_pb2.SynthesizeRequest, context: Context
    ) -> synthesis_pb2.SynthesizeResponse:
        """Answers one question from the evidence that it brings."""
        with _terms(request.priority, context):
            parsed = parse_synthesis(request)
            chat = self._backends.chat if may_ask_language_model(request.options) else None
            synthesis = await self._synthesizer.synthesize(parsed, chat_model=chat)
            identity = chat.identity if chat else ""
            return synthesis_pb2.SynthesizeResponse(synthesis=to_synthesis(synthesis, language_model=identity))

    async def Assess(
        self, request: synthesis_pb2.AssessRequest, context: Context
    ) -> AsyncGenerator[synthesis_pb2.AssessResponse, None]:
        """Plans, runs tools and answers until the evidence suffices. A client that leaves stops the work."""
        with _terms(request.priority, context) as terms:
            parsed = parse_assess(request)
            chat = self._backends.chat if may_ask_language_model(request.options) else None
            identity = chat.identity if chat else ""
            judge = self._text_judge(parsed, terms, chat)
            async with aclosing(self._assessor.stream(parsed, judge=judge, chat_model=chat)) as events:
                async for event in events:
                    yield to_assess_event(event, language_model=identity)

    def _text_judge(self, request: AssessRequest, terms: Terms, chat: ChatModel | None) -> TextJudge | None:
        """Gives what judges the request's texts; None when it has none, so that images need no model of the engine."""
        if not request.summary.strip():
            return None
        models = self._backends.scoring.bound(terms)
        judge = self._judges.default_judge(len(request.source) + len(request.summary))
        return partial(
            judge.judge,
            entailment=models.entailment,
            embedder=models.embedder,
            tokenizer=models.tokenizer,
            chat_model=chat,
        )

    def _chat_for(self, parsed: JudgeInput) -> ChatModel | None:
        return self._backends.chat if parsed.uses_language_model else None

    def _result(self, judgement: Judgement, parsed: JudgeInput, terms: Terms) -> pb.JudgeResult:
        self._metrics.observe(judgement)
        result = to_result(judgement)
        result.applied_options.use_language_model = self._chat_for(parsed) is not None
        result.truncated_pair_count = terms.usage.truncated_pair_count
        return result


@contextmanager
def _terms(priority: int, context: Context) -> Iterator[Terms]:
    """Gives the terms of a call, and notes in its record what the models did for it."""
    record = current_call()
    terms = Terms(to_call(context, parse_priority(priority)))
    try:
        yield terms
    finally:
        record.queue_ms, record.item_count = terms.usage.queue_ms, terms.usage.item_count
