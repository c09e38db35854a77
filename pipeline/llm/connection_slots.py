"""One connection for each request in flight, without a pool that looks at all of them for every request."""

import time
from collections import deque
from collections.abc import AsyncIterator, Callable

import httpx2


class ConnectionSlots(httpx2.AsyncBaseTransport):
    """Sends each request through a transport that nobody else uses at the time, the one that was free last.

    httpcore2's pool walks through all its connections when a request begins and again when it ends, and asks the
    kernel about each idle one. With 64 in flight that was a third of the CPU time of a call. Here the pools hold
    one connection each. How many there are is bounded by whoever limits the requests in flight.

    Args:
        make: a transport that holds one connection at most.
        keepalive_s: a transport that was not needed for so long is closed with the next request.
    """

    def __init__(self, make: Callable[[], httpx2.AsyncBaseTransport], *, keepalive_s: float) -> None:
        self._make = make
        self._keepalive_s = keepalive_s
        self._idle: deque[tuple[float, httpx2.AsyncBaseTransport]] = deque()  # longest idle first
        self._busy: set[httpx2.AsyncBaseTransport] = set()

    @property
    def count(self) -> int:
        """Transports that are open."""
        return len(self._idle) + len(self._busy)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request. The slot is free again when the answer's body is closed."""
        await self._close_unused()
        slot = self._idle.pop()[1] if self._idle else self._make()
        self._busy.add(slot)
        try:
            response = await slot.handle_async_request(request)
        except BaseException:
            self._release(slot)
            raise
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _HeldBody(response.stream, lambda: self._release(slot))
        return response

    async def aclose(self) -> None:
        """Closes all connections."""
        slots = [*self._busy, *(slot for _, slot in self._idle)]
        self._busy.clear()
        self._idle.clear()
        for slot in slots:
            await slot.aclose()

    def _release(self, slot: httpx2.AsyncBaseTransport) -> None:
        if slot in self._busy:  # else all were closed meanwhile
            self._busy.remove(slot)
            self._idle.append((time.monotonic(), slot))

    async def _close_unused(self) -> None:
        since_s = time.monotonic() - self._keepalive_s
        while self._idle and self._idle[0][0] < since_s:
            await self._idle.popleft()[1].aclose()


class _HeldBody(httpx2.AsyncByteStream):
    """A body that tells when it is closed."""

    def __init__(self, stream: httpx2.AsyncByteStream, release: Callable[[], None]) -> None:
        self._stream = stream
        self._release = release

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._release()
