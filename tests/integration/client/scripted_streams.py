"""Services whose streams do what a test wants: batches that judge, and summaries that break."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import code_pb2, error_details_pb2
from precis.v1 import common_pb2, judge_pb2
from precis.v1 import summarize_pb2 as pb

from tests.integration.cli.scripted_judge import refuse, served
from tests.judgements import judgement

JUDGE = judge_pb2.DESCRIPTOR.services_by_name["JudgeService"].full_name
SUMMARIZE = pb.DESCRIPTOR.services_by_name["SummarizeService"].full_name
Context = grpc.aio.ServicerContext[Any, Any]


class ScriptedBatch:
    """Judges every pair alike, the last of them first, unless the summary is "bad", and after "gone" no more.

    Attributes:
        requests: what came.
    """

    def __init__(self) -> None:
        self.requests: list[judge_pb2.JudgeBatchRequest] = []

    async def judge_batch(
        self, requests: AsyncIterator[judge_pb2.JudgeBatchRequest], context: Context
    ) -> AsyncIterator[judge_pb2.JudgeBatchResponse]:
        """Answers when all requests have come."""
        self.requests = [request async for request in requests]
        for index, request in reversed(list(enumerate(self.requests))):
            response = judge_pb2.JudgeBatchResponse(id=request.id, index=index)
            if request.request.summary == "gone":
                await refuse(context, code_pb2.UNAVAILABLE, "the server is stopping")
            elif request.request.summary == "bad":
                response.error.CopyFrom(common_pb2.ItemError(code=3, message="expected better", field="summary"))
            else:
                response.response.CopyFrom(judge_pb2.JudgeResponse(result=judgement()))
            yield response


Act = pb.SummaryEvent | int
"""An event to send, or a google.rpc.Code to end the stream with."""


class ScriptedSummaries:
    """Plays one list of acts for each stream that is opened, then stays silent.

    Attributes:
        opened: the requests of the streams, in order.
        left: set when a stream has ended.
    """

    def __init__(self, *streams: Sequence[Act]) -> None:
        self._streams = list(streams)
        self.opened: list[pb.SummarizeRequest | pb.ResumeSummaryRequest] = []
        self.left = asyncio.Event()

    async def summarize(self, request: pb.SummarizeRequest, context: Context) -> AsyncIterator[pb.SummarizeResponse]:
        """Plays the next list."""
        async for event in self._play(request, context):
            yield pb.SummarizeResponse(event=event)

    async def resume(
        self, request: pb.ResumeSummaryRequest, context: Context
    ) -> AsyncIterator[pb.ResumeSummaryResponse]:
        """Plays the next list."""
        async for event in self._play(request, context):
            yield pb.ResumeSummaryResponse(event=event)

    async def _play(
        self, request: pb.SummarizeRequest | pb.ResumeSummaryRequest, context: Context
    ) -> AsyncIterator[pb.SummaryEvent]:
        self.opened.append(request)
        try:
            for act in self._streams.pop(0):
                if isinstance(act, int):
                    retry = error_details_pb2.RetryInfo(retry_delay=Duration(nanos=1_000_000))
                    await refuse(context, act, "no more", retry)
                else:
                    yield act
                    if act.HasField("summary"):
                        return
            await asyncio.Event().wait()
        finally:
            self.left.set()


@asynccontextmanager
async def scripted_batch() -> AsyncIterator[tuple[ScriptedBatch, str]]:
    """Serves a scripted batch."""
    batch = ScriptedBatch()
    behaviour = ("stream_stream", batch.judge_batch, judge_pb2.JudgeBatchRequest)
    async with served(JUDGE, JudgeBatch=behaviour) as address:
        yield batch, address


@asynccontextmanager
async def scripted_summaries(*streams: Sequence[Act]) -> AsyncIterator[tuple[ScriptedSummaries, str]]:
    """Serves scripted summaries."""
    summaries = ScriptedSummaries(*streams)
    begin = ("unary_stream", summaries.summarize, pb.SummarizeRequest)
    resume = ("unary_stream", summaries.resume, pb.ResumeSummaryRequest)
    async with served(SUMMARIZE, Summarize=begin, ResumeSummary=resume) as address:
        yield summaries, address
