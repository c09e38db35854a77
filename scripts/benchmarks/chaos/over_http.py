"""Health checks without a body, and HTTP with a key: how long others wait meanwhile, and what the server holds."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from scripts.benchmarks.chaos.hostile import CHECK
from scripts.benchmarks.chaos.victim import LIGHT, PeakMemory, connection, outcome_of
from scripts.benchmarks.shared.precis_server import PrecisServer, free_port
from tests.integration.support.raw_http2 import deaf_client

HTTP_PORT, METRICS_PORT = free_port(), free_port()
SETTINGS = {
    "PRECIS_HTTP__ENABLED": "true",
    "PRECIS_HTTP__PORT": str(HTTP_PORT),
    "PRECIS_METRICS__PORT": str(METRICS_PORT),
    "PRECIS_HTTP__MAX_TEXTS": "10000",  # more than by default: what bounds it by length is no bound by time
}
_MEASURE_EVERY_S = 0.01


async def bodiless_checks(server: PrecisServer, connections: int) -> dict[str, float]:
    """Begins 1,000 checks without a body on each connection. Returns how much memory the server takes for them."""
    peak = PeakMemory(server.pid)
    before_mb = peak.read_mb()
    async with AsyncExitStack() as stack:
        for _ in range(connections):
            client = await stack.enter_async_context(deaf_client(server.address))
            with suppress(ConnectionError):  # a stranger who goes on may be cut off
                for _ in range(1_000):
                    await client.call(CHECK.path, None)
    return {"health_checks": 1_000 * connections, "health_mb": peak.read_mb() - before_mb}


async def large_bodies(server: PrecisServer) -> dict[str, float]:
    """Asks for 10,000 vectors as JSON, and sends 32 MB in UTF-16. Returns the longest wait of a health check beside."""
    texts = json.dumps({"inputs": [f"t{index}" for index in range(10_000)]}).encode()
    await _posted("/embed", texts)  # the models' own time is not what is measured
    async with longest_check(server) as stalls_s:
        await _posted("/embed", texts)
    head, values, tail = '{"source": ["\u2201", ', "[]," * 5_000_000, "[]]}"  # a byte of U+2201 is a quote
    async with longest_check(server) as utf16_stalls_s:
        await _posted("/v1/judge", (head + values + tail).encode("utf-16-le"))
    return {"http_stall_s": max(stalls_s), "utf16_stall_s": max(utf16_stalls_s)}


async def unread_bodies(server: PrecisServer, count: int) -> dict[str, float]:
    """Asks for answers of 14 MB of JSON and takes none. Returns how much memory the server takes for them."""
    body = json.dumps({"inputs": [f"t{index % 50}" for index in range(3_000)]}).encode()
    peak = PeakMemory(server.pid)
    before_mb, deaf = peak.read_mb(), []
    for _ in range(count):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        one.connect(("127.0.0.1", HTTP_PORT))
        await asyncio.to_thread(one.sendall, _request("/embed", body))
        deaf.append(one)
    await asyncio.sleep(5)
    for one in deaf:
        one.close()
    return {"http_unread_mb": peak.read_mb() - before_mb}


@asynccontextmanager
async def longest_check(server: PrecisServer) -> AsyncIterator[list[float]]:
    """Asks for the server's health again and again while entered. Gives the seconds of each check."""
    channel, seconds = connection(server), [0.0]

    async def measure() -> None:
        while True:
            seconds.append((await outcome_of(CHECK.begin(channel, [b""], 60, ()))).seconds)
            await asyncio.sleep(_MEASURE_EVERY_S)

    measuring = asyncio.create_task(measure())
    try:
        yield seconds
    finally:
        measuring.cancel()
        await asyncio.gather(measuring, return_exceptions=True)
        await channel.close()


async def _posted(path: str, body: bytes) -> int:
    """Posts a body and takes the answer, in a thread: what is measured beside it must not wait for that."""

    def post() -> int:
        with socket.create_connection(("127.0.0.1", HTTP_PORT)) as client:
            with suppress(ConnectionError):  # refused before all of it was sent
                client.sendall(_request(path, body))
            part, size = bytearray(1 << 16), 0
            with suppress(ConnectionError):
                while count := client.recv_into(part):
                    size += count
            return size

    return await asyncio.to_thread(post)


def _request(path: str, body: bytes) -> bytes:
    """Writes a request after which the connection ends."""
    [(name, key)] = LIGHT
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\n"
    return f"{head}{name}: {key}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
