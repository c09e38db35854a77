"""The clients without a server: what a server does is done inside this process.

    from precis.local import Client

    with Client({"models_dir": "models"}) as client:
        print(client.judge(source, summary).hallucination)

This needs the distribution `precis`, which holds the server; the client's own does not bring it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, Self

from grpc import aio

from precis import async_client, client
from precis.__main__ import find_problem
from precis.connection import DEFAULT_TIMEOUT_S
from precis.retry import DEFAULT_RETRY, RetryPolicy

_ANY_SIZE = (1 << 31) - 1


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
        self._server = _start(settings)
        super().__init__(self._server.address, timeout_s=timeout_s, max_message_bytes=_ANY_SIZE, retry=retry)

    def close(self) -> None:
        """Cancels the calls in flight and stops what makes them."""
        super().close()
        self._server.close()


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
        super().__init__(timeout_s=timeout_s, max_message_bytes=_ANY_SIZE, retry=retry)
        self._settings = settings
        self._server: Any = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.to_thread(_start, self._settings)
        self._connection = replace(self._connection, address=self._server.address)
        return self

    async def close(self) -> None:
        """Cancels the calls in flight and stops what makes them."""
        await super().close()
        if self._server is not None:
            await asyncio.to_thread(self._server.close)

    def _open_channel(self) -> aio.Channel:
        if self._server is None:
            raise ValueError("enter this client first: that loads the models")
        return super()._open_channel()


def _start(settings: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 - of the server, which may not be there
    problem = find_problem()
    if problem:
        raise ImportError(f"precis.local: {problem}")
    return import_module("server.local_server").LocalServer(dict(settings or {}))
