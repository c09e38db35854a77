"""What the clients call in place of gRPC's channels: bytes to a server in this process, and bytes back.

A response waits until the caller takes it, and a request is asked for when the call wants the next: a slow side slows
the other, as the flow control of a connection does.
"""

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import Any, Generic, Self, TypeVar

from grpc.aio import EOF

from server.local.local_server import LocalServer, Metadata, Read, cancelled

T = TypeVar("T")


class CallStream:
    """The responses of one call; at most one waits to be taken.

    Attributes:
        requests: where its requests come from; None where there is only one. An error of theirs ends them, and is
            raised behind the last response.
    """

    def __init__(
        self,
        server: LocalServer,
        call: Callable[..., Coroutine[Any, Any, Any]],
        timeout: float | None,
        metadata: Metadata,
        requests: "RequestReader | AsyncRequestReader | None" = None,
    ) -> None:
        self.requests = requests
        self._server = server
        self._responses: asyncio.Queue[bytes] = asyncio.Queue(1)
        self._call = server.submit(call(self._responses.put, timeout, metadata))
        self._end: asyncio.Future[None] | None = None
        if isinstance(requests, RequestReader):
            self._call.add_done_callback(lambda _: requests.stop())

    def cancel(self) -> bool:
        """Ends the call."""
        return self._call.cancel()

    async def next_response(self) -> bytes | None:
        """Returns the next response; None behind the last. Runs on the server's loop. Raises AioRpcError."""
        if self._end is None:
            self._end = asyncio.wrap_future(self._call)
        if not self._responses.empty():
            return self._responses.get_nowait()
        taken = asyncio.ensure_future(self._responses.get())
        either: tuple[asyncio.Future[Any], ...] = (taken, self._end)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if taken.done():
            return taken.result()
        taken.cancel()
        if not self._responses.empty():  # came with the end
            return self._responses.get_nowait()
        self._end.result()
        return None

    def raise_failure(self) -> None:
        """Raises what the requests raised, if they did: to the caller, never on the server's loop."""
        if self.requests is not None and self.requests.failure is not None:
            raise self.requests.failure


class LocalStream(CallStream):
    """A stream for programs without asyncio."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        data = wait(self._server, self.next_response())
        if data is None:
            self.raise_failure()
            raise StopIteration
        return data


class AsyncLocalStream(CallStream):
    """A stream for programs with asyncio."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        data = await wait_async(self._server, self.next_response())
        if data is None:
            self.raise_failure()
            raise StopAsyncIteration
        return data


class RequestReader:
    """Reads a caller's iterator on a thread, which may block: one message whenever the call asks for the next.

    Attributes:
        failure: what the iterator raised.
    """

    def __init__(self, requests: Iterator[bytes]) -> None:
        self.failure: BaseException | None = None
        self._requests = requests
        self._asked: queue.SimpleQueue[asyncio.Future[Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="precis-local-requests", daemon=True).start()

    async def read(self) -> Any:  # noqa: ANN401 - bytes, or gRPC's mark of the end
        """Waits for the next message."""
        answer = asyncio.get_running_loop().create_future()
        self._asked.put(answer)
        return await answer

    def stop(self) -> None:
        """Ends the thread, once the iterator gives it back."""
        self._asked.put(None)

    def _run(self) -> None:
        while (answer := self._asked.get()) is not None:
            try:
                data = next(self._requests, EOF)
            except BaseException as error:  # noqa: BLE001 - the caller's, who is told
                self.failure, data = error, EOF
            with suppress(RuntimeError):  # the loop has closed: nobody waits
                answer.get_loop().call_soon_threadsafe(_settle, answer, data)


class AsyncRequestReader:
    """Reads a caller's iterator on its own loop, that of the task which makes this.

    Attributes:
        failure: what the iterator raised.
    """

    def __init__(self, requests: AsyncIterator[bytes]) -> None:
        self.failure: Exception | None = None
        self._requests = requests
        self._loop = asyncio.get_running_loop()

    async def read(self) -> Any:  # noqa: ANN401 - bytes, or gRPC's mark of the end
        """Waits for the next message."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._next(), self._loop))

    async def _next(self) -> Any:  # noqa: ANN401
        try:
            return await anext(self._requests, EOF)
        except Exception as error:  # noqa: BLE001 - the caller's, who is told
            self.failure = error
            return EOF


def wait(server: LocalServer, work: Coroutine[Any, Any, T]) -> T:
    """Waits for something on the server's loop. Raises AioRpcError; what interrupts the wait cancels the work."""
    future = server.submit(work)
    try:
        return future.result()
    except CancelledError:
        raise cancelled() from None
    except BaseException:
        future.cancel()
        raise


async def wait_async(server: LocalServer, work: Coroutine[Any, Any, T]) -> T:
    """Waits likewise, on another loop."""
    future = server.submit(work)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise cancelled() from None


def once(request: bytes) -> Read:
    """Returns what reads one message, then the end."""
    messages = iter((request,))

    async def read() -> Any:  # noqa: ANN401 - bytes, or gRPC's mark of the end
        return next(messages, EOF)

    return read


async def write_nothing(_: bytes) -> None:
    """Takes the responses of a call that has none but its result."""


def _settle(answer: asyncio.Future[Any], data: object) -> None:
    if not answer.done():
        answer.set_result(data)


Stream = TypeVar("Stream", bound=CallStream)


class AnyChannel(Generic[Stream]):
    """A channel. It owns the server."""

    stream_type: Callable[..., Stream]
    reader_type: type[RequestReader] | type[AsyncRequestReader]

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._server = LocalServer(settings)

    def unary_stream(self, path: str) -> Callable[..., Stream]:
        """Returns what begins a call with one request."""

        def send(request: bytes, timeout: float | None = None, metadata: Metadata = ()) -> Stream:
            call = partial(self._server.call, path, once(request))
            return self.stream_type(self._server, call, timeout, metadata)

        return send

    def stream_stream(self, path: str) -> Callable[..., Stream]:
        """Returns what begins a call with many requests."""

        def send(requests: Any, timeout: float | None = None, metadata: Metadata = ()) -> Stream:  # noqa: ANN401 - of either kind
            reader = self.reader_type(requests)
            call = partial(self._server.call, path, reader.read)
            return self.stream_type(self._server, call, timeout, metadata, reader)

        return send


class LocalChannel(AnyChannel[LocalStream]):
    """A channel for programs without asyncio."""

    stream_type, reader_type = LocalStream, RequestReader

    def unary_unary(self, path: str) -> Callable[..., bytes]:
        """Returns what makes one call."""

        def send(request: bytes, timeout: float | None = None, metadata: Metadata = ()) -> bytes:
            work = self._server.call(path, once(request), write_nothing, timeout, metadata)
            return wait(self._server, work) or b""

        return send

    def close(self) -> None:
        """Cancels the calls in flight and stops the server."""
        self._server.close()


class AsyncLocalChannel(AnyChannel[AsyncLocalStream]):
    """A channel for programs with asyncio; the server's loop is another than theirs."""

    stream_type, reader_type = AsyncLocalStream, AsyncRequestReader

    def unary_unary(self, path: str) -> Callable[..., Coroutine[Any, Any, bytes]]:
        """Returns what makes one call."""

        async def send(request: bytes, timeout: float | None = None, metadata: Metadata = ()) -> bytes:  # noqa: ASYNC109 - gRPC's
            work = self._server.call(path, once(request), write_nothing, timeout, metadata)
            return await wait_async(self._server, work) or b""

        return send

    async def close(self) -> None:
        """Cancels the calls in flight and stops the server."""
        await asyncio.to_thread(self._server.close)
