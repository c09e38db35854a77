"""Sends what a broken, busy or misconfigured endpoint sends."""

import asyncio
import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.scripted_endpoint.completions import completion, events
from tests.scripted_endpoint.faults import Fault
from tests.scripted_endpoint.http import Exchange
from tests.scripted_endpoint.replies import answer
from tests.scripted_endpoint.script import Script

_PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in to continue</body></html>"
_FILLER = b" " * 65_536  # blanks are legal before and inside JSON, so only a bound ends such an answer


async def send_faulty(
    exchange: Exchange, fault: Fault, script: Script, body: Mapping[str, Any], piece_gate: asyncio.Event
) -> None:
    """Fails one attempt. HANG and the endless ones return when the client leaves.

    Args:
        piece_gate: waited for before a connection is CUT.
    """
    later = {"retry-after": f"{script.faults.retry_after_s:g}"}
    match fault:
        case Fault.RATE_LIMIT:
            await exchange.send_json(429, _error("Rate limit reached", "rate_limit_exceeded"), later)
        case Fault.QUOTA:
            await exchange.send_json(429, _error("You exceeded your current quota", "insufficient_quota"))
        case Fault.SERVER_ERROR:
            await exchange.send_json(500, _error("The server had an error", "server_error"))
        case Fault.OVERLOADED:
            await exchange.send_json(503, _error("The model is overloaded", "overloaded"), later)
        case Fault.RESET:
            exchange.reset()
        case Fault.HANG:
            await asyncio.Event().wait()
        case Fault.HTML:
            await exchange.send(200, _PAGE, content_type="text/html; charset=utf-8")
        case Fault.ENDLESS_ERROR:
            await _send_forever(exchange, 500)
        case Fault.CUT | Fault.TRUNCATED_JSON | Fault.EMPTY | Fault.ENDLESS | Fault.PACKED:
            await _send_damaged(exchange, fault, script, body, piece_gate)


async def _send_damaged(
    exchange: Exchange, fault: Fault, script: Script, body: Mapping[str, Any], piece_gate: asyncio.Event
) -> None:
    """Answers with status 200 that begin well."""
    made = answer(body, script.replies, script.answer_chars, script.author)
    if fault is Fault.EMPTY:
        made = replace(made, text="", completion_tokens=0)
    is_stream = bool(body.get("stream"))
    whole = (
        b"".join(events(made, body, script.stream_pieces)) if is_stream else json.dumps(completion(made, body)).encode()
    )
    content_type = "text/event-stream" if is_stream else "application/json"
    half = whole[: len(whole) // 2]
    match fault:
        case Fault.EMPTY:
            await exchange.send(200, whole, content_type=content_type)
        case Fault.PACKED:
            await exchange.send(
                200, gzip.compress(whole), content_type=content_type, headers={"content-encoding": "gzip"}
            )
        case Fault.TRUNCATED_JSON:
            await exchange.send(200, half, content_type=content_type)
        case Fault.CUT:
            await exchange.start_chunked(content_type)
            await exchange.send_chunk(half)
            await piece_gate.wait()
            exchange.reset()
        case _:
            await _send_forever(exchange, 200, content_type, half)


async def _send_forever(
    exchange: Exchange, status: int, content_type: str = "application/json", beginning: bytes = b""
) -> None:
    """Sends bytes until the client leaves, which cancels this."""
    await exchange.start_chunked(content_type, status)
    await exchange.send_chunk(beginning or _FILLER)
    while True:
        await exchange.send_chunk(_FILLER)
        await asyncio.sleep(0)


def _error(message: str, code: str) -> dict[str, object]:
    return {"error": {"message": message, "type": code, "param": None, "code": code}}
