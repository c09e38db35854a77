"""EvaluateService: one summary at a time, or as many as a client can send.

The items of an EvaluateStream: numbered as they come, and answered by number when they fail.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from precis.v1 import evaluate_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceServicer

from inference.call import Priority
from inference.errors import ShuttingDownError
from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.evaluator import Evaluator
from server.config import EvaluateServiceConfig
from server.errors import FieldViolation, InvalidRequestError
from server.rpc.calls import Context, current_call
from server.rpc.models import CallScope, EngineModels, parse_priority, to_call
from server.rpc.status import to_item_error
from server.rpc.streams import map_concurrently, until_stopping
from server.rpc.wire import MalformedRequest
from server.services.evaluate_reply import to_response
from server.services.evaluate_request import EvaluateInput, check_item_id, parse_evaluate


@dataclass(frozen=True, slots=True)
class StreamItem:
    """One message of the stream.

    Attributes:
        index: position in the stream, from 0.
        id: the caller's name for it; may repeat.
        request: what to evaluate; empty when the message is malformed.
        malformed: why the message could not be read.
    """

    index: int
    id: str
    request: pb.EvaluateRequest
    malformed: MalformedRequest | None = None

    def check(self) -> None:
        """Refuses a message that is no item. Raises InvalidRequestError or InvalidInputError."""
        if self.malformed is not None:
            violation = self.malformed.violation
            # The field's path as in a unary call, where there is no message around the request.
            raise InvalidRequestError([FieldViolation(violation.field.removeprefix("request."), violation.description)])
        check_item_id(self.id)


class numbered:  # noqa: N801 - used like `enumerate`
    """Numbers the messages of a stream, and knows whether the client has sent all of them."""

    def __init__(self, messages: AsyncIterator[pb.EvaluateStreamRequest | MalformedRequest]) -> None:
        self.has_ended = False
        self._messages = messages
        self._count = 0

    def __aiter__(self) -> "numbered":
        return self

    async def __anext__(self) -> StreamItem:
        try:
            message = await anext(self._messages)
        except StopAsyncIteration:
            self.has_ended = True
            raise
        index = self._count
        self._count += 1
        if isinstance(message, MalformedRequest):
            return StreamItem(index, message.strings.get("id", ""), pb.EvaluateRequest(), message)
        return StreamItem(index, message.id, message.request)


def to_failure(item: StreamItem, error: Exception, call_id: str) -> pb.EvaluateStreamResponse:
    """Gives the answer to an item that failed."""
    return pb.EvaluateStreamResponse(id=item.id, index=item.index, error=to_item_error(error, call_id))


class EvaluateServicer(EvaluateServiceServicer):
    """Computes the five-factor loss.

    Args:
        models: of the engine.
        defaults: scoring settings, which a request may override.
        config: how much one stream may do at once, and where CPU work runs.
        cpu: threads for splitting and matching long texts; owned by the app.
        stopping: set when the server drains: streams finish what they have read and end.
    """

    def __init__(
        self,
        models: EngineModels,
        defaults: EvaluateConfig,
        config: EvaluateServiceConfig,
        *,
        cpu: Executor,
        stopping: asyncio.Event,
    ) -> None:
        self._defaults = defaults
        self._config = config
        self._cpu = cpu
        self._stopping = stopping
        self._models = models

    async def Evaluate(self, request: pb.EvaluateRequest, context: Context) -> pb.EvaluateResponse:
        """Evaluates one summary. A full queue is refused at once."""
        record = current_call()
        terms = CallScope(to_call(context, parse_priority(request.priority)), name="evaluate")
        try:
            return await self._evaluate(request, terms)
        finally:
            record.queue_ms, record.item_count = terms.usage.queue_ms, terms.usage.item_count

    async def EvaluateStream(
        self, request_iterator: AsyncIterator[pb.EvaluateStreamRequest], context: Context
    ) -> AsyncGenerator[pb.EvaluateStreamResponse, None]:
        """Evaluates items as they come, a bounded number at once; answers in the order of completion.

        A full queue is waited for: meanwhile nothing more is read, and flow control slows the client down.
        """
        items = numbered(request_iterator)
        answer = partial(self._answer, context)
        accepted = until_stopping(self._stopping, items, is_quiet=True)
        responses = map_concurrently(accepted, answer, limit=self._config.max_stream_items)
        async with aclosing(accepted), aclosing(responses):
            async for response in responses:
                yield response
        if not items.has_ended:
            raise ShuttingDownError  # the client must know that the rest was not read

    async def _answer(self, context: Context, item: StreamItem) -> pb.EvaluateStreamResponse:
        """Evaluates one item of a stream; its failure is an answer too."""
        record = current_call()
        try:
            item.check()
            call = to_call(context, parse_priority(item.request.priority), default=Priority.BULK)
            terms = CallScope(call, self._config.max_queue_wait_s, name="evaluate")
            response = await self._evaluate(item.request, terms)
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends this item and not the stream
            return to_failure(item, error, record.call_id)
        record.queue_ms += terms.usage.queue_ms
        return pb.EvaluateStreamResponse(id=item.id, index=item.index, response=response)

    async def _evaluate(self, request: pb.EvaluateRequest, terms: CallScope) -> pb.EvaluateResponse:
        models = self._models.bound(terms)
        parsed = parse_evaluate(request, self._defaults)
        evaluator = Evaluator(parsed.config, executor=self._executor_for(parsed))
        evaluation = await evaluator.evaluate(parsed.datum, parsed.generated, models)
        response = to_response(evaluation)
        response.nli.truncated_pair_count = terms.usage.truncated_pair_count
        return response

    def _executor_for(self, parsed: EvaluateInput) -> Executor | None:
        """Chooses where the CPU work runs: a short text is done before a thread would have begun."""
        return self._cpu if parsed.char_count > self._config.inline_chars else None
