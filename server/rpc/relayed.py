"""The context of a call that gRPC did not bring: what the frame around every call, and the servicers, ask of gRPC's.

So keys, places among the calls in flight, limits, deadlines, metrics and log lines are those of the RPCs themselves.
"""

import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import grpc

Read = Callable[[], Awaitable[Any]]
"""Returns the caller's next message, or gRPC's mark of the end."""
Write = Callable[[bytes], Awaitable[None]]


class AbortedError(Exception):
    """The call has ended with a status."""

    def __init__(self, status: grpc.Status) -> None:
        super().__init__(status.details)
        self.status = status


class RelayedContext:
    """Stands in for grpc.aio's context.

    Args:
        metadata: of the request.
        peer: the other end, as gRPC writes it.
        read: returns the next message of the request.
        write: sends one response of a stream; None where there is none.
    """

    def __init__(self, metadata: Iterable[tuple[str, str]], peer: str, read: Read, write: Write | None) -> None:
        self.read = read
        self.write = write
        self._metadata = tuple(metadata)
        self._peer = peer
        self._deadline_s: float | None = None
        self._callbacks: list[Callable[[Any], None]] = []
        self._has_left = False

    def end_after(self, seconds: float | None) -> None:
        """Sets when the call ends; None: it has no end."""
        self._deadline_s = None if seconds is None else time.monotonic() + seconds

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """Returns the metadata of the request."""
        return self._metadata

    def peer(self) -> str:
        """Returns the other end of the connection."""
        return self._peer

    def time_remaining(self) -> float | None:
        """Returns the seconds until the call ends; None: it has no end."""
        return None if self._deadline_s is None else self._deadline_s - time.monotonic()

    async def send_initial_metadata(self, metadata: Iterable[tuple[str, str]]) -> None:
        """Does nothing: an answer has its headers when it begins."""

    def code(self) -> grpc.StatusCode:
        """Returns the status so far."""
        return grpc.StatusCode.CANCELLED if self._has_left else grpc.StatusCode.OK

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Calls back when the answer has been sent."""
        self._callbacks.append(callback)

    def done(self) -> None:
        """Tells those who wait that the answer has been sent, or never will be."""
        for callback in self._callbacks:
            callback(self)
        self._callbacks.clear()

    async def abort_with_status(self, status: grpc.Status) -> None:
        """Ends the call. Raises AbortedError."""
        raise AbortedError(status)
