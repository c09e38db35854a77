"""A client of HTTP/2 for what no gRPC client does: it sends requests and takes no byte of the answers."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from scripts.benchmarks.shared import http2
from scripts.benchmarks.shared.http2 import frame


class DeafClient:
    """Sends unary calls over one connection, and never opens the window for an answer."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._stream = 1

    async def call(self, path: str, message: bytes | None, key: str = "") -> None:
        """Sends one call whole, or without a message: then it waits for one that never comes."""
        headers = {
            ":path": path,
            ":authority": "localhost",
            "content-type": "application/grpc",
            "te": "trailers",
            **({"authorization": f"Bearer {key}"} if key else {}),
        }
        self._writer.write(frame(http2.HEADERS, http2.END_HEADERS, self._stream, http2.header_block(headers)))
        body = b"" if message is None else b"\x00" + struct.pack(">I", len(message)) + message
        for start in range(0, len(body), 16_384):
            part = body[start : start + 16_384]
            self._writer.write(
                frame(http2.DATA, http2.END_STREAM if start + 16_384 >= len(body) else 0, self._stream, part)
            )
        await self._writer.drain()
        self._stream += 2


@asynccontextmanager
async def deaf_client(address: str) -> AsyncIterator[DeafClient]:
    """Connects with a window of 0 for answers."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    no_window = struct.pack(">HI", http2.INITIAL_WINDOW_SIZE, 0)
    writer.write(http2.PREFACE + frame(http2.SETTINGS, 0, 0, no_window) + frame(http2.SETTINGS, http2.ACK, 0))
    reading = asyncio.create_task(reader.read(-1))  # settings and pings; answers cannot come
    try:
        yield DeafClient(writer)
    finally:
        writer.close()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
