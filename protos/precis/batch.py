"""Many items over one stream: what goes in, and what comes out for each."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from precis.calls import EVALUATE, JUDGE, evaluate_request, judge_request, rpc_path
from precis.errors import PrecisError, item_error
from precis.evaluation import Evaluation, to_evaluation
from precis.judgement import Judgement, to_judgement
from precis.v1 import evaluate_pb2, judge_pb2
from precis.words import Framework, Priority, View

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741 - an item, beside T

JudgePair = tuple[str, str] | judge_pb2.JudgeBatchRequest
"""Source and summary; or the whole item, with an id and settings of its own."""

EvaluatePair = (
    tuple[evaluate_pb2.GoldStandardDatum, str | evaluate_pb2.GeneratedSummary] | evaluate_pb2.EvaluateStreamRequest
)
"""Golden reference and summary; or the whole item, with an id and settings of its own."""


@dataclass(frozen=True, slots=True)
class BatchItem(Generic[T]):
    """What became of one item: a result or an error.

    Attributes:
        index: position of the item among those that were sent, from 0.
        id: of the item, if it had one.
        error: why there is no result; None when there is one.
    """

    index: int
    id: str
    error: PrecisError | None
    _result: T | None = field(repr=False)

    def result(self) -> T:
        """Returns the result. Raises the item's error when it has none."""
        if self.error is not None:
            raise self.error
        assert self._result is not None  # noqa: S101 - one of the two is set
        return self._result


@dataclass(frozen=True, slots=True)
class Batch(Generic[I, T]):
    """One bulk call.

    Attributes:
        path: of the RPC.
        encode: turns an item into the bytes of a request.
        parse: turns the bytes of a response into what became of its item.
    """

    path: str
    encode: Callable[[I], bytes]
    parse: Callable[[bytes], BatchItem[T]]


class Feed(Generic[I]):
    """Encodes the items that gRPC asks for.

    gRPC would swallow an exception of the user's iterator. Here it ends the requests, and is raised behind the results
    of the items before it.
    """

    def __init__(self, encode: Callable[[I], bytes]) -> None:
        self._encode = encode
        self._error: Exception | None = None

    def requests(self, items: Iterable[I]) -> Iterator[bytes]:
        """Yields the requests of a sync call; runs on a thread of gRPC."""
        try:
            for item in items:
                yield self._encode(item)
        except Exception as error:  # noqa: BLE001 - raised by `check`
            self._error = error

    async def async_requests(self, items: Iterable[I] | AsyncIterable[I]) -> AsyncIterator[bytes]:
        """Yields the requests of an asyncio call."""
        try:
            if isinstance(items, AsyncIterable):
                async for item in items:
                    yield self._encode(item)
            else:
                for item in items:
                    yield self._encode(item)
        except Exception as error:  # noqa: BLE001 - raised by `check`
            self._error = error

    def check(self) -> None:
        """Raises what the user's iterator raised, if it did."""
        if self._error is not None:
            raise self._error


def judge_batch(
    *,
    frameworks: Iterable[Framework],
    view: View | None,
    priority: Priority | None,
    options: judge_pb2.JudgeOptions | None,
) -> Batch[JudgePair, Judgement]:
    """Judges many summaries. Raises InvalidArgument for a word that is not in the contract."""
    common = judge_request("", "", frameworks=frameworks, view=view, priority=priority, options=options)

    def encode(pair: JudgePair) -> bytes:
        if isinstance(pair, judge_pb2.JudgeBatchRequest):
            return pair.SerializeToString()
        source, summary = pair
        request = judge_pb2.JudgeRequest(source=source, summary=summary)
        request.MergeFrom(common)
        return judge_pb2.JudgeBatchRequest(request=request).SerializeToString()

    def parse(data: bytes) -> BatchItem[Judgement]:
        response = judge_pb2.JudgeBatchResponse.FromString(data)
        if response.HasField("error"):
            return BatchItem(response.index, response.id, item_error(response.error), None)
        return BatchItem(response.index, response.id, None, to_judgement(response.response))

    return Batch(rpc_path(JUDGE, "JudgeBatch"), encode, parse)


def evaluate_batch(
    *, view: View | None, priority: Priority | None, options: evaluate_pb2.EvaluateOptions | None
) -> Batch[EvaluatePair, Evaluation]:
    """Evaluates many summaries. Raises InvalidArgument for a word that is not in the contract."""
    common = evaluate_request(None, None, view=view, priority=priority, options=options)

    def encode(pair: EvaluatePair) -> bytes:
        if isinstance(pair, evaluate_pb2.EvaluateStreamRequest):
            return pair.SerializeToString()
        datum, generated = pair
        request = evaluate_request(datum, generated, view=None, priority=None, options=None)
        request.MergeFrom(common)
        return evaluate_pb2.EvaluateStreamRequest(request=request).SerializeToString()

    def parse(data: bytes) -> BatchItem[Evaluation]:
        response = evaluate_pb2.EvaluateStreamResponse.FromString(data)
        if response.HasField("error"):
            return BatchItem(response.index, response.id, item_error(response.error), None)
        return BatchItem(response.index, response.id, None, to_evaluation(response.response))

    return Batch(rpc_path(EVALUATE, "EvaluateStream"), encode, parse)
