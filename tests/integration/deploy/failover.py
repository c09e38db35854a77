"""What clients see when servers behind the proxy are killed, restarted, or lose a running summary."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import precis

from tests.integration.deploy.cluster import Cluster, Member
from tests.integration.deploy.load import Load, running_load
from tests.integration.summarize.summaries import chunks
from tests.scripted_endpoint.endpoint import ScriptedEndpoint

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
    """A summary that lost its server.

    Attributes:
        finished: calls that were finished when the server was killed.
        went_on_s: from the kill to the next finished call, which another server made.
        repeated: calls of the language model that were finished and made again.
        planned: calls of the whole summary.
        answered: completions that the language model gave.
    """

    finished: int
    went_on_s: float
    repeated: int
    planned: int
    answered: int


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
