"""A running summary, for programs with asyncio."""

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Protocol, Self

import grpc

from precis.calls import Call
from precis.errors import to_error
from precis.summary_progress import SummaryFollower, SummaryStep
from precis.v1 import summarize_pb2


class AsyncByteStream(Protocol):
    """The responses of a call, as bytes."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Yields the responses."""

    def cancel(self) -> bool:
        """Ends the call."""


AsyncOpenStream = Callable[[Call[summarize_pb2.SummaryEvent], float | None], AsyncByteStream]
"""Sends a call, with the time that is left for it."""


class AsyncSummaryStream(AsyncIterator[SummaryStep]):
    """A running summary. Iterate over it for its progress, if you like; then await `result()`.

        run = client.summarize(text)
        async for step in run:
            print(step.phase, step.calls_done, step.calls_total)
        print((await run.result()).text)

    A stream that breaks is resumed where it broke, so that no finished call is repeated. Leaving its `async with`
    block, or `close`, stops the summary; the server keeps what is done, for `AsyncClient.resume_summary`.
    """

    def __init__(self, follower: SummaryFollower, open_stream: AsyncOpenStream) -> None:
        self._follower = follower
        self._open_stream = open_stream
        self._is_over = False
        self._open()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def summary_id(self) -> str:
        """Names the summary from its first step on; empty before."""
        return self._follower.summary_id

    async def __anext__(self) -> SummaryStep:
        while not self._is_over:
            try:
                data = await anext(self._responses)
            except StopAsyncIteration:
                self._is_over = True
            except grpc.RpcError as error:
                self._is_over = self._is_finished()
                if not self._is_over:
                    await asyncio.sleep(self._follower.delay_s(to_error(error)))
                    self._open()
            else:
                step = self._follower.take(self._call.parse(data))
                if step is not None:
                    return step
        raise StopAsyncIteration

    async def result(self) -> summarize_pb2.Summary:
        """Waits for the summary and returns it.

        Raises:
            SummaryIncomplete: it failed or was cancelled; `summary` of the error has what is done.
            PrecisError: the call failed, and so did resuming it.
        """
        async for _ in self:
            pass
        return self._follower.result()

    def close(self) -> None:
        """Stops the summary if it is still running."""
        self._is_over = True
        self._stream.cancel()

    def _open(self) -> None:
        self._call = self._follower.next_call()
        self._stream = self._open_stream(self._call, self._follower.remaining_s)
        self._responses = aiter(self._stream)

    def _is_finished(self) -> bool:
        """Tells whether a failure of the stream no longer matters."""
        return self._is_over or self._follower.summary is not None
