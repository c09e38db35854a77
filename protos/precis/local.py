"""The clients without a server: what a server does is done inside this process.

    from precis.local import Client

    with Client({"models_dir": "models"}) as client:
        print(client.judge(source, summary).hallucination)

This needs the distribution `precis`, which holds the server; the client's own does not bring it.
"""

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Self

import grpc
from grpc import aio

from precis import async_client, client
from precis.__main__ import find_problem
from precis.connection import DEFAULT_TIMEOUT_S
from precis.retry import DEFAULT_RETRY, RetryPolicy

CHANNELS = "server.local_server"
_ADDRESS = "this process"


class Client(client.Client):
    """Has the methods of `precis.Client`. Making one loads the models, which takes seconds; close it.

    Args:
        settings: those of a server, as in its settings file, above PRECIS_ variables; "models_dir" is "models" unless
            set. Summaries are kept while the client is open unless "summary_storage" is set. Keys, TLS, metrics and
            HTTP are off.
        timeout_s: of a unary call that names no time.
        retry: how often failed calls are made again.

    Raises:
        ImportError: the server is not installed.
        FailedPrecondition: a setting is wrong, or there are no models.
    """

    def __init__(
        self,
        settings: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        retry: RetryPolicy = DEFAULT_RETRY,
    ) -> None:
        self._settings = dict(settings or {})
        super().__init__(_ADDRESS, timeout_s=timeout_s, retry=retry)

    def _open_channel(self) -> grpc.Channel:
        channel: grpc.Channel = _channels().LocalChannel(self._settings)
        return channel


class AsyncClient(async_client.AsyncClient):
    """Has the methods of `precis.AsyncClient`. Enter it: that loads the models, and leaves the event loop free.

    The arguments and errors are those of `Client`; the errors come when it is entered.
    """

    def __init__(
        self,
        settings: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        retry: RetryPolicy = DEFAULT_RETRY,
    ) -> None:
        super().__init__(_ADDRESS, timeout_s=timeout_s, retry=retry)
        self._settings = dict(settings or {})

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._open_channel)
        return self

    def _open_channel(self) -> aio.Channel:
        if self._channel is None:
            self._channel = _channels().AsyncLocalChannel(self._settings)
        return self._channel


def _channels() -> Any:  # noqa: ANN401 - a module of the server, which may not be there
    problem = find_problem()
    if problem:
        raise ImportError(f"precis.local: {problem}")
    return import_module(CHANNELS)
