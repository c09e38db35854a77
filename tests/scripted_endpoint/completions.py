"""Completions as an OpenAI-compatible endpoint sends them: whole, or as server-sent events."""

import asyncio
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.scripted_endpoint.http import Exchange
from tests.scripted_endpoint.replies import Answer, answer, top_logprobs
from tests.scripted_endpoint.script import Script


async def send_completion(
    exchange: Exchange, script: Script, body: Mapping[str, Any], piece_gate: asyncio.Event
) -> None:
    """Sends a good answer the way the request wants it. It is made while the latency passes, not after it.

    Args:
        piece_gate: waited for behind the first half of a streamed answer.
    """
    asked = body if script.max_tokens_kept else {**body, "max_tokens": None, "max_completion_tokens": None}
    made = answer(asked, script.replies, script.answer_chars, script.author)
    if not body.get("stream") or script.streams == "ignored":
        whole = json.dumps(completion(made, body)).encode()
        await exchange.wait_for_age(script.latency_s)
        await exchange.send(200, whole)
        return
    await exchange.wait_for_age(script.latency_s)
    await exchange.start_chunked("text/event-stream")
    for number, event in enumerate(events(made, body, script.stream_pieces)):
        if 2 * number >= script.stream_pieces:
            await piece_gate.wait()
        await exchange.send_chunk(event)
    await exchange.end_chunked()


def completion(made: Answer, body: Mapping[str, Any]) -> dict[str, object]:
    """A whole completion."""
    choice: dict[str, object] = {
        "index": 0,
        "message": {"role": "assistant", "content": made.text},
        "finish_reason": made.finish_reason,
    }
    if body.get("logprobs"):
        choice["logprobs"] = top_logprobs(made.text, body["top_logprobs"], made.choices)
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "model": body["model"],
        "choices": [choice],
        "usage": _usage(made),
    }


def events(made: Answer, body: Mapping[str, Any], pieces: int) -> Iterator[bytes]:
    """The events of a streamed completion: pieces of text, finish_reason, usage, end."""
    words = re.findall(r"\s*\S+\s*", made.text)
    size = max(1, math.ceil(len(words) / pieces))
    for start in range(0, len(words), size):
        piece = "".join(words[start : start + size])
        logprobs = {"logprobs": top_logprobs(piece, body["top_logprobs"], made.choices)} if body.get("logprobs") else {}
        yield _event(body, [{"index": 0, "delta": {"content": piece}, "finish_reason": None, **logprobs}])
    yield _event(body, [{"index": 0, "delta": {}, "finish_reason": made.finish_reason}])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _event(body, [], usage=_usage(made))
    yield b"data: [DONE]\n\n"


def _event(body: Mapping[str, Any], choices: list[dict[str, object]], **more: object) -> bytes:
    value = {"object": "chat.completion.chunk", "model": body["model"], "choices": choices, **more}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _usage(made: Answer) -> dict[str, int]:
    total = made.prompt_tokens + made.completion_tokens
    return {
        "prompt_tokens": made.prompt_tokens,
        "completion_tokens": made.completion_tokens,
        "total_tokens": total,
    }
