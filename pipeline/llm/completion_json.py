"""Reads completions: one JSON object, or the events of a stream put together."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pipeline.llm.chat_model import Completion, TokenLogprobs
from pipeline.llm.errors import EmptyAnswerError, UnreadableAnswerError

# Reasoning models without a parser in front put their thoughts into the answer; nobody here wants them.
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_END = "[DONE]"

Json = Mapping[str, Any]


def parse_completion(body: bytes, content_type: str) -> Completion:
    """Reads an answer with HTTP status 200. Token counts that the endpoint did not send are 0.

    Raises:
        UnreadableAnswerError: not a completion, or only a part of one.
        EmptyAnswerError: a completion without text.
    """
    try:
        answer = _joined(body) if content_type.startswith("text/event-stream") else cast("Json", json.loads(body))
        return _to_completion(answer)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise UnreadableAnswerError(_describe(body, content_type)) from None  # the cause would quote the answer


def _to_completion(answer: Json) -> Completion:
    choice = answer["choices"][0]
    message = choice["message"]
    finish_reason = str(choice.get("finish_reason") or "stop")
    text = _THOUGHTS.sub("", message.get("content") or "", count=1)
    if not text.strip():
        raise EmptyAnswerError(_explain_empty(finish_reason, message), finish_reason=finish_reason)
    usage = answer.get("usage") or {}
    return Completion(
        text=text,
        finish_reason=finish_reason,
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        completion_tokens=int(usage.get("completion_tokens") or 0),
        model=str(answer.get("model") or ""),
        top_logprobs=_top_logprobs(choice.get("logprobs")),
    )


def _top_logprobs(logprobs: Json | None) -> tuple[TokenLogprobs, ...]:
    places = (logprobs or {}).get("content") or ()
    return tuple(
        TokenLogprobs(
            tuple((str(one["token"]), float(one["logprob"])) for one in place["top_logprobs"]),
            str(place.get("token") or ""),
        )
        for place in places
    )


def _joined(body: bytes) -> Json:
    """Puts the events of a stream together to what the endpoint would have sent without streaming.

    Raises:
        ValueError: the stream ends before its end, or holds an error.
    """
    text: list[str] = []
    logprobs: list[Json] = []
    answer: dict[str, Any] = {}
    finish_reason = None
    for event in _events(body):
        answer |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        for choice in event["choices"][:1]:
            text.append(choice["delta"].get("content") or "")
            logprobs += (choice.get("logprobs") or {}).get("content") or ()
            finish_reason = choice.get("finish_reason") or finish_reason
    if finish_reason is None:
        raise ValueError("the stream ended without a finish_reason")
    message = {"content": "".join(text)}
    return {
        **answer,
        "choices": [{"message": message, "finish_reason": finish_reason, "logprobs": {"content": logprobs}}],
    }


def _events(body: bytes) -> Iterator[Json]:
    """Yields the data of server-sent events; each is one line, as all endpoints send it."""
    for line in body.decode("utf-8").splitlines():
        if not line.startswith("data:"):  # blank lines, comments that keep the connection open, event names
            continue
        data = line[5:].strip()
        if data == _END:
            return
        yield json.loads(data)


def _describe(body: bytes, content_type: str) -> str:
    """Says what came instead, without repeating any of it."""
    if body.lstrip()[:1] == b"<" or "html" in content_type:
        return "the endpoint answers with a web page; check base_url, which usually ends in /v1, and proxies between"
    kind = content_type.partition(";")[0] or "no content type"
    return f"the endpoint's answer ({len(body)} bytes, {kind}) is no whole completion"


def _explain_empty(finish_reason: str, message: Json) -> str:
    if message.get("refusal"):
        return "the model refuses to answer"
    advice = {
        "length": "; it used up max_tokens before the first word, perhaps for reasoning: allow more",
        "content_filter": "; the endpoint's content filter stopped it",
    }.get(finish_reason, "")
    return f"the model's answer is empty (finish_reason {finish_reason}){advice}"
