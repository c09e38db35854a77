"""A running summary, for programs without asyncio."""

import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Protocol, Self

import grpc

from precis.calls import Call
from precis.errors import to_error
from precis.summary_progress import SummaryFollower, SummaryStep
from precis.v1 import summarize_pb2


class ByteStream(Iterator[bytes], Protocol):
    """The responses of a call, as bytes."""

    def cancel(self) -> bool:
        """Ends the call."""


OpenStream = Callable[[Call[summarize_pb2.SummaryEvent], float | None], ByteStream]
"""Sends a call, with the time that is left for it."""


class SummaryStream(Iterator[SummaryStep]):
    """A running summary. Iterate over it for its progress, if you like; then take `result()`.

        run = client.summarize(text)
        for step in run:
            print(step.phase, step.calls_done, step.calls_total)
        print(run.result().text)

    A stream that breaks is resumed where it broke, so that no finished call is repeated. Leaving its `with` block, or
    `close`, stops the summary; the server keeps what is done, for `Client.resume_summary`.
    """

    def __init__(self, follower: SummaryFollower, open_stream: OpenStream) -> None:
        self._follower = follower
        self._open_stream = open_stream
        self._is_over = False
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def summary_id(self) -> str:
        """Names the summary from its first step on; empty before."""
        return self._follower.summary_id

    def __next__(self) -> SummaryStep:
        while not self._is_over:
            try:
                data = next(self._responses)
            except StopIteration:
                self._is_over = True
            except grpc.RpcError as error:
                self._is_over = self._is_finished()
                if not self._is_over:
                    time.sleep(self._follower.delay_s(to_error(error)))
                    self._open()
            else:
                step = self._follower.take(self._call.parse(data))
                if step is not None:
                    return step
        raise StopIteration

    def result(self) -> summarize_pb2.Summary:
        """Waits for the summary and returns it.

        Raises:
            SummaryIncomplete: it failed or was cancelled; `summary` of the error has what is done.
            PrecisError: the call failed, and so did resuming it.
        """
        for _ in self:
            pass
        return self._follower.result()

    def close(self) -> None:
        """Stops the summary if it is still running."""
        self._is_over = True
        self._responses.cancel()

    def _open(self) -> None:
        self._call = self._follower.next_call()
        self._responses = self._open_stream(self._call, self._follower.remaining_s)

    def _is_finished(self) -> bool:
        """Tells whether a failure of the stream no longer matters."""
        return self._is_over or self._follower.summary is not None
