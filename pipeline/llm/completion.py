"""Reads answers: one JSON object or the events of a stream, and the JSON that was asked for inside the text.

What an answer is, its body decides and no header. What holds no part of an answer is passed over.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import jsonschema

from pipeline.llm.chat_model import Completion, LlmUsage, TokenLogprobs
from pipeline.llm.errors import EmptyAnswerError, UnreadableAnswerError
from pipeline.llm.spoken import may_begin_thoughts, spoken

UNREADABLE = (ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What a value of another shape than was expected leads to."""

Json = Mapping[str, Any]


class ErrorObjectError(Exception):
    """The answer is an error, although its status says success; the argument is what holds it."""


class _NoAnswerError(ValueError):
    """There is nothing to read; the message says what is missing, in our words."""


def parse_completion(body: bytes, content_type: str) -> Completion:
    """Reads an answer with HTTP status 200. Token counts that the endpoint did not send are 0.

    Raises UnreadableAnswerError: not a completion, or only a part of one; EmptyAnswerError: a completion without text;
    ErrorObjectError: see there.
    """
    try:
        begun = body.strip(b" \t\r\n\0\xef\xbb\xbf")
        try:
            answer = json.loads(begun, strict=False)
        except ValueError:
            answer = _joined(begun)
        return _to_completion(_unwrapped(answer))
    except UNREADABLE as error:
        reason = str(error) if isinstance(error, _NoAnswerError) else ""
        raise UnreadableAnswerError(_describe(body, content_type, reason)) from None  # the cause would quote the answer


def _unwrapped(answer: Any) -> Json:  # noqa: ANN401 - JSON
    """Returns a completion without what a gateway has put around it: a list, another object."""
    answer = answer[0] if isinstance(answer, list) and len(answer) == 1 else answer
    if not isinstance(answer, dict):
        raise _NoAnswerError("it is no JSON object")
    inner = [one for one in answer.values() if isinstance(one, dict) and one.get("choices")]
    return inner[0] if inner and not answer.get("choices") else answer


def _to_completion(answer: Json) -> Completion:
    _expect_no_error(answer)
    choice = next(_choices(answer), None)
    if choice is None:
        raise _NoAnswerError(f"it has no choices, but {', '.join(answer)[:80] or 'nothing'}")
    message, told = _message(choice), answer.get("usage")
    finish_reason, text = _finish_reason(choice.get("finish_reason")), spoken(_whole(_text(message.get("content"))))
    usage = LlmUsage(1, *(_token_count(told, f"{kind}_tokens") for kind in ("prompt", "completion")))
    if not text.strip():
        error = _explain_empty(finish_reason, message)
        error.usage = usage
        raise error
    return Completion(
        text=text,
        finish_reason=finish_reason,
        usage=usage,
        model=_whole(str(answer.get("model") or "")),
        top_logprobs=_top_logprobs(choice.get("logprobs")),
    )


def error_words(value: object, name: str = "") -> Iterator[str]:
    """Yields what an error says: the texts that have the name of a message, at any depth."""
    waiting: list[tuple[str, object]] = [(name, value)]  # no recursion: an endpoint nests as deeply as it likes
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(reversed(value.items()))
        elif isinstance(value, list):
            waiting.extend((name, part) for part in reversed(value))
        elif isinstance(value, str) and any(
            part in name.lower() for part in ("error", "mess", "msg", "detail", "loc", "raw")
        ):
            yield value


def _expect_no_error(answer: Json) -> None:
    if answer.get("error") or (not answer.get("choices") and any(error_words(answer))):
        raise ErrorObjectError(answer)


def _choices(answer: Json) -> Iterator[Json]:
    """Yields the first choice of an answer or event; nothing of what is none: pings, usage, filters."""
    choices = [one for one in answer.get("choices") or () if isinstance(one, Mapping)]
    return (one for one in choices if str(one.get("index") or 0) == "0")


def _message(choice: Json) -> Json:
    """Returns a message, or the piece of one that an event holds."""
    said = choice.get("delta", choice.get("message", choice.get("text"))) or {}
    return said if isinstance(said, Mapping) else {"content": said}


