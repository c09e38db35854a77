"""A server inside the caller's process, for `precis.local`: no port and no socket, the same calls.

It runs on an event loop in a thread of its own; calls hand bytes across and wait for bytes. Limits, deadlines,
priorities and errors are those of a server. Keys, TLS, metrics and HTTP are off: nobody else can call.
"""

import asyncio
import tempfile
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

import grpc
from grpc.aio import AioRpcError
from grpc.aio import Metadata as GrpcMetadata
from precis.errors import error_of
from precis.rich_status import RichStatus

from server.app import App
from server.errors import StartupError
from server.rpc.calls import RawHandler
from server.rpc.handlers import Handler
from server.rpc.relayed import AbortedError, RelayedContext
from server.settings import Settings, load_settings, read_sources

T = TypeVar("T")
Read = Callable[[], Awaitable[Any]]
"""Returns the caller's next message, or gRPC's mark of the end."""
Write = Callable[[bytes], Awaitable[None]]
Metadata = Iterable[tuple[str, str]]

OFF: Mapping[str, Any] = {
    "metrics": {"enabled": False},
    "http": {"enabled": False},
    "auth": {"keys_file": None, "quotas": {}},
    "tls": {"certificate_file": None, "key_file": None, "client_ca_file": None},
}
PEER = "local:0"


def failure(code: grpc.StatusCode, details: str, trailing_metadata: Any = ()) -> AioRpcError:  # noqa: ANN401 - gRPC's
    """Returns the failure of a call, as gRPC's clients tell it."""
    return AioRpcError(code, GrpcMetadata(), GrpcMetadata(*trailing_metadata), details)


def cancelled() -> AioRpcError:
    """Returns the failure of a call that was cancelled, by its caller or by the end of the server."""
    return failure(grpc.StatusCode.CANCELLED, "the call was cancelled")


class LocalContext(RelayedContext):
    """The context of one call."""

    def __init__(self, metadata: Metadata, read: Read, write: Write) -> None:
        super().__init__(metadata, PEER)
        self.read = read
        self.write = write


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
        self, path: str, read: Read, write: Write, timeout_s: float | None = None, metadata: Metadata = ()
    ) -> bytes | None:
        """Makes one call, on the loop: returns its one response, or writes many.

        Raises:
            AioRpcError: it failed; as gRPC's clients tell.
        """
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs in one
        self._calls.add(task)
        context: Any = LocalContext(metadata, read, write)
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
            handler = table.find(path)
            if handler is not None:
                return _plain(handler) if handler.unary_unary else table.behavior(path)
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


def _plain(handler: Handler) -> RawHandler:
    """Returns a handler without a frame, that of health checks, as one of bytes."""
    parts: Any = handler  # the stubs say that each of them may be missing

    async def call(_: object, context: Any) -> bytes:  # noqa: ANN401 - stands in for gRPC's
        request = parts.request_deserializer(await context.read())
        encoded: bytes = parts.response_serializer(await parts.unary_unary(request, context))
        return encoded

    return call
