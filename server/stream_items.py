"""The items of an EvaluateStream: numbered as they come, and answered by number when they fail."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from precis.v1 import evaluate_pb2 as pb

from server.errors import FieldViolation, InvalidRequestError
from server.parse_evaluate import check_item_id
from server.status import to_item_error
from server.wire import MalformedRequest


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
