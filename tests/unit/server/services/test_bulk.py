"""Streams of items: numbered, bounded, answered as they finish, and ended when the server stops."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from inference.call import Priority
from pipeline.errors import InvalidInputError
from server.config import ListenConfig, ServicesConfig
from server.errors import FieldViolation
from server.observe.metrics import CallMetrics, new_registry
from server.rpc.calls import CallRunner
from server.rpc.models import CallScope
from server.rpc.record import CallRecord, current_call
from server.rpc.wire import MalformedRequest
from server.services.bulk import Bulk
from tests.fakes import listening
from tests.unit.inference.serving import settle

LISTEN = ListenConfig()


class Framed(bytes):
    """A message as bytes, whatever it is."""

    message: Any

    @classmethod
    def of(cls, message: Any) -> "Framed":  # noqa: ANN401 - a message, or what stands for one
        framed = cls(getattr(message, "SerializeToString", bytes)())
        framed.message = message
        return framed


@dataclass
class Answered:
    """What a stream was answered, and how it ended; None: well."""

    written: list[pb.JudgeBatchResponse] = field(default_factory=list)
    status: Any = None


class Worker:
    """Answers requests with the summary as language model; holds those whose source is "slow" until told."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.priorities: list[Priority] = []
        self.waits_s: list[float] = []
        self.at_once = 0

    async def __call__(self, request: pb.JudgeRequest, scope: CallScope) -> pb.JudgeResponse:
        self.priorities.append(scope.call.priority)
        self.waits_s.append(scope.max_queue_wait_s)
        self.at_once += 1
        if request.source == "slow":
            await self.may_end.wait()
        self.at_once -= 1
        if not request.summary:
            raise InvalidInputError("summary", "a text", "nothing")
        return pb.JudgeResponse(result=pb.JudgeResult(language_model=request.summary))


def item(summary: str, *, source: str = "", priority: Any = 0) -> pb.JudgeBatchRequest:  # noqa: ANN401 - of the enum
    return pb.JudgeBatchRequest(id=summary, request=pb.JudgeRequest(source=source, summary=summary, priority=priority))


def _message_of(framed: bytes) -> object:
    assert isinstance(framed, Framed)
    return framed.message


async def run(
    items: AsyncIterator[Any] | Sequence[Any],
    worker: Worker,
    stopping: asyncio.Event | None = None,
    listen: ListenConfig = LISTEN,
    **limits: float,
) -> Answered:
    """Answers a stream as the server does."""

    async def messages() -> AsyncIterator[Any]:
        for one in items if isinstance(items, Sequence) else ():
            yield one

    stream = messages() if isinstance(items, Sequence) else items
    bulk = Bulk(pb.JudgeBatchResponse, ServicesConfig.model_validate(limits), stopping or asyncio.Event())
    runner = CallRunner(listen, CallMetrics(new_registry()))
    answered = Answered()

    async def read() -> Any:  # noqa: ANN401 - a message, or the end
        found = await anext(stream, grpc.aio.EOF)
        return found if found is grpc.aio.EOF else Framed.of(found)

    async def write(response: bytes) -> None:
        answered.written.append(pb.JudgeBatchResponse.FromString(response))

    async def abort(status: grpc.Status) -> None:
        answered.status = status

    async def begin(_: object) -> None:
        pass

    context: Any = SimpleNamespace(
        read=read,
        write=write,
        send_initial_metadata=begin,
        abort_with_status=abort,
        peer=lambda: "local:0",
        time_remaining=lambda: None,
    )
    handler = runner.stream("test", lambda request, call: bulk.answers(request, call, worker), _message_of)
    await handler(None, context)
    return answered


async def test_items_are_bulk_work_that_waits_for_room_unless_they_say_otherwise() -> None:
    worker = Worker()
    urgent = item("b", priority=common_pb2.PRIORITY_INTERACTIVE)
    await run([item("a"), urgent], worker, max_queue_wait_s=7)
    assert worker.priorities == [Priority.BULK, Priority.INTERACTIVE]
    assert worker.waits_s == [7, 7]


async def test_no_more_items_are_worked_on_than_the_limit() -> None:
    worker = Worker()
    items = [item(str(number), source="slow") for number in range(9)]
    running = asyncio.create_task(run(items, worker, max_stream_items=2))
    await settle(20)
    assert worker.at_once == 2
    worker.may_end.set()
    assert len((await running).written) == 9


@pytest.mark.parametrize(
    ("bad", "field", "item_id"),
    [
        (item(""), "summary", ""),
        (pb.JudgeBatchRequest(id="x" * 257), "id", "x" * 257),
        (item("a", priority=9), "priority", "a"),
        (MalformedRequest(FieldViolation("request.source", "no UTF-8"), {"id": "m"}), "source", "m"),
    ],
    ids=["refused", "long id", "priority", "malformed"],
)
async def test_one_bad_item_is_one_error(bad: object, field: str, item_id: str) -> None:
    context = await run([item("a"), bad, item("b")], Worker())
    answers = {one.index: one for one in context.written}
    assert [answers[index].WhichOneof("outcome") for index in range(3)] == ["response", "error", "response"]
    assert (answers[1].error.field, answers[1].id) == (field, item_id)
    assert context.status is None


async def test_items_count_in_bytes_until_they_are_answered() -> None:
    worker = Worker()
    listen = listening(max_request=2_000)

    async def messages() -> AsyncIterator[pb.JudgeBatchRequest]:
        for number in range(20):
            yield item(str(number), source="x" * 900)
        yield item("slow", source="slow")
        worker.may_end.set()  # the next is read before its waiter runs
        yield item("much", source="x" * 2_000)

    context = await run(messages(), worker, listen=listen, max_stream_items=2)
    assert {one.id for one in context.written} == {*map(str, range(20)), "slow"}
    assert context.status.code is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_an_answer_that_is_too_large_is_the_error_of_its_item_alone() -> None:
    items = [item("a"), item("b" * 200), item("c")]
    context = await run(items, Worker(), listen=listening(max_send=100))
    answers = {one.index: one for one in context.written}
    assert [answers[index].WhichOneof("outcome") for index in range(3)] == ["response", "error", "response"]
    assert answers[1].id == "b" * 200
    assert answers[1].error.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert "`view`" in answers[1].error.message
    assert not answers[1].error.HasField("retry_delay")
    assert context.status is None


async def test_an_item_counts_what_it_holds() -> None:
    record: list[CallRecord] = []

    async def work(request: pb.JudgeRequest, scope: CallScope) -> pb.JudgeResponse:
        record[:] = [current_call()]
        scope.usage.item_count = 30
        if request.summary == "bad":
            raise InvalidInputError("summary", "a text", "nothing")
        return pb.JudgeResponse()

    worker: Any = work
    await run([item("a"), item("bad")], worker)
    assert record[0].item_count == 60