def _text(content: object) -> str:
    """Joins the parts of a text; parts of another kind, as those of reasoning, are left out."""
    if isinstance(content, str | None):
        return content or ""
    parts: list[Any] = content if isinstance(content, list) else [content]
    texts = [part for part in parts if isinstance(part, str) or part.get("type", "text") in ("text", "output_text")]
    return "".join(part if isinstance(part, str) else part["text"] for part in texts)


def _finish_reason(said: object) -> str:
    """Returns "length" or "content_filter" for all words that endpoints have for a limit and a filter.

    Raises _NoAnswerError: the endpoint has broken off.
    """
    kinds = {
        "length": "length limit max trunc incomplete",
        "content_filter": "filter safety prohibit block refus sensitive guardrail recit toxic",
        "": "error abort cancel insufficient malformed",
    }
    word = _whole(str((said.get("type") if isinstance(said, Mapping) else said) or "stop"))
    kind = next((kind for kind, parts in kinds.items() if any(part in word.lower() for part in parts.split())), word)
    if not kind:
        raise _NoAnswerError("the endpoint broke off, says its finish_reason")
    return kind


def _whole(text: str) -> str:
    """Returns a text without halves of characters, which no UTF-8 can carry."""
    return text.encode("utf-8", "ignore").decode()


def _token_count(usage: object, name: str) -> int:
    """Returns a number of tokens; 0 if the endpoint does not say, or one that cannot be."""
    try:
        count = int(cast("Json", usage)[name])
    except UNREADABLE:
        return 0
    return count if 0 <= count <= 1 << 30 else 0


def _top_logprobs(logprobs: Json | None) -> tuple[TokenLogprobs, ...]:
    """Returns the alternatives of each token; none of what is written in a way of its own."""
    try:
        return tuple(
            TokenLogprobs(
                tuple((_whole(one["token"]), float(one["logprob"])) for one in place["top_logprobs"]),
                _whole(place.get("token") or ""),
            )
            for place in (logprobs or {}).get("content") or ()
        )
    except UNREADABLE:
        return ()


def _joined(body: bytes) -> Json:
    """Puts the events of a stream together to what the endpoint would have sent without streaming.

    Raises ValueError: there are none, or the stream ends before its end; ErrorObjectError: an event is an error.
    """
    pieces: dict[str, list[str]] = {}
    logprobs: list[Json] = []
    answer: dict[str, Any] = {}
    finish_reason = None
    for event in _events(body.splitlines()):
        _expect_no_error(event)
        answer |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        for choice in _choices(event):
            for name, said in _message(choice).items():
                pieces.setdefault(name, []).append(_text(said) if name == "content" else str(said or ""))
            logprobs += (choice.get("logprobs") or {}).get("content") or ()
            finish_reason = choice.get("finish_reason") or finish_reason
        finish_reason = finish_reason or event.get("[DONE]")
    if finish_reason is None:
        raise _NoAnswerError("it ends without a finish_reason and without [DONE]" if body else "it is empty")
    message = {name: "".join(said) for name, said in pieces.items()}
    return {
        **answer,
        "choices": [{"message": message, "finish_reason": finish_reason, "logprobs": {"content": logprobs}}],
    }


def _events(lines: Iterable[bytes]) -> Iterator[Json]:
    """Yields the data of server-sent events, or of lines of JSON. The final mark becomes an event of its own."""
    data: list[bytes] = []
    for line in (*lines, b""):
        # Comments that keep the connection open and event names are passed over, as is empty data.
        if line.startswith((b"data:", b"{")):
            data.append(line.removeprefix(b"data:").strip())
        elif not line.strip():
            yield from _event(data)
            data = []


def _event(data: list[bytes]) -> Iterator[Json]:
    """Yields what some lines hold, each an event, or all together one."""
    try:
        values = [{"[DONE]": "stop"} if line == b"[DONE]" else json.loads(line) for line in data if line]
    except ValueError:
        values = [json.loads(b"\n".join(data))]
    yield from (value for value in values if isinstance(value, dict))


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
        try:
            deltas = [_message(choice) for event in _events(lines) for choice in _choices(event)]
            text = _whole(self._text + "".join(_text(delta.get("content")) for delta in deltas))
        except UNREADABLE:
            self._is_over = True
            return
        most_waiting = 1 << 16  # bytes: an event holds few tokens
        self._is_over = len(text) > self._most_chars or len(self._line) > most_waiting
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
    "elsewhere": "the answer stands in {}: turn the endpoint's reasoning parser off",
}
"""Why an answer has no text, where another request would end the same way; and what people may do."""


