"""Clients without a key, and clients that do not read: what they can take from a server."""

import asyncio

from precis.v1 import inference_pb2 as pb

from scripts.benchmarks.chaos.load import EMBED, ENTAIL, text
from scripts.benchmarks.chaos.victim import LIGHT, PeakMemory, Route, connection, outcome_of
from scripts.benchmarks.shared.precis_server import PrecisServer
from tests.integration.support.raw_http2 import deaf_client

CHECK = Route("/grpc.health.v1.Health/Check")
WATCH = "/grpc.health.v1.Health/Watch"
_SETTLE_S = 1.0
_TRIES = 5


async def idle_streams(server: PrecisServer, count: int) -> dict[str, float]:
    """Opens streams without a key that ask for nothing. Returns which share of an honest caller's calls is served."""
    async with deaf_client(server.address) as bodiless, deaf_client(server.address) as watching:
        for _ in range(count):
            await bodiless.call(EMBED.path, None)
            await watching.call(WATCH, b"")
        await asyncio.sleep(_SETTLE_S)
        served = []
        for _ in range(_TRIES):
            channel = connection(server)
            served.append(await outcome_of(EMBED.begin(channel, [text()], 10, LIGHT)))
            served.append(await outcome_of(CHECK.begin(channel, [b""], 10, ())))
            await channel.close()
    return {"idle_streams": 2 * count, "idle_streams_served": sum(one.is_answered for one in served) / len(served)}


async def unauthenticated(server: PrecisServer, count: int) -> dict[str, float]:
    """Sends 20 MB of ten million empty messages without a key, several at a time. Returns the server's peak memory."""
    body = b"\x0a\x00" * 10_000_000
    peak, channel = PeakMemory(server.pid), connection(server)
    calls = [outcome_of(ENTAIL.begin(channel, [body], 60, ())) for _ in range(count)]
    outcomes = await asyncio.gather(*calls)
    await channel.close()
    let_in = sum(one.code != "UNAUTHENTICATED" for one in outcomes)
    return {"unauth_peak_mb": peak.read_mb(), "unauth_let_in": let_in}


async def unread(server: PrecisServer, count: int) -> dict[str, float]:
    """Asks for answers of several MB and takes none of them. Returns the server's peak memory."""
    body = pb.EmbedRequest(texts=[f"text {index % 50}" for index in range(5_000)]).SerializeToString()
    peak, channel = PeakMemory(server.pid), connection(server)
    async with deaf_client(server.address) as deaf:
        for _ in range(count):
            await deaf.call(EMBED.path, body, "heavy-key")
            await asyncio.sleep(0.02)
        await asyncio.sleep(_SETTLE_S)
        beside = await outcome_of(EMBED.begin(channel, [text()], 60, LIGHT))
    await channel.close()
    return {"unread_peak_mb": peak.read_mb(), "unread_neighbour_served": float(beside.is_answered)}
