"""Reads answers: one JSON object or the events of a stream, and the JSON that was asked for inside the text.

What an answer is, its body decides and no header. What holds no part of an answer is passed over.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, cast

import jsonschema

from pipeline.llm.chat_model import ChatMessage, Completion, LlmUsage, TokenLogprobs
from pipeline.llm.errors import EmptyAnswerError, UnreadableAnswerError
from pipeline.llm.spoken import may_begin_thoughts, spoken

UNREADABLE = (ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What a value of another shape than was expected leads to."""

Json = Mapping[str, Any]


class ErrorObjectError(Exception):
    """The answer is an error, although its status says success; the argument is what holds it."""


def parse_completion(body: bytes, content_type: str) -> Completion:
    """Reads an answer with HTTP status 200. Token counts that the endpoint did not send are 0.

    Raises:
        UnreadableAnswerError: not a completion, or only a part of one.
        EmptyAnswerError: a completion without text.
        ErrorObjectError: see there.
    """
    try:
        begun = body.lstrip(b" \t\r\n\xef\xbb\xbf")
        answer = json.loads(begun) if begun[:1] in (b"{", b"[") else _joined(begun)
        if (answer[0] if isinstance(answer, list) else answer).get("error"):
            raise ErrorObjectError(answer)
        return _to_completion(answer)
    except UNREADABLE as error:
        reason = str(error) if isinstance(error, _NoAnswerError) else ""
        raise UnreadableAnswerError(_describe(body, content_type, reason)) from None  # the cause would quote the answer


class _NoAnswerError(ValueError):
    """There is nothing to read; the message says what is missing, in our words."""


def _to_completion(answer: Json) -> Completion:
    choice = next(_choices(answer), None)
    if choice is None:
        raise _NoAnswerError("it has no choices")
    message = choice.get("message") or {"content": choice["text"]}
    finish_reason = _finish_reason(_whole(choice.get("finish_reason") or "stop"))
    text, usage = spoken(_whole(_text(message.get("content")))), answer.get("usage") or {}
    prompt_tokens, completion_tokens = (_token_count(usage.get(f"{kind}_tokens")) for kind in ("prompt", "completion"))
    if not text.strip():
        error = _explain_empty(finish_reason, message)
        error.usage = LlmUsage(1, prompt_tokens, completion_tokens)
        raise error
    return Completion(
        text=text,
        finish_reason=finish_reason,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        model=_whole(answer.get("model") or ""),
        top_logprobs=_top_logprobs(choice.get("logprobs")),
    )


def _choices(answer: Json) -> Iterator[Json]:
    """Yields the first choice of an answer or event; nothing of what is none: pings, usage, filters."""
    return (choice for choice in (answer.get("choices") or ())[:1] if isinstance(choice, Mapping))


def _text(content: object) -> str:
    """Joins the parts of a text; parts of another kind, as those of reasoning, are left out."""
    if isinstance(content, str | None):
        return content or ""
    parts: list[Any] = content if isinstance(content, list) else [content]
    texts = [part for part in parts if isinstance(part, str) or part.get("type", "text") in ("text", "output_text")]
    return "".join(part if isinstance(part, str) else part["text"] for part in texts)


