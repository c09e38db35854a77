"""EvaluateService: one summary at a time, or as many as a client can send."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import Executor

from precis.v1 import evaluate_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceServicer

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.evaluator import Evaluator
from server.observe.service_metrics import EvaluateMetrics
from server.rpc.admission import Context
from server.rpc.models import CallScope, EngineModels
from server.services.bulk import Bulk, call_terms
from server.services.evaluate_reply import EVALUATE_REPLIES
from server.services.evaluate_request import EvaluateInput, parse_evaluate
from server.settings import Settings


class EvaluateServicer(EvaluateServiceServicer):
    """Computes the five-factor loss.

    Args:
        settings: `evaluate`, limits of a request, and `services`.
        metrics: count every evaluation.
        cpu: threads for splitting and matching long texts; owned by the app.
        stopping: set when the server drains: streams finish what they have read and end.
    """

    def __init__(
        self,
        models: EngineModels,
        settings: Settings,
        metrics: EvaluateMetrics,
        *,
        cpu: Executor,
        stopping: asyncio.Event,
    ) -> None:
        self._defaults = EvaluateConfig(limits=settings.evaluate)
        self._config = settings.services
        self._metrics = metrics
        self._cpu = cpu
        self._bulk = Bulk(pb.EvaluateStreamResponse, self._config, stopping)
        self._models = models

    async def Evaluate(self, request: pb.EvaluateRequest, context: Context) -> pb.EvaluateResponse:
        """Evaluates one summary. A full queue is refused at once."""
        with call_terms(request.priority, context, "evaluate") as terms:
            return await self._evaluate(request, terms)

    def EvaluateStream(
        self, request_iterator: AsyncIterator[pb.EvaluateStreamRequest], context: Context
    ) -> AsyncGenerator[pb.EvaluateStreamResponse, None]:
        """Evaluates items as they come, and answers in the order of completion."""
        return self._bulk.answers(request_iterator, context, self._evaluate)

    async def _evaluate(self, request: pb.EvaluateRequest, terms: CallScope) -> pb.EvaluateResponse:
        models = self._models.bound(terms)
        parsed = parse_evaluate(request, self._defaults)
        evaluator = Evaluator(parsed.config, executor=self._executor_for(parsed))
        evaluation = await evaluator.evaluate(parsed.datum, parsed.generated, models)
        self._metrics.observe(evaluation)
        response = EVALUATE_REPLIES[parsed.view].to_response(evaluation)
        response.nli.truncated_pair_count = terms.usage.truncated_pair_count
        return response

    def _executor_for(self, parsed: EvaluateInput) -> Executor | None:
        """Chooses where the CPU work runs: a short text is done before a thread would have begun."""
        return self._cpu if parsed.char_count > self._config.inline_chars else None
