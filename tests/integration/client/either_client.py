"""One way to call both clients, so that every test of one is a test of the other."""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, closing
from itertools import islice
from typing import Any

from precis import AsyncClient, AsyncSummaryStream, Client, SummaryStep, SummaryStream
from precis.v1 import summarize_pb2


class EitherClient:
    """Calls the methods of a client. Those of `Client` run on a thread: the server is in this test's own loop."""

    def __init__(self, client: Client | AsyncClient) -> None:
        self._client = client

    async def call(self, rpc: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - any method
        """Makes a call that has one result."""
        method: Callable[..., Any] = getattr(self._client, rpc)
        if isinstance(self._client, Client):
            return await asyncio.to_thread(method, *arguments, **options)
        return await method(*arguments, **options)

    async def items(self, rpc: str, *arguments: Any, **options: Any) -> list[Any]:  # noqa: ANN401 - any method
        """Makes a call that has many results."""
        found = getattr(self._client, rpc)(*arguments, **options)
        if isinstance(self._client, Client):
            return await asyncio.to_thread(list, found)
        return [item async for item in found]

    async def first_items(self, rpc: str, count: int, *arguments: Any) -> list[Any]:  # noqa: ANN401 - any method
        """Makes a call that has many results, and leaves it after the first."""
        found = getattr(self._client, rpc)(*arguments)
        if isinstance(self._client, Client):
            return await asyncio.to_thread(_leave_after, found, count)
        async with aclosing(found) as items:
            return [await anext(items) for _ in range(count)]

    def begin(self, rpc: str, *arguments: Any, **options: Any) -> SummaryStream | AsyncSummaryStream:  # noqa: ANN401
        """Begins a summary, or goes on with one."""
        run = getattr(self._client, rpc)(*arguments, **options)
        assert isinstance(run, SummaryStream | AsyncSummaryStream)
        return run


async def steps_of(run: SummaryStream | AsyncSummaryStream) -> list[SummaryStep]:
    """Reads the steps that are left."""
    if isinstance(run, SummaryStream):
        return await asyncio.to_thread(list, run)
    return [step async for step in run]


async def next_step(run: SummaryStream | AsyncSummaryStream) -> SummaryStep:
    """Reads one step."""
    if isinstance(run, SummaryStream):
        return await asyncio.to_thread(next, run)
    return await anext(run)


async def result_of(run: SummaryStream | AsyncSummaryStream) -> summarize_pb2.Summary:
    """Waits for the summary."""
    if isinstance(run, SummaryStream):
        return await asyncio.to_thread(run.result)
    return await run.result()


def _leave_after(items: Generator[Any, None, None], count: int) -> list[Any]:
    with closing(items):
        return list(islice(items, count))


Connect = Callable[..., AbstractAsyncContextManager[EitherClient]]


def connector(kind: str) -> Connect:
    """Returns what opens clients of one kind, "sync" or "asyncio", with the options of both."""

    @asynccontextmanager
    async def connected(address: str, **options: Any) -> AsyncIterator[EitherClient]:  # noqa: ANN401 - any option
        if kind == "sync":
            with Client(address, **options) as client:
                yield EitherClient(client)
        else:
            async with AsyncClient(address, **options) as asyncio_client:
                yield EitherClient(asyncio_client)

    return connected
