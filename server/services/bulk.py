"""Streams of numbered items: a bounded number at once, each failure by its number."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from inference.call import Priority
from inference.errors import ShuttingDownError
from pipeline.errors import InvalidInputError
from server.config import ServicesConfig
from server.errors import TooManyCallsError, refusal
from server.rpc.admission import Context
from server.rpc.models import CallScope, ModelUsage, to_call
from server.rpc.record import current_call
from server.rpc.status import to_item_error
from server.rpc.streams import map_concurrently, until_stopping
from server.rpc.wire import MalformedRequest

MAX_ITEM_ID_CHARS = 256

R = TypeVar("R")
Work = Callable[[Any, CallScope], Awaitable[Any]]
"""Answers the request of one item on the terms of its own."""


@dataclass(frozen=True, slots=True)
class StreamItem:
    """One message of the stream."""

    index: int  # position in the stream, from 0
    id: str  # the caller's name for it; may repeat
    message: Any
    finish: Callable[[], None]  # to be called when it is answered, or never will be

    def check(self) -> None:
        """Refuses a message that is no item. Raises InvalidRequestError or InvalidInputError."""
        if isinstance(self.message, MalformedRequest):
            violation = self.message.violation
            # The field's path as in a unary call, where there is no message around the request.
            raise refusal(violation.field.removeprefix("request."), violation.description)
        if len(self.id) > MAX_ITEM_ID_CHARS:
            raise InvalidInputError("id", f"at most {MAX_ITEM_ID_CHARS} characters", f"{len(self.id)}")


async def worked(
    messages: AsyncIterator[Any],
    work: Callable[[StreamItem], Coroutine[Any, Any, R]],
    *,
    limit: int,
    stop: asyncio.Event,
) -> AsyncGenerator[R, None]:
    """Numbers the messages of a stream and works on so many at once; yields in the order of completion.

    Raises:
        ShuttingDownError, TooManyCallsError: after the last, if the client may have sent more than was read.
    """
    unread: Exception | None = ShuttingDownError()

    async def numbered() -> AsyncGenerator[StreamItem, None]:
        nonlocal unread
        index = 0
        try:
            async for message in messages:
                name = message.strings.get("id", "") if isinstance(message, MalformedRequest) else message.id
                place = current_call().place  # where the bytes of the message that was read last are counted out
                yield StreamItem(index, name, message, partial(place.finish, place.take()) if place else lambda: None)
                index += 1
            unread = None
        except TooManyCallsError as error:
            unread = error

    accepted = until_stopping(stop, numbered())
    answers = map_concurrently(accepted, work, limit=limit)
    async with aclosing(accepted), aclosing(answers):
        async for answer in answers:
            yield answer
    if unread is not None:
        raise unread


class Bulk(Generic[R]):
    """Answers streams of items.

    Args:
        response: message of one answer, with the fields id, index, response and error.
        config: how many items of one stream at once, and how long a full queue is waited for.
        stopping: set when the server drains: streams finish what they have read and end.
    """

    def __init__(self, response: Callable[..., R], config: ServicesConfig, stopping: asyncio.Event) -> None:
        self._response = response
        self._config = config
        self._stopping = stopping

    def answers(self, messages: AsyncIterator[Any], context: Context, work: Work) -> AsyncGenerator[R, None]:
        """Works on items as they come; answers in the order of completion.

        A full queue is waited for: meanwhile nothing more is read, and flow control slows the client down. Raises what
        `worked` does.
        """
        answer = partial(self._answer, context, work)
        return worked(messages, answer, limit=self._config.max_stream_items, stop=self._stopping)

    async def _answer(self, context: Context, work: Work, item: StreamItem) -> R:
        """Answers one item; its failure is an answer too."""
        record, usage = current_call(), ModelUsage()
        try:
            item.check()
            request = item.message.request
            call = to_call(context, request.priority, default=Priority.BULK)
            response = await work(request, CallScope(call, self._config.max_queue_wait_s, usage))
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends this item and not the stream
            return self._response(id=item.id, index=item.index, error=to_item_error(error, record.call_id))
        finally:
            item.finish()
            record.queue_ms += usage.queue_ms
            record.item_count += max(0, usage.item_count - 1)  # its answer counts one, as of a call it would all of it
        return self._response(id=item.id, index=item.index, response=response)
