"""Clients that call without a pause, until one of their calls fails, and what became of all."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
import precis
from precis.v1.inference_pb2 import EmbedRequest, EmbedResponse

CLIENTS = 8


class LoadFailedError(AssertionError):
    """A call failed in spite of all retries."""


@dataclass
class Load:
    """Counts of calls. `failed` is what the clients saw, after the retries that the service config documents."""

    answered: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    is_over: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def more(self, count: int) -> None:
        """Waits until so many more calls are answered. Raises LoadFailedError when one has failed."""
        goal = self.answered + count
        await self.until(lambda: self.answered >= goal)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits until a condition holds, which is looked at after each call. Raises LoadFailedError likewise."""
        while not condition():
            if self.failed:
                raise LoadFailedError(self.failed)
            self._changed.clear()
            await self._changed.wait()

    def ended(self, failure: str) -> None:
        """Counts one call; `failure` is empty for an answer."""
        if failure:
            self.failed[failure] += 1
            self.is_over = True
        else:
            self.answered += 1
        self._changed.set()


@asynccontextmanager
async def running_load(address: str) -> AsyncIterator[Load]:
    """Calls while entered: half of the clients through plain gRPC with the service config, half through ours."""
    load = Load()
    async with (
        asyncio.TaskGroup() as tasks,
        grpc.aio.insecure_channel(address, [("grpc.service_config", precis.SERVICE_CONFIG)]) as channel,
        precis.AsyncClient(address) as client,
    ):
        running = [
            tasks.create_task(_embed(load, channel, number) if number % 2 else _judge(load, client))
            for number in range(CLIENTS)
        ]
        try:
            yield load
        finally:
            load.is_over = True
            await asyncio.wait(running)


async def _embed(load: Load, channel: grpc.aio.Channel, number: int) -> None:
    embed: grpc.aio.UnaryUnaryMultiCallable[EmbedRequest, EmbedResponse] = channel.unary_unary(
        "/precis.v1.InferenceService/Embed",
        request_serializer=EmbedRequest.SerializeToString,
        response_deserializer=EmbedResponse.FromString,
    )
    while not load.is_over:
        try:
            await embed(EmbedRequest(texts=[f"w{number} w{load.answered}"]), timeout=60)
        except grpc.aio.AioRpcError as error:
            load.ended(f"{error.code().name} {error.details()}")
        else:
            load.ended("")


async def _judge(load: Load, client: precis.AsyncClient) -> None:
    while not load.is_over:
        try:
            await client.judge(
                f"The pump has {load.answered} bolts. It is red.", "The pump is red.", frameworks=["twin-lock"]
            )
        except precis.PrecisError as error:
            load.ended(f"{type(error).__name__} {error}")
        else:
            load.ended("")
