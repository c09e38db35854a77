"""A server inside the caller's process, for `precis.local`: no port, the same calls.

It runs on an event loop in a thread of its own. Clients reach it at a socket in a folder that no other user may open.
Limits, deadlines, priorities and errors are those of a server. Keys, TLS, metrics and HTTP are off.
"""

import asyncio
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import grpc
from precis.errors import error_of
from precis.rich_status import RichStatus

from server.app import App
from server.errors import StartupError
from server.settings import Settings, load_settings, read_sources

OFF: Mapping[str, Any] = {
    "metrics": {"enabled": False},
    "http": {"enabled": False},
    "auth": {"keys_file": None, "quotas": {}},
    "tls": {"certificate_file": None, "key_file": None, "client_ca_file": None},
}
_ANY_SIZE = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class LocalServer:
    """Owns the thread and what runs on it. Made, it has started; close it.

    Args:
        settings: values and sections, as in a settings file, above those of the environment.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._started: Future[str] = Future()
        self._thread = threading.Thread(target=self._main, args=(settings,), name="precis-local", daemon=True)
        self._thread.start()
        try:
            self.address = self._started.result()  # where it listens, as gRPC's clients take it
        except StartupError as error:
            status = RichStatus(grpc.StatusCode.FAILED_PRECONDITION, str(error), reason="NOT_STARTED")
            raise error_of(status) from error

    def close(self) -> None:
        """Cancels the calls in flight, stops the server and joins the thread. Again, it does nothing."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join()

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
            async with App(_settings(settings, folder), listens=False) as app:
                server = grpc.aio.server(options=_ANY_SIZE)
                server.add_generic_rpc_handlers(app.tables)
                server.add_insecure_port(address := f"unix:{folder}/socket")
                await server.start()
                self._started.set_result(address)
                await self._closing.wait()
                await server.stop(None)


def _settings(given: Mapping[str, Any], folder: str) -> Settings:
    """Reads the settings of a server; summaries that no setting gives a place end with the process."""
    if not any("summary_storage" in source for source in (given, *read_sources().values())):
        given = {**given, "summary_storage": {"directory": folder}}
    return load_settings(overrides={**given, **OFF})
