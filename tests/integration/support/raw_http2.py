"""An HTTP/2 client by hand, for what no gRPC client does: it sends requests and takes no byte of the answers."""

import asyncio
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS = 0, 1, 4
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INITIAL_WINDOW_SIZE = 4


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def header_block(headers: Mapping[str, str]) -> bytes:
    """HPACK without tables: literal, not indexed, no Huffman code."""
    parts = []
    for name, value in headers.items():
        parts.append(b"\x00" + _string(name) + _string(value))
    return b"".join(parts)


def _string(text: str) -> bytes:
    data = text.encode()
    assert len(data) < 127
    return bytes([len(data)]) + data


class DeafClient:
    """Sends unary calls over one connection, and never opens the window for an answer."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._stream = 1

    async def call(self, path: str, message: bytes | None, key: str = "") -> None:
        """Sends one call whole, or without a message: then it waits for one that never comes."""
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": "localhost",
            "content-type": "application/grpc",
            "te": "trailers",
            **({"authorization": f"Bearer {key}"} if key else {}),
        }
        self._writer.write(frame(HEADERS, END_HEADERS, self._stream, header_block(headers)))
        body = b"" if message is None else b"\x00" + struct.pack(">I", len(message)) + message
        for start in range(0, len(body), 16_384):
            part = body[start : start + 16_384]
            self._writer.write(frame(DATA, END_STREAM if start + 16_384 >= len(body) else 0, self._stream, part))
        await self._writer.drain()
        self._stream += 2


@asynccontextmanager
async def deaf_client(address: str) -> AsyncIterator[DeafClient]:
    """Connects with a window of 0 for answers."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    no_window = struct.pack(">HI", INITIAL_WINDOW_SIZE, 0)
    writer.write(PREFACE + frame(SETTINGS, 0, 0, no_window) + frame(SETTINGS, ACK, 0))
    reading = asyncio.create_task(reader.read(-1))  # settings and pings; answers cannot come
    try:
        yield DeafClient(writer)
    finally:
        writer.close()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
