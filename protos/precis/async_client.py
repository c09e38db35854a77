"""The client for programs with asyncio."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import grpc
from grpc import aio

from precis import batch, calls
from precis.async_summary_stream import AsyncByteStream, AsyncSummaryStream
from precis.batch import Batch, BatchItem, EvaluatePair, Feed, JudgePair
from precis.calls import Budget, Call
from precis.connection import DEFAULT_ADDRESS, DEFAULT_TIMEOUT_S, MAX_MESSAGE_BYTES, Connection, Tls
from precis.errors import NotFound, to_error
from precis.evaluation import Evaluation
from precis.judgement import Judgement
from precis.retry import DEFAULT_RETRY, Attempts, RetryPolicy
from precis.summary_progress import DocumentSource, FollowedRequest, SummaryFollower, summarize_request, to_document
from precis.v1 import evaluate_pb2, inference_pb2, judge_pb2, summarize_pb2
from precis.words import Framework, Priority, ServingStatus, View

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741 - an item, beside T


class AsyncClient:
    """Calls a Precis server from one event loop. Close it, or use it in an `async with` block.

    The methods and their arguments are those of `Client`, whose documentation holds here too.

    Args:
        address: "HOST:PORT", or any other name that gRPC resolves.
        api_key: the key itself, or a Path of the file that holds it.
        tls: how to encrypt; None: not at all.
        timeout_s: of a unary call that names no time.
        max_message_bytes: longest request and response.
        retry: how often failed calls are made again.
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        api_key: str | Path | None = None,
        tls: Tls | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        retry: RetryPolicy = DEFAULT_RETRY,
    ) -> None:
        self._connection = Connection(address, api_key, tls, timeout_s, max_message_bytes, retry)
        self._metadata = tuple(self._connection.metadata())
        self._credentials = None if tls is None else tls.credentials()
        self._channel: aio.Channel | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection; calls in flight are cancelled."""
        if self._channel is not None:
            await self._channel.close()

    async def judge(
        self,
        source: str,
        summary: str,
        *,
        frameworks: Iterable[Framework] = (),
        view: View | None = None,
        options: judge_pb2.JudgeOptions | None = None,
        tool_scores: Iterable[judge_pb2.MetricToolScore] = (),
        priority: Priority | None = None,
        timeout_s: float | None = None,
    ) -> Judgement:
        """Judges a summary against its source. See `Client.judge`."""
        request = calls.judge_request(
            source,
            summary,
            frameworks=frameworks,
            view=view,
            options=options,
            tool_scores=tool_scores,
            priority=priority,
        )
        return await self._send(calls.judge(request), timeout_s)

    def judge_batch(
        self,
        pairs: Iterable[JudgePair] | AsyncIterable[JudgePair],
        *,
        frameworks: Iterable[Framework] = (),
        view: View | None = None,
        options: judge_pb2.JudgeOptions | None = None,
        priority: Priority | None = None,
        timeout_s: float | None = None,
    ) -> AsyncGenerator[BatchItem[Judgement], None]:
        """Judges many summaries. Yields what became of each as it finishes, in any order. See `Client.judge_batch`."""
        return self._send_all(
            batch.judge_batch(frameworks=frameworks, view=view, options=options, priority=priority), pairs, timeout_s
        )

    async def evaluate(
        self,
        datum: evaluate_pb2.GoldStandardDatum,
        generated: str | evaluate_pb2.GeneratedSummary,
        *,
        view: View | None = None,
        options: evaluate_pb2.EvaluateOptions | None = None,
        priority: Priority | None = None,
        timeout_s: float | None = None,
    ) -> Evaluation:
        """Evaluates a summary against a golden reference. See `Client.evaluate`."""
        request = calls.evaluate_request(datum, generated, view=view, options=options, priority=priority)
        return await self._send(calls.evaluate(request), timeout_s)

    def evaluate_batch(
        self,
        pairs: Iterable[EvaluatePair] | AsyncIterable[EvaluatePair],
        *,
        view: View | None = None,
        options: evaluate_pb2.EvaluateOptions | None = None,
        priority: Priority | None = None,
        timeout_s: float | None = None,
    ) -> AsyncGenerator[BatchItem[Evaluation], None]:
        """Evaluates many summaries, each with its reference. See `Client.evaluate_batch`."""
        return self._send_all(batch.evaluate_batch(view=view, options=options, priority=priority), pairs, timeout_s)

    async def embed(
        self, texts: Iterable[str], *, priority: Priority | None = None, timeout_s: float | None = None
    ) -> list[inference_pb2.Embedding]:
        """Returns an embedding for each text, in order. Raises the error of the first text that has none."""
        return await self._send(calls.embed(texts, priority=priority), timeout_s)

    async def entail(
        self, pairs: Iterable[tuple[str, str]], *, priority: Priority | None = None, timeout_s: float | None = None
    ) -> list[inference_pb2.EntailmentScores]:
        """Returns scores for each pair of premise and hypothesis, in order. Raises the error of the first without."""
        return await self._send(calls.entail(pairs, priority=priority), timeout_s)

    def summarize(
        self,
        document: DocumentSource,
        *,
        name: str = "",
        options: summarize_pb2.SummarizeOptions | None = None,
        idempotency_key: str = "",
        include_text: bool = False,
        include_draft: bool = False,
        budget: Budget = None,
        timeout_s: float | None = None,
    ) -> AsyncSummaryStream:
        """Begins to summarize a document. Iterate over what it returns for progress. See `Client.summarize`."""
        given = to_document(document, name)
        request = summarize_request(given, options, budget, idempotency_key=idempotency_key)
        request.include_text, request.include_draft = include_text, include_draft
        return self._follow(request, timeout_s)

    def resume_summary(
        self,
        summary_id: str,
        *,
        include_text: bool = False,
        include_draft: bool = False,
        budget: Budget = None,
        timeout_s: float | None = None,
    ) -> AsyncSummaryStream:
        """Goes on with a summary that failed, was cancelled, or lost its reader."""
        request = summarize_pb2.ResumeSummaryRequest(summary_id=summary_id, include_text=include_text, budget=budget)
        request.include_draft = include_draft
        return self._follow(request, timeout_s)

    async def plan_summary(
        self,
        document: DocumentSource,
        *,
        name: str = "",
        options: summarize_pb2.SummarizeOptions | None = None,
        timeout_s: float | None = None,
    ) -> summarize_pb2.SummaryPlan:
        """Counts the calls that `summarize` would make, without making any."""
        return await self._send(calls.plan_summary(to_document(document, name), options), timeout_s)

    async def get_summary(self, summary_id: str, *, timeout_s: float | None = None) -> summarize_pb2.GetSummaryResponse:
        """Tells where a summary stands, with what it has so far."""
        return await self._send(calls.get_summary(summary_id), timeout_s)

    async def cancel_summary(self, summary_id: str, *, timeout_s: float | None = None) -> None:
        """Stops a summary, wherever it runs. It can be resumed."""
        await self._send(calls.cancel_summary(summary_id), timeout_s)

    async def submit_summary(
        self,
        document: DocumentSource,
        *,
        name: str = "",
        options: summarize_pb2.SummarizeOptions | None = None,
        idempotency_key: str = "",
        budget: Budget = None,
        priority: Priority | None = None,
    ) -> summarize_pb2.SubmitSummaryResponse:
        """Queues a summary that is written without a reader. See `Client.submit_summary`."""
        request = summarize_request(to_document(document, name), options, budget, idempotency_key=idempotency_key)
        return await self._send(calls.submit_summary(request, priority), None)

    def watch_summary(
        self, summary_id: str, *, include_draft: bool = False, timeout_s: float | None = None
    ) -> AsyncSummaryStream:
        """Follows a summary that runs without this reader. Leaving stops nothing."""
        request = summarize_pb2.WatchSummaryRequest(summary_id=summary_id, include_draft=include_draft)
        return self._follow(request, timeout_s)

    async def list_summaries(self, page_size: int = 0, page_token: str = "") -> summarize_pb2.ListSummariesResponse:
        """Lists your summaries, the newest first, 50 on a page unless you say otherwise."""
        return await self._send(calls.list_summaries(page_size, page_token), None)

    async def delete_summary(self, summary_id: str, *, timeout_s: float | None = None) -> None:
        """Deletes a summary that does not run, and what only it needed."""
        await self._send(calls.delete_summary(summary_id), timeout_s)

    async def models(self, *, timeout_s: float | None = None) -> list[inference_pb2.Model]:
        """Lists the models that the server has loaded."""
        return await self._send(calls.models(), timeout_s)

    async def health(self, *services: str, timeout_s: float | None = None) -> dict[str, ServingStatus]:
        """Returns the status of services; by default of the server as a whole, "server", and of each of its own."""
        return {one: await self._check(one, timeout_s) for one in services or (calls.SERVER, *calls.SERVICES)}

    async def _check(self, service: str, timeout_s: float | None) -> ServingStatus:
        try:
            return await self._send(calls.health_check(service), timeout_s)
        except NotFound:
            return "UNKNOWN"

    async def _send(self, call: Call[T], timeout_s: float | None) -> T:
        send: aio.UnaryUnaryMultiCallable[bytes, bytes] = self._open_channel().unary_unary(call.path)
        attempts = Attempts(self._connection.retry, self._connection.timeout_s if timeout_s is None else timeout_s)
        request = call.request.SerializeToString()
        while True:
            try:
                return call.parse(await send(request, timeout=attempts.remaining_s, metadata=self._metadata))
            except grpc.RpcError as error:
                delay_s = attempts.unary_delay_s(to_error(error))
            await asyncio.sleep(delay_s)

    async def _send_all(
        self, many: Batch[I, T], items: Iterable[I] | AsyncIterable[I], timeout_s: float | None
    ) -> AsyncGenerator[BatchItem[T], None]:
        feed = Feed(many.encode)
        send: aio.StreamStreamMultiCallable[bytes, bytes] = self._open_channel().stream_stream(many.path)
        responses = send(feed.async_requests(items), timeout=timeout_s, metadata=self._metadata)
        try:
            async for data in responses:
                yield many.parse(data)
        except grpc.RpcError as error:
            raise to_error(error) from error
        finally:
            responses.cancel()
        feed.check()

    def _follow(self, request: FollowedRequest, timeout_s: float | None) -> AsyncSummaryStream:
        return AsyncSummaryStream(SummaryFollower(request, self._connection.retry, timeout_s), self._open_stream)

    def _open_stream(self, call: Call[T], timeout_s: float | None) -> AsyncByteStream:
        send: aio.UnaryStreamMultiCallable[bytes, bytes] = self._open_channel().unary_stream(call.path)
        return send(call.request.SerializeToString(), timeout=timeout_s, metadata=self._metadata)

    def _open_channel(self) -> aio.Channel:
        """Opens the channel at the first call: gRPC binds it to the event loop that runs then."""
        if self._channel is None:
            address, options = self._connection.address, self._connection.channel_options()
            self._channel = (
                aio.insecure_channel(address, options)
                if self._credentials is None
                else aio.secure_channel(address, self._credentials, options)
            )
        return self._channel