def _finish_reason(word: str) -> str:
    """Returns "length" or "content_filter" for all words that endpoints have for a limit and a filter."""
    if any(part in word.lower() for part in ("length", "limit", "max", "trunc", "incomplete")):
        return "length"
    is_filter = any(part in word.lower() for part in ("filter", "safety", "prohibit", "block", "refus", "sensitive"))
    return "content_filter" if is_filter else word


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
        ValueError: there are none, or the stream ends before its end.
        ErrorObjectError: an event is an error.
    """
    parts: dict[str, list[str]] = {"content": [], "reasoning_content": []}
    logprobs: list[Json] = []
    answer: dict[str, Any] = {}
    finish_reason = None
    for event in _events(body.splitlines()):
        if event.get("error"):
            raise ErrorObjectError(event)
        answer |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        for choice in _choices(event):
            delta = _delta(choice)
            parts["content"].append(_text(delta.get("content")))
            parts["reasoning_content"].append(str(delta.get("reasoning_content") or delta.get("reasoning") or ""))
            logprobs += (choice.get("logprobs") or {}).get("content") or ()
            finish_reason = choice.get("finish_reason") or finish_reason
        finish_reason = finish_reason or event.get("[DONE]")
    if finish_reason is None:
        raise _NoAnswerError("the stream ended without a finish_reason and without [DONE]")
    message = {name: "".join(pieces) for name, pieces in parts.items()}
    return {
        **answer,
        "choices": [{"message": message, "finish_reason": finish_reason, "logprobs": {"content": logprobs}}],
    }


def _delta(choice: Json) -> Json:
    return choice.get("delta") or choice.get("message") or {}


def _events(lines: Iterable[bytes]) -> Iterator[Json]:
    """Yields the data of server-sent events, each of which is one line, as all endpoints send it.

    The final mark becomes an event of its own. Usage may come behind it.
    """
    for line in lines:
        # Blank lines, comments that keep the connection open and event names are passed over, as is empty data.
        data = line[5:].strip() if line.startswith(b"data:") else b""
        event = {"[DONE]": "stop"} if data == b"[DONE]" else json.loads(data.decode("utf-8")) if data else None
        if isinstance(event, dict):
            yield event


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
            deltas = [_delta(choice) for event in _events(lines) for choice in _choices(event)]
            pieces = [_text(delta.get("content")) for delta in deltas]
            text = _whole(self._text + "".join(pieces))
        except UNREADABLE:
            self._is_over = True
            return
        self._is_over = len(text) > self._most_chars
        if text != self._text and not self._is_over:
            self._text = text
            if not may_begin_thoughts(text) and (heard := spoken(text)):
                self._tell(heard)


def _describe(body: bytes, content_type: str, reason: str) -> str:
    """Says what came instead, without repeating any of it."""
    if body.lstrip()[:1] == b"<" or "html" in content_type:
        return "the endpoint answers with a web page; check base_url, which usually ends in /v1, and proxies between"
    kind = content_type.partition(";")[0] or "no content type"
    why = f": {reason}" if reason else ""
    return f"the endpoint's answer ({len(body)} bytes, {kind}) is no whole completion{why}"


WHY_EMPTY = {
    "length": "finish_reason length: it used up max_tokens before the first word: allow more",
    "content_filter": "finish_reason content_filter: the endpoint's content filter stopped it",
    "refusal": "the model refuses to answer",
    "tool_calls": "the model calls a tool, and none was offered: turn tools off at the endpoint",
    "reasoning_content": "the answer stands in reasoning_content: turn the endpoint's reasoning parser off",
    "reasoning": "the answer stands in reasoning: turn the endpoint's reasoning parser off",
}
"""Why an answer has no text, where another request would end the same way; and what people may do."""


def _explain_empty(finish_reason: str, message: Json) -> EmptyAnswerError:
    """Says why an answer has no text, and what people may do."""
    said = [name for name in WHY_EMPTY if message.get(name)]
    reason = finish_reason if finish_reason in WHY_EMPTY or not said else said[0]
    advice = WHY_EMPTY.get(reason, f"finish_reason {reason}")
    return EmptyAnswerError(f"the model's answer is empty ({advice})", finish_reason=reason)


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
    _, _, fenced = text.partition("```")
    head, _, inside = fenced.partition("\n")
    body = inside.partition("```")[0].strip() if head.strip() in ("", "json") and "```" in inside else text.strip()
    start = next((at for at, character in enumerate(body) if character in "{["), 0)
    try:
        value, end = _decode(body, start)
    except json.JSONDecodeError as error:
        raise JsonProblemError(f"no JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:  # "[[[[..."
        raise JsonProblemError("no JSON: it is nested too deeply") from None
    except ValueError:
        raise JsonProblemError("no JSON: a number of thousands of digits") from None
    most_comparisons = 1 << 19  # of parts of a value with parts of a schema: 4 seconds at worst
    if _size(schema) * _size(value) > most_comparisons:
        raise JsonProblemError("it has too many values for a schema of so many choices")
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


def _size(value: object) -> int:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, parts))


def _check(value: object, schema: Json) -> None:
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        rule = f"{error.validator}: {json.dumps(error.validator_value)}"[:200]
        raise JsonProblemError(f"{error.json_path} breaks the rule {rule}")
