"""A server inside the caller's process, for `precis.local`: no port and no socket, the same calls.

It runs on an event loop in a thread of its own. The clients call the channels below in place of gRPC's: bytes to the
loop, and bytes back. Limits, deadlines, priorities and errors are those of a server. Keys, TLS, metrics and HTTP are
off: nobody else can call.

A response waits until the caller takes it, and a request is asked for when the call wants the next: a slow side slows
the other, as the flow control of a connection does.
"""

import asyncio
import queue
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from typing import Any, Generic, Self, TypeVar

import grpc
from grpc.aio import EOF, AioRpcError
from grpc.aio import Metadata as GrpcMetadata
from precis.errors import error_of
from precis.rich_status import RichStatus

from server.app import App
from server.errors import StartupError
from server.rpc.calls import RawHandler
from server.rpc.relayed import AbortedError, Read, RelayedContext, Write
from server.settings import Settings, load_settings, read_sources

T = TypeVar("T")
Metadata = Iterable[tuple[str, str]]

OFF: Mapping[str, Any] = {
    "metrics": {"enabled": False},
    "http": {"enabled": False},
    "auth": {"keys_file": None, "quotas": {}},
    "tls": {"certificate_file": None, "key_file": None, "client_ca_file": None},
}


def failure(code: grpc.StatusCode, details: str, trailing_metadata: Any = ()) -> AioRpcError:  # noqa: ANN401 - gRPC's
    """Returns the failure of a call, as gRPC's clients tell it."""
    return AioRpcError(code, GrpcMetadata(), GrpcMetadata(*trailing_metadata), details)


def cancelled() -> AioRpcError:
    """Returns the failure of a call that was cancelled, by its caller or by the end of the server."""
    return failure(grpc.StatusCode.CANCELLED, "the call was cancelled")


class LocalServer:
    """Owns the thread and what runs on it. Made, it has started; close it.

    Args:
        settings: values and sections, as in a settings file, above those of the environment.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._started: Future[None] = Future()
        self._lock = threading.Lock()
        self._is_closed = False
        self._calls: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._main, args=(settings,), name="precis-local", daemon=True)
        self._thread.start()
        try:
            self._started.result()
        except StartupError as error:
            status = RichStatus(grpc.StatusCode.FAILED_PRECONDITION, str(error), reason="NOT_STARTED")
            raise error_of(status) from error

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs something on the loop. Raises ValueError when it is closed, as gRPC's channels do."""
        with self._lock:  # what is submitted before the end is seen by it
            if not self._is_closed:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise ValueError("this client is closed")

    def close(self) -> None:
        """Cancels the calls in flight, stops the server and joins the thread."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        if not was_closed:
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    async def call(
        self, path: str, read: Read, write: Write | None, timeout_s: float | None, metadata: Metadata
    ) -> bytes | None:
        """Makes one call, on the loop: returns its one response, or writes many.

        Raises:
            AioRpcError: it failed; as gRPC's clients tell.
        """
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs in one
        self._calls.add(task)
        context: Any = RelayedContext(metadata, "local:0", read, write)
        context.end_after(timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                return await self._behavior(path)(None, context)
        except TimeoutError:
            raise failure(grpc.StatusCode.DEADLINE_EXCEEDED, "the time for this call is over") from None
        except AbortedError as error:
            status = error.status
            raise failure(status.code, str(status.details), status.trailing_metadata) from None
        finally:
            context.done()
            self._calls.discard(task)

    def _behavior(self, path: str) -> RawHandler:
        for table in self._app.tables:
            if table.find(path) is not None:
                return table.behavior(path)
        raise failure(grpc.StatusCode.UNIMPLEMENTED, f"there is no method {path}")

    def _main(self, settings: Mapping[str, Any]) -> None:
        try:
            asyncio.run(self._serve(settings))
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _serve(self, settings: Mapping[str, Any]) -> None:
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        with tempfile.TemporaryDirectory(prefix="precis-") as folder:
            async with App(_settings(settings, folder), listens=False) as self._app:
                self._started.set_result(None)
                await self._closing.wait()
                for call in self._calls:
                    call.cancel()
                await asyncio.gather(*self._calls, return_exceptions=True)


def _settings(given: Mapping[str, Any], folder: str) -> Settings:
    """Reads the settings of a server; summaries that no setting gives a place end with the process."""
    sources = [given, *read_sources().values()]
    storage = (
        {} if any("summary_storage" in source for source in sources) else {"summary_storage": {"directory": folder}}
    )
    return load_settings(overrides={**given, **storage, **OFF})


class CallStream:
    """The responses of one call; at most one waits to be taken.

    Attributes:
        requests: where its requests come from; None where there is only one. An error of theirs ends them, and is
            raised behind the last response.
    """

    def __init__(
        self,
        server: LocalServer,
        call: Callable[[Write], Coroutine[Any, Any, Any]],
        requests: "RequestReader | AsyncRequestReader | None",
    ) -> None:
        self.requests = requests
        self._server = server
        self._responses: asyncio.Queue[bytes] = asyncio.Queue(1)
        self._call = server.submit(call(self._responses.put))
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
        self._asked: queue.SimpleQueue[Future[Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="precis-local-requests", daemon=True).start()

    async def read(self) -> Any:  # noqa: ANN401 - bytes, or gRPC's mark of the end
        """Waits for the next message."""
        answer: Future[Any] = Future()
        self._asked.put(answer)
        return await asyncio.wrap_future(answer)

    def stop(self) -> None:
        """Ends the thread, once the iterator gives it back."""
        self._asked.put(None)

    def _run(self) -> None:
        while (answer := self._asked.get()) is not None:
            if not answer.set_running_or_notify_cancel():
                continue
            try:
                data = next(self._requests, EOF)
            except BaseException as error:  # noqa: BLE001 - the caller's, who is told
                self.failure, data = error, EOF
            answer.set_result(data)


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
            read = once(request)
            return self.stream_type(
                self._server, lambda write: self._server.call(path, read, write, timeout, metadata), None
            )

        return send

    def stream_stream(self, path: str) -> Callable[..., Stream]:
        """Returns what begins a call with many requests."""

        def send(requests: Any, timeout: float | None = None, metadata: Metadata = ()) -> Stream:  # noqa: ANN401 - of either kind
            reader = self.reader_type(requests)
            return self.stream_type(
                self._server, lambda write: self._server.call(path, reader.read, write, timeout, metadata), reader
            )

        return send


class LocalChannel(AnyChannel[LocalStream]):
    """A channel for programs without asyncio."""

    stream_type, reader_type = LocalStream, RequestReader

    def unary_unary(self, path: str) -> Callable[..., bytes]:
        """Returns what makes one call."""

        def send(request: bytes, timeout: float | None = None, metadata: Metadata = ()) -> bytes:
            work = self._server.call(path, once(request), None, timeout, metadata)
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
            work = self._server.call(path, once(request), None, timeout, metadata)
            return await wait_async(self._server, work) or b""

        return send

    async def close(self) -> None:
        """Cancels the calls in flight and stops the server."""
        await asyncio.to_thread(self._server.close)
