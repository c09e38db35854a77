"""Reads answers: one JSON object or the events of a stream, and the JSON that was asked for inside the text."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, cast

import jsonschema

from pipeline.llm.chat_model import ChatMessage, Completion, TokenLogprobs
from pipeline.llm.errors import EmptyAnswerError, UnreadableAnswerError

# Reasoning models without a parser in front put their thoughts into the answer; nobody here wants them.
_THOUGHTS_BEGIN, _THOUGHTS_END = "<think>", "</think>"

# What a value of another shape than a completion's leads to.
_UNREADABLE = (ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError)

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
    except _UNREADABLE:
        raise UnreadableAnswerError(_describe(body, content_type)) from None  # the cause would quote the answer


def _to_completion(answer: Json) -> Completion:
    choice = answer["choices"][0]
    message = choice["message"]
    finish_reason = _whole(choice.get("finish_reason") or "stop")
    text = _without_thoughts(_whole(message.get("content") or ""))
    if not text.strip():
        raise EmptyAnswerError(_explain_empty(finish_reason, message), finish_reason=finish_reason)
    usage = answer.get("usage") or {}
    return Completion(
        text=text,
        finish_reason=finish_reason,
        prompt_tokens=_token_count(usage.get("prompt_tokens")),
        completion_tokens=_token_count(usage.get("completion_tokens")),
        model=_whole(answer.get("model") or ""),
        top_logprobs=_top_logprobs(choice.get("logprobs")),
    )


def _whole(text: object) -> str:
    """Returns a text. Raises ValueError for half a character, which no UTF-8 can carry, and TypeError for no text."""
    if not isinstance(text, str):
        raise TypeError
    text.encode()
    return text


def _token_count(value: object) -> int:
    """Returns a number of tokens; 0 if the endpoint does not say. Raises ValueError for one that cannot be."""
    count = int(cast("int", value or 0))  # infinity: OverflowError; not a number: ValueError
    if not 0 <= count <= 1 << 30:
        raise ValueError
    return count


def _logprob(value: object) -> float:
    number = float(cast("float", value))
    if math.isnan(number):
        raise ValueError
    return number


def _top_logprobs(logprobs: Json | None) -> tuple[TokenLogprobs, ...]:
    places = (logprobs or {}).get("content") or ()
    return tuple(
        TokenLogprobs(
            tuple((_whole(one["token"]), _logprob(one["logprob"])) for one in place["top_logprobs"]),
            _whole(place.get("token") or ""),
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
    for event in _events(body.splitlines()):
        answer |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        for choice in event["choices"][:1]:
            text.append(_delta(choice))
            logprobs += (choice.get("logprobs") or {}).get("content") or ()
            finish_reason = choice.get("finish_reason") or finish_reason
    if finish_reason is None:
        raise ValueError("the stream ended without a finish_reason")
    message = {"content": "".join(text)}
    return {
        **answer,
        "choices": [{"message": message, "finish_reason": finish_reason, "logprobs": {"content": logprobs}}],
    }


def _delta(choice: Json) -> str:
    return choice["delta"].get("content") or ""


def _events(lines: Iterable[bytes]) -> Iterator[Json]:
    """Yields the data of server-sent events; each is one line, as all endpoints send it."""
    for line in lines:
        if not line.startswith(b"data:"):  # blank lines, comments that keep the connection open, event names
            continue
        data = line[5:].strip()
        if data == b"[DONE]":
            return
        yield json.loads(data.decode("utf-8"))


class DraftReader:
    """Reads an answer while it comes in pieces, for somebody who looks on.

    It judges nothing: at what cannot be read the draft stops, and `parse_completion` says what is wrong.

    Args:
        tell: gets all of the text so far, without thoughts.
        most_chars: of the text; where it is longer the draft stops.
    """

    def __init__(self, tell: Callable[[str], None], most_chars: int) -> None:
        self._tell = tell
        self._most_chars = most_chars
        self._line = b""
        self._text = ""
        self._is_over = False

    def feed(self, part: bytes) -> None:
        """Takes the next bytes of a stream of events. Never raises."""
        if self._is_over:
            return
        *lines, self._line = (self._line + part).split(b"\n")
        if len(self._line) > 1 << 16:  # an event holds few tokens
            self._is_over = True
            return
        try:
            pieces = [_delta(choice) for event in _events(lines) for choice in event["choices"][:1]]
            text = _whole(self._text + "".join(pieces))
        except _UNREADABLE:
            self._is_over = True
            return
        self._is_over = len(text) > self._most_chars
        if text != self._text and not self._is_over:
            self._text = text
            if spoken := _without_thoughts(text):
                self._tell(spoken)


def _without_thoughts(text: str) -> str:
    """Returns what is no thought of a text that may end anywhere."""
    begun = text.lstrip()
    if begun.startswith(_THOUGHTS_BEGIN):  # searched anew at every piece, so without a pattern
        return begun.partition(_THOUGHTS_END)[2].lstrip()
    return "" if _THOUGHTS_BEGIN.startswith(begun[: len(_THOUGHTS_BEGIN)]) else text


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


_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


class JsonProblemError(Exception):
    """An answer is not the JSON asked for. Its message names paths and rules, never the answer's own words."""


def repair_messages(messages: tuple[ChatMessage, ...], answer: str, problem: str) -> tuple[ChatMessage, ...]:
    """Asks again, with the wrong answer and what is wrong with it."""
    words = (
        f"This is not the JSON that was asked for: {problem}. Answer again with the corrected JSON and nothing else."
    )
    return (*messages, ChatMessage("assistant", answer), ChatMessage("user", words))


def extract_json(text: str, schema: Json) -> str:
    """Returns the JSON in an answer, without what models like to put around it.

    Raises:
        JsonProblemError: there is none, or it does not fit the schema.
    """
    fenced = _FENCE.search(text)
    body = (fenced.group(1) if fenced else text).strip()
    start = next((at for at, character in enumerate(body) if character in "{["), 0)
    try:
        value, end = _decode(body, start)
    except json.JSONDecodeError as error:
        raise JsonProblemError(f"no JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:  # "[[[[..."
        raise JsonProblemError("no JSON: it is nested too deeply") from None
    except ValueError:
        raise JsonProblemError("no JSON: a number of thousands of digits") from None
    _check(value, schema)
    written = json.dumps(value, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:  # "\ud800"
        raise JsonProblemError("a text with half a character") from None
    return body[:end] if end == len(body) and start == 0 else written


def _decode(body: str, start: int) -> tuple[object, int]:
    """Reads the JSON value that a text begins with, else the one at a place inside."""
    with suppress(ValueError):
        return json.JSONDecoder().raw_decode(body)
    return json.JSONDecoder().raw_decode(body, start)


def _check(value: object, schema: Json) -> None:
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        rule = f"{error.validator}: {json.dumps(error.validator_value)}"[:200]
        raise JsonProblemError(f"{error.json_path} breaks the rule {rule}")
