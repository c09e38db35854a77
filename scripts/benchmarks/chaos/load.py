"""Honest clients who are too many: a burst, ten times the load that can be served, and a crowd beside one caller."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
from precis.v1 import inference_pb2 as pb

from scripts.benchmarks.chaos.victim import HEAVY, LIGHT, Metadata, Outcome, Route, connection, outcome_of, percentile
from scripts.benchmarks.shared.precis_server import PrecisServer

EMBED = Route("/precis.v1.InferenceService/Embed")
ENTAIL = Route("/precis.v1.InferenceService/Entail")
CONNECTIONS = 8
_numbers = itertools.count()


def pairs(count: int) -> bytes:
    """Makes an Entail request that nobody sent before."""
    premise = (
        "The valve of pump {0} opens at {0} bar, and the harbour engineer reads its gauge in hall {0} every winter."
    )
    made = [
        pb.TextPair(premise=premise.format(number), hypothesis=f"Pump {number} opens at {number} bar.")
        for number in itertools.islice(_numbers, count)
    ]
    return pb.EntailRequest(pairs=made).SerializeToString()


def text() -> bytes:
    """Makes an Embed request that nobody sent before."""
    return pb.EmbedRequest(texts=[f"Pump {next(_numbers)} hums."]).SerializeToString()


@dataclass
class Crowd:
    """Calls of one method by one key over several connections."""

    channels: list[grpc.aio.Channel]
    route: Route
    make: Callable[[], bytes]
    timeout_s: float
    key: Metadata = HEAVY

    async def one(self, number: int) -> Outcome:
        """Makes one call."""
        channel = self.channels[number % len(self.channels)]
        return await outcome_of(self.route.begin(channel, [self.make()], self.timeout_s, self.key))

    async def closed(self, in_flight: int, seconds: float) -> list[Outcome]:
        """Keeps so many calls in flight for a time."""
        outcomes: list[Outcome] = []
        end_s = time.monotonic() + seconds

        async def caller(number: int) -> None:
            while time.monotonic() < end_s:
                outcome = await self.one(number)
                outcomes.append(outcome)
                if not outcome.is_answered:
                    await asyncio.sleep(outcome.retry_delay_s or 1.0)  # as the server asks

        await asyncio.gather(*map(caller, range(in_flight)))
        return outcomes

    async def open_loop(self, per_s: float, seconds: float) -> list[Outcome]:
        """Begins calls at a rate, whatever becomes of them."""
        tasks: list[asyncio.Task[Outcome]] = []
        started_s = time.monotonic()
        while (now_s := time.monotonic() - started_s) < seconds:
            tasks += [asyncio.create_task(self.one(len(tasks))) for _ in range(int(now_s * per_s) - len(tasks))]
            await asyncio.sleep(0.005)
        return await asyncio.gather(*tasks)


async def burst(server: PrecisServer, calls: int) -> dict[str, float | dict[str, float]]:
    """Sends all calls at once. Counts those that neither were answered nor were told when to come again."""
    channels = [connection(server) for _ in range(CONNECTIONS)]
    crowd = Crowd(channels, EMBED, text, timeout_s=60)
    await asyncio.gather(*map(crowd.one, range(CONNECTIONS)))  # connected
    outcomes = await asyncio.gather(*map(crowd.one, range(calls)))
    await _close(channels)
    dropped = [one for one in outcomes if not one.is_answered and one.retry_delay_s is None]
    return {
        "burst_calls": len(outcomes),
        "burst_answered": sum(one.is_answered for one in outcomes),
        "burst_cancelled": len(dropped),
        "burst_dropped": dict(Counter(f"{one.code}: {one.message[:60]}" for one in dropped)),
    }


async def overload(server: PrecisServer, seconds: float, deadline_s: float) -> dict[str, float]:
    """Sends ten times what the server can do. Counts calls that were let in and then ran out of time.

    `retry_ratio`: in the later half, what the refused are told over what the answered waited, by their medians.
    """
    channels = [connection(server) for _ in range(CONNECTIONS)]
    crowd = Crowd(channels, ENTAIL, lambda: pairs(4), timeout_s=deadline_s)
    alone_s = max(2.0, seconds / 10)
    capacity = sum(one.is_answered for one in await crowd.closed(64, alone_s)) / alone_s
    checks = asyncio.create_task(asyncio.to_thread(health_s, server, seconds))
    outcomes = await crowd.open_loop(10 * capacity, seconds)
    checks_s = await checks
    await _close(channels)
    answered_s = [one.seconds for one in outcomes if one.is_answered]
    refused = [one for one in outcomes if one.retry_delay_s is not None]
    expired = sum(one.code == "DEADLINE_EXCEEDED" for one in outcomes)
    later = outcomes[len(outcomes) // 2 :]  # the queue is as long as it gets
    waited_s = [one.seconds for one in later if one.is_answered]
    told_s = [one.retry_delay_s for one in later if one.retry_delay_s is not None]
    return {
        "overload_sent": len(outcomes),
        "overload_answered": len(answered_s),
        "overload_refused": len(refused),
        "overload_expired_share": expired / max(1, expired + len(answered_s)),
        "overload_health_p99_s": percentile(checks_s, 0.99),
        "retry_ratio": percentile(told_s, 0.5) / percentile(waited_s, 0.5) if told_s and waited_s else 0.0,
        "overload_p99_share": percentile(answered_s, 0.99) / deadline_s if answered_s else 0.0,
    }


def health_s(server: PrecisServer, seconds: float) -> list[float]:
    """Returns how long health checks take for a while, from a connection of their own."""
    taken_s: list[float] = []
    end_s = time.monotonic() + seconds
    with grpc.insecure_channel(server.address) as channel:
        check: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
        while (began_s := time.monotonic()) < end_s:
            check(b"", timeout=60)
            taken_s.append(time.monotonic() - began_s)
            time.sleep(0.05)
    return taken_s


async def fairness(server: PrecisServer, calls: int) -> dict[str, float]:
    """Compares how long a light caller waits beside a heavy one with how long it waits alone, over so many calls.

    At least 101: of fewer the 99th percentile is the longest, that of the first call, which nobody could expect.
    """
    heavy, light = connection(server), connection(server)
    lonely = Crowd([light], ENTAIL, lambda: pairs(1), timeout_s=60, key=LIGHT)
    alone = [await lonely.one(0) for _ in range(calls)]
    crowd = Crowd([heavy], ENTAIL, lambda: pairs(16), timeout_s=60)
    crowding = asyncio.create_task(crowd.closed(64, 600))
    await asyncio.sleep(1)
    beside = [await lonely.one(0) for _ in range(calls)]
    crowding.cancel()
    await asyncio.gather(crowding, return_exceptions=True)
    await _close([heavy, light])
    failed = sum(not one.is_answered for one in beside)
    alone_s, beside_s = (percentile([one.seconds for one in calls], 0.99) for calls in (alone, beside))
    return {"fair_alone_p99_s": alone_s, "fair_p99_ratio": beside_s / alone_s, "fair_failed": failed}


async def _close(channels: list[grpc.aio.Channel]) -> None:
    for channel in channels:
        await channel.close()
