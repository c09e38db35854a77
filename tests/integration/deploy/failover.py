"""What clients that call without a pause see when servers behind the proxy are killed, restarted, or lose a summary."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
import precis
from precis.v1.inference_pb2 import EmbedRequest, EmbedResponse

from tests.integration.deploy.cluster import Cluster, Member
from tests.integration.summarize.summaries import chunks
from tests.scripted_endpoint.endpoint import ScriptedEndpoint

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


CALLS_BETWEEN = 100  # of all clients, before and after each event


async def kill_each(cluster: Cluster) -> Load:
    """Kills one server after the other under load; each is back before the next one dies."""
    async with running_load(cluster.address) as load:
        for member in cluster.members:
            await load.until(member.has_answered)
            await member.kill()
            await load.more(CALLS_BETWEEN)
            await member.start()
    return load


async def restart_each(cluster: Cluster) -> tuple[Load, Sequence[int]]:
    """Stops and starts one server after the other under load, as a rolling update does. Returns exit codes too."""
    codes = []
    async with running_load(cluster.address) as load:
        for member in cluster.members:
            await load.until(member.has_answered)
            codes.append(await member.stop())
            await load.more(CALLS_BETWEEN)
            await member.start()
    return load, codes


@dataclass(frozen=True)
class Resumed:
    """A summary that lost its server."""

    finished: int  # calls that were finished when the server was killed
    went_on_s: float  # from the kill to the next finished call, which another server made
    repeated: int  # calls of the language model that were finished and made again
    planned: int  # calls of the whole summary
    answered: int  # completions that the language model gave


async def kill_while_summarizing(cluster: Cluster, endpoint: ScriptedEndpoint, chunk_count: int) -> Resumed:
    """Kills the server that runs a summary, with calls on their way, lets the client go on, and starts it again."""
    clock = asyncio.get_running_loop().time
    async with precis.AsyncClient(cluster.address) as client:
        run = client.summarize(chunks(chunk_count))
        async for step in run:
            if step.calls_done:
                break
        endpoint.gate.clear()
        finished = endpoint.log.answered.total()
        while step.calls_done < finished:  # a call is finished once it is stored; only then its step is sent
            step = await anext(run)
        await endpoint.log.until(lambda log: log.in_flight > 0)
        runner = await runner_of(cluster)
        await runner.kill()
        killed_s = clock()
        endpoint.gate.set()
        while step.calls_done <= finished:
            step = await anext(run)
        went_on_s = clock() - killed_s
        await run.result()
    await runner.start()
    answered = endpoint.log.answered
    return Resumed(finished, went_on_s, answered.total() - len(answered), step.calls_total, answered.total())


async def runner_of(cluster: Cluster) -> Member:
    """Finds the one server that runs a summary."""
    counts = await asyncio.gather(*(member.running_summaries() for member in cluster.members))
    return cluster.members[counts.index(1)]