def _explain_empty(finish_reason: str, message: Json) -> EmptyAnswerError:
    """Says why an answer has no text, and what people may do."""
    said = [name for name, value in message.items() if value and name not in {"role", "content", "annotations"}]
    name = "tool_calls" if "function_call" in said else min(said, key=lambda one: one not in WHY_EMPTY, default="")
    found = name if name in WHY_EMPTY else "elsewhere"
    reason = finish_reason if finish_reason in WHY_EMPTY or not name else found
    advice = WHY_EMPTY.get(reason, f"finish_reason {reason}").format(name[:32])
    return EmptyAnswerError(f"the model's answer is empty ({advice})", finish_reason=reason)


class JsonProblemError(Exception):
    """An answer is not the JSON asked for. Its message names paths and rules, never the answer's own words."""


def extract_json(text: str, schema: Json) -> str:
    """Returns the JSON in an answer, without what models like to put around it, between it and beside it.

    Raises JsonProblemError: there is none, or it does not fit the schema.
    """
    problems = []
    for found in _values(text):
        parts = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
        most_inner = 8  # a model may wrap its answer in a list, or in the schema that it was given
        for value in (found, *(part for part in [*parts][:most_inner] if isinstance(part, dict))):
            try:
                return _fitting(value, schema)
            except JsonProblemError as problem:
                problems.append(problem)
    raise problems[0] if problems else JsonProblemError("no JSON")


_LOOSE = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|(?://|#)[^\n]*|/\*[^*]*\*/|,(?=\s{0,80}[}\]])')
"""Texts, and what JSON knows not between them: comments, a comma behind the last value."""


def _values(text: str) -> Iterator[object]:
    """Yields the JSON values of an answer: that which stands in fences, or the first few in the text.

    In place of one that is begun and is none comes why.
    """
    _, _, fenced = text.partition("```")
    head, _, inside = fenced.partition("\n")
    is_fenced = head.strip().lower() in ("", "json") and "```" in inside
    text = (inside.partition("```")[0] if is_fenced else text).strip()
    decode = json.JSONDecoder(strict=False).raw_decode
    for body in dict.fromkeys((text, _LOOSE.sub(r"\1", _LOOSE.sub(r"\1", text)))):
        begins, end, most_values = [at for at, letter in enumerate(body) if letter in "{["], 0, 8
        for at in (0, *begins):
            if at < end or most_values == 0:
                continue
            most_values -= 1
            try:
                value, end = decode(body, at)
                yield value
            except (ValueError, RecursionError) as error:
                if at in begins or not begins:
                    why = f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else error
                    yield JsonProblemError(f"no JSON: {why}")


def _fitting(value: object, schema: Json) -> str:
    """Returns a value as JSON, without what the schema does not know of. Raises JsonProblemError if it does not fit."""
    if isinstance(value, JsonProblemError):
        raise value
    most_comparisons = 1 << 18  # of parts of a value with parts of a schema: 2 seconds at worst
    if _size(schema) * _size(value) > most_comparisons:
        raise JsonProblemError("it has too many values for a schema of so many choices")
    value = _asked_for(value, schema)
    _check(value, schema)
    return _whole(json.dumps(value, ensure_ascii=False))


def _asked_for(value: object, schema: Json) -> object:
    """Leaves out what a schema forbids to add, and what stands around a word that it lists: "A." for "A"."""
    if isinstance(value, dict) and schema.get("additionalProperties") is False:
        known = schema.get("properties", {})
        return {name: _asked_for(part, known[name]) for name, part in value.items() if name in known}
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_asked_for(part, schema["items"]) for part in value]
    if isinstance(value, str) and value not in schema.get("enum", (value,)):
        word = value.partition(":")[0].strip(" .()*'`").lower()
        return next((one for one in schema["enum"] if str(one).lower() == word), value)
    return value


def _size(value: object) -> int:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, parts))


def _check(value: object, schema: Json) -> None:
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        rule = f"{error.validator}: {json.dumps(error.validator_value)}"[:200]
        raise JsonProblemError(f"{error.json_path} breaks the rule {rule}")
