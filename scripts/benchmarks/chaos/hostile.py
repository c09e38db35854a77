"""Clients without a key, and clients that do not read: what they can take from a server."""

import asyncio
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from precis.v1 import inference_pb2 as pb

from scripts.benchmarks.chaos.load import EMBED, ENTAIL, text
from scripts.benchmarks.chaos.victim import LIGHT, PeakMemory, Route, connection, outcome_of, victim
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
        served = await _served(server)
    return {"idle_streams": 2 * count, "idle_streams_served": served}


async def idle_connections(server: PrecisServer, count: int) -> dict[str, float]:
    """Opens connections that say nothing. Returns which share of an honest caller's calls is served beside them."""
    with _connections(server.address, count):
        await asyncio.sleep(_SETTLE_S)
        return {"idle_connections": count, "idle_connections_served": await _served(server)}


async def descriptors(models: Path) -> dict[str, float]:
    """Opens 1,100 connections to a server of 1,024 descriptors. Returns which share of honest calls is served."""
    with victim(models, descriptors=1_024) as server:
        found = await idle_connections(server, 1_100)
    return {"descriptors_served": found["idle_connections_served"]}


async def slow_scrapers(metrics_port: int, count: int) -> dict[str, float]:
    """Begins requests of metrics and ends none. Returns which share of 20 looks at `/ready` is answered in 0.5 s."""
    url, ready = f"http://127.0.0.1:{metrics_port}/ready", 0
    with _connections(f"127.0.0.1:{metrics_port}", count, b"GET /metrics HTTP/1.1\r\nHost: a\r\n"):
        await asyncio.sleep(_SETTLE_S)  # while they come, a look waits its turn
        async with httpx.AsyncClient(timeout=0.5) as client:
            for _ in range(20):
                try:
                    ready += (await client.get(url)).is_success
                except httpx.HTTPError:
                    continue
    return {"slow_scrapers": count, "ready_served": ready / 20}


@contextmanager
def _connections(address: str, count: int, said: bytes = b"") -> Iterator[None]:
    """Holds connections of a host of its own, 127.0.0.2, as far as the server lets it."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    host, _, port = address.rpartition(":")
    held: list[socket.socket] = []
    try:
        for _ in range(count):
            one = socket.socket()
            held.append(one)
            one.settimeout(5)
            one.bind(("127.0.0.2", 0))
            try:
                one.connect((host, int(port)))
                one.sendall(said)
            except OSError:
                continue
        yield
    finally:
        for one in held:
            one.close()


async def _served(server: PrecisServer) -> float:
    """Returns which share of an honest caller's calls is served, each over a new connection."""
    served = []
    for _ in range(_TRIES):
        channel = connection(server)
        served.append(await outcome_of(EMBED.begin(channel, [text()], 10, LIGHT)))
        served.append(await outcome_of(CHECK.begin(channel, [b""], 10, ())))
        await channel.close()
    return sum(one.is_answered for one in served) / len(served)


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
