"""A JudgeService that says what a test wants: judgements, refusals, and silence."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status
from precis.v1 import judge_pb2 as pb

from tests.judgements import foreign_judgement, judgement

SERVICE = pb.DESCRIPTOR.services_by_name["JudgeService"].full_name
Context = grpc.aio.ServicerContext[Any, Any]


class ScriptedJudge:
    """Judges every summary alike, unless the summary is one of these words.

    "busy": refused the first two times, with a delay. "bad": refused. "gone": the server is stopping. "never": there is
    no answer. "deutsch": no score, for it is not English. A number: Ultra's score of hallucination.

    Attributes:
        seen: how often each summary came.
        most_at_once: most calls in flight.
        requests: the last request of each summary.
        awaited: no call is answered before as many are in flight.
    """

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.most_at_once = 0
        self.requests: dict[str, pb.JudgeRequest] = {}
        self.address = ""
        self.awaited = 1
        self._arrived = asyncio.Event()
        self._in_flight = 0

    async def judge(self, request: pb.JudgeRequest, context: Context) -> pb.JudgeResponse:
        """Answers one call."""
        self.seen[request.summary] += 1
        self.requests[request.summary] = request
        self._in_flight += 1
        self.most_at_once = max(self.most_at_once, self._in_flight)
        if self._in_flight >= self.awaited:
            self._arrived.set()
        try:
            await self._arrived.wait()
            return await self._answer(request, context)
        finally:
            self._in_flight -= 1

    async def _answer(self, request: pb.JudgeRequest, context: Context) -> pb.JudgeResponse:
        if request.summary == "never":
            await asyncio.Event().wait()
        if request.summary == "busy" and self.seen["busy"] < 3:
            retry = error_details_pb2.RetryInfo(retry_delay=Duration(nanos=1_000_000))
            await refuse(context, code_pb2.RESOURCE_EXHAUSTED, "the queue is full", retry)
        if request.summary == "bad":
            field = error_details_pb2.BadRequest.FieldViolation(field="summary", description="expected better")
            await refuse(
                context, code_pb2.INVALID_ARGUMENT, "refused", error_details_pb2.BadRequest(field_violations=[field])
            )
        if request.summary == "gone":
            await refuse(context, code_pb2.UNAVAILABLE, "the server is stopping")
        return pb.JudgeResponse(result=scored(request.summary))


def scored(summary: str) -> pb.JudgeResult:
    """The judgement of all summaries, with the score that this one names."""
    if summary == "deutsch":
        return foreign_judgement()
    result = judgement()
    with suppress(ValueError):
        next(one for one in result.frameworks if one.framework == pb.JUDGE_FRAMEWORK_ULTRA).metrics[2].score = float(
            summary
        )
    return result


async def refuse(
    context: Context, code: int, message: str, *details: error_details_pb2.RetryInfo | error_details_pb2.BadRequest
) -> None:
    """Ends a call with a rich status."""
    status = status_pb2.Status(code=code, message=message)
    for detail in (error_details_pb2.ErrorInfo(reason="SCRIPTED"), *details):
        status.details.add().Pack(detail)
    await context.abort_with_status(rpc_status.to_status(status))


@asynccontextmanager
async def served(service: str, **behaviours: tuple[Any, Any, Any]) -> AsyncIterator[str]:
    """Serves RPCs on a free port and yields the address.

    Args:
        service: full name.
        behaviours: of each RPC: its kind as gRPC names it, what it does, and the class of its requests.
    """
    handlers = {
        name: getattr(grpc, f"{kind}_rpc_method_handler")(
            behaviour, kind_of_request.FromString, lambda response: response.SerializeToString()
        )
        for name, (kind, behaviour, kind_of_request) in behaviours.items()
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@asynccontextmanager
async def scripted_judge() -> AsyncIterator[ScriptedJudge]:
    """Serves a scripted judge."""
    servicer = ScriptedJudge()
    async with served(SERVICE, Judge=("unary_unary", servicer.judge, pb.JudgeRequest)) as servicer.address:
        yield servicer
