"""What endpoints really send: good answers dressed otherwise, thoughts, refusals that another request would not get.

Each oddity was met with some endpoint or model; the inputs are our own.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.replies import Answer, answer, text_of

Json = Mapping[str, Any]
GATEWAY, MOST_TOKENS, TRUE_CONTEXT, _CLOSED = 502, 1_024, 2_048, 499


@dataclass(frozen=True, slots=True)
class Sent:
    """One HTTP answer."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


SILENCE = Sent(b"", 0)
"""No answer at all."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    Attributes:
        number: of the request, from 1.
        batch: of the map, from 1; 0 for other requests.
    """

    body: Json
    number: int
    batch: int = 0

    @property
    def good(self) -> Answer:
        """What a careful model says."""
        return answer(self.body, (), 2_000, write)

    @property
    def prompt(self) -> str:
        """All that is asked."""
        return "\n".join(map(text_of, self.body["messages"]))

    @property
    def has_system(self) -> bool:
        """Whether a message has the role "system"."""
        return any(message["role"] == "system" for message in self.body["messages"])

    @property
    def most_tokens(self) -> int:
        """Of the answer."""
        return int(self.body.get("max_tokens") or self.body.get("max_completion_tokens") or 1 << 20)


Play = Callable[[Asked], Sent]


@dataclass(frozen=True, slots=True)
class Oddity:
    """One way of an endpoint.

    Attributes:
        group: of the kind of fault: A to F, or "thinking".
        fails_with: words of the error that a summary must end with; empty if it must be done.
        warns: whether a finished summary must say what it lacks.
    """

    group: str
    name: str
    play: Play
    fails_with: str = ""
    warns: bool = False


def sent(content: object, made: Answer, *, finish: object = "stop", **message: object) -> Sent:
    """A completion, whole."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": made.prompt_tokens, "completion_tokens": made.completion_tokens}
    return Sent(json.dumps({"model": "odd", "choices": [choice], "usage": usage}).encode())


def refused(message: object, status: int = 400, **fields: object) -> Sent:
    """An error."""
    return Sent(json.dumps({"error": {"message": message, **fields}}).encode(), status)


def _dressed(dress: Callable[[str], object]) -> Play:
    return lambda asked: sent(dress(asked.good.text), asked.good, finish=asked.good.finish_reason)


def _parts(text: str) -> list[dict[str, str]]:
    half = len(text) // 2
    thought = {"type": "reasoning", "text": "Hm, pumps."}
    return [thought, {"type": "text", "text": text[:half]}, {"type": "text", "text": text[half:]}]


def _stream(*before: str, after: tuple[str, ...] = ("data: [DONE]",), kind: str = "text/event-stream") -> Play:
    """A stream of three events, with lines in front of and behind it."""

    def play(asked: Asked) -> Sent:
        text, finish = asked.good.text, asked.good.finish_reason
        half = len(text) // 2
        events = [
            {"choices": [{"index": 0, "delta": {"content": text[:half]}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {"content": text[half:]}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        ]
        lines = [*before, *(f"data: {json.dumps(event)}" for event in events), *after]
        return Sent("\n\n".join([*lines, ""]).encode(), content_type=kind)

    return play


def _unfinished(asked: Asked) -> Sent:
    event = {"choices": [{"index": 0, "delta": {"content": asked.good.text}, "finish_reason": None}]}
    return Sent(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode(), content_type="text/event-stream")


def _unless(is_refused: Callable[[Asked], bool], refusal: Sent) -> Play:
    return lambda asked: refusal if is_refused(asked) else _dressed(str)(asked)


def _system(message: str, status: int = 400, **fields: object) -> Play:
    return _unless(lambda asked: asked.has_system, refused(message, status, **fields))


def _thinks(tokens: int) -> Play:
    """A model that thinks before every answer; nobody sees it, and its tokens count."""

    def play(asked: Asked) -> Sent:
        room = asked.most_tokens - tokens
        if room <= 0:
            cut = Answer("", "length", 500, asked.most_tokens)
            return sent(None, cut, finish="length", reasoning_content="Hm. " * 50)
        good = answer({**asked.body, "max_tokens": room}, (), 2_000, write)
        thought = Answer(good.text, good.finish_reason, good.prompt_tokens, good.completion_tokens + tokens)
        return sent(good.text, thought, finish=good.finish_reason, reasoning_content="Hm. " * 50)

    return play


def _overflows(message: str, *, in_list: bool = False) -> Play:
    def play(asked: Asked) -> Sent:
        tokens = asked.good.prompt_tokens
        if tokens <= TRUE_CONTEXT:
            return _dressed(str)(asked)
        error = {"error": {"code": 400, "message": message.format(tokens=tokens, most=TRUE_CONTEXT)}}
        return Sent(json.dumps([error] if in_list else error).encode(), 400)

    return play


def _cuts_prompt(asked: Asked) -> Sent:
    made = Answer("The pump runs.", "stop", min(TRUE_CONTEXT, asked.good.prompt_tokens), 5)
    return sent(made.text, made)


CHANNELS = "<|channel|>analysis<|message|>Hm, pumps.<|end|><|start|>assistant<|channel|>final<|message|>{}"
_NO_DELTA = 'data: {"choices": [{"index": 0, "finish_reason": null, "content_filter_offsets": {}}]}'
_NULL_DELTA = 'data: {"choices": [{"index": 0, "delta": null, "finish_reason": null}]}'
_FILTERED = refused("The response was filtered by the content management policy", code="content_filter")
_EMPTY = sent("", Answer("", "stop", 500, 0))
_UPSTREAM = refused("Provider returned error", 200, code=GATEWAY)
_LIMIT = "max_tokens is too large: 2730. This model supports at most 1024 completion tokens"


def _limited(asked: Asked) -> Sent:
    made = answer({**asked.body, "max_tokens": 300}, (), 2_000, write) if asked.batch else asked.good
    return sent(made.text or "and so on.", made, finish="stop" if made.finish_reason == "stop" else "MAX_TOKENS")


def _filtered(asked: Asked) -> Sent:
    return sent("", asked.good, finish="content_filter") if asked.batch == 1 else _dressed(str)(asked)


def _refusing(asked: Asked) -> Sent:
    return sent(None, asked.good, refusal="I cannot help with that.") if asked.batch == 1 else _dressed(str)(asked)


def _in_lines(asked: Asked) -> Sent:
    """A stream whose events take several lines of data each; another choice stands between."""
    whole = json.loads(_dressed(str)(asked).body)["choices"][0]
    other = {"index": 1, "delta": {"content": "Okay, let me look."}}
    events = [{"choices": [other]}, {"choices": [{"delta": whole["message"], "finish_reason": whole["finish_reason"]}]}]
    lines = ["data:" + json.dumps(event, indent=1).replace("\n", "\ndata:") for event in events]
    return Sent("\r\n\r\n".join([*lines, "data: [DONE]"]).replace("\ndata", "\r\ndata").encode())


def _streams_alone(asked: Asked) -> Sent:
    only = "This model only support stream mode, please enable the stream parameter"
    return _stream()(asked) if asked.body.get("stream") else refused(only)


def _overflows_in_stream(asked: Asked) -> Sent:
    sent = _overflows("`inputs` tokens + `max_new_tokens` must be <= {most}. Given: {tokens} `inputs` tokens")(asked)
    return Sent(b"data: " + sent.body + b"\n\ndata: [DONE]\n\n") if sent.status != HTTPStatus.OK else sent


def _beside(**odd: object) -> Play:
    """A good answer with something odd beside its text."""
    return lambda asked: Sent(json.dumps([{**json.loads(_dressed(str)(asked).body), **odd}]).encode())


ODDITIES = (
    Oddity("A", "text parts", _dressed(_parts)),
    Oddity("A", "one part as an object", _dressed(lambda text: {"type": "text", "text": text})),
    Oddity("A", "mark of byte order", lambda asked: Sent(b"\xef\xbb\xbf\n" + _dressed(str)(asked).body)),
    Oddity("A", "stream as JSON", _stream(kind="application/json")),
    Oddity("A", "stream as plain text", _stream(kind="text/plain")),
    Oddity("A", "ping", _stream('event: ping\ndata: {"type": "ping"}')),
    Oddity("A", "empty data", _stream("data:", "data: ")),
    Oddity("A", "comments and a number", _stream(": hold on", "retry: 3000\nid: 7", "data: 7")),
    Oddity("A", "no delta", _stream(_NO_DELTA, _NULL_DELTA, 'data: {"choices": []}')),
    Oddity("A", "usage behind the end", _stream(after=("data: [DONE]", 'data: {"choices": [], "usage": {}}'))),
    Oddity("A", "no mark of the end", _stream(after=())),
    Oddity("A", "no finish reason", _unfinished),
    Oddity("A", "events of several lines, another choice", _in_lines),
    Oddity("A", "in a list, counts that cannot be", _beside(usage={"prompt_tokens": "n/a", "completion_tokens": -1})),
    Oddity("A", "limit in other words", _limited, warns=True),
    Oddity("A", "text in reasoning", lambda asked: sent(None, asked.good, reasoning_content="T"), "reasoning_content"),
    Oddity("A", "tool call", lambda asked: sent(None, asked.good, tool_calls=[{"id": "1"}]), "calls a tool"),
    Oddity("B", "end of thoughts alone", _dressed("Okay, let me look.\n</think>\n\n{}".format)),
    Oddity("B", "thoughts", _dressed("<think>Okay, let me look.</think>\n{}".format)),
    Oddity("B", "thoughts in brackets", _dressed("[THINK]Okay, let me look.[/THINK]{}".format)),
    Oddity("B", "thoughts of Kimi", _dressed("◁think▷Okay, let me look.◁/think▷{}".format)),
    Oddity("B", "channels", _dressed(CHANNELS.format)),
    Oddity("B", "channels without tags", _dressed("analysisOkay, let me look.assistantfinal{}".format)),
    Oddity("B", "stop token", _dressed("{}<|im_end|>".format)),
    Oddity("B", "stop tokens and blanks", _dressed("{}</s> <|eot_id|>\n".format)),
    Oddity("B", "another turn", _dressed("{}<|im_end|>\n<|im_start|>user\nOkay, let me look.".format)),
    Oddity("B", "tag in front", _dressed("<|im_start|>assistant\n{}".format)),
    Oddity(
        "B", "other tags, an answer in tags", _dressed("<Thinking >Hm, pumps</Thinking><answer>\n{}</answer>".format)
    ),
    Oddity("B", "tokens of thoughts", _dressed("<|START_THINKING|>Hm, pumps<|END_THINKING|><|START_TEXT|>{}".format)),
    Oddity("B", "another document", _dressed("{}<|endoftext|>Okay, let me look.".format)),
    Oddity("B", "control characters", _dressed("\x1b[31m\x00{}\x07".format)),
    Oddity("C", "no system role", _system("System role not supported")),
    Oddity("C", "roles in turn", _system("Conversation roles must alternate user/assistant/user/assistant/...")),
    Oddity("C", "no system role, 500", _system("Only user, assistant and tool roles are supported, got system.", 500)),
    Oddity("C", "no reason", _system("Nein.")),
    Oddity("C", "grammar", _unless(lambda asked: "response_format" in asked.body, refused("no grammar backend", 500))),
    Oddity("C", "streams alone", _streams_alone),
    Oddity("C", "role by its place", _system("Invalid value", param="messages[0].role")),
    Oddity("C", "limit too large", _unless(lambda asked: asked.most_tokens > MOST_TOKENS, refused(_LIMIT))),
    Oddity(
        "C",
        "no temperature",
        _unless(lambda asked: "temperature" in asked.body, refused("`temperature` is deprecated for this model.")),
    ),
    Oddity(
        "C",
        "another name of the limit",
        _unless(
            lambda asked: "max_tokens" in asked.body, refused("'max_tokens' is wrong. Use 'max_completion_tokens'.")
        ),
    ),
    Oddity(
        "C",
        "overflow in a list",
        _overflows(
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({most}).", in_list=True
        ),
    ),
    Oddity("C", "region", lambda _: refused("Country, region, or territory not supported", 403), "territory"),
    Oddity("C", "wrong key, 400", lambda _: refused("API key not valid. Pass a valid API key."), "refuses the API key"),
    Oddity("D", "filter", _filtered, warns=True),
    Oddity("D", "filter, 400", _unless(lambda asked: asked.batch == 1, _FILTERED), warns=True),
    Oddity("D", "model refuses", _refusing, warns=True),
    Oddity("D", "no topics", _unless(lambda asked: "key topics" in asked.prompt, _EMPTY), warns=True),
    Oddity("D", "no verdict", _unless(lambda asked: "PASS or FAIL" in asked.prompt, _EMPTY), warns=True),
    Oddity(
        "D",
        "real context",
        _overflows("Prompt contains {tokens} tokens, too large for model with {most} maximum context length"),
    ),
    Oddity("D", "real context, in a stream", _overflows_in_stream),
    Oddity("E", "reads the end alone", _cuts_prompt, "llm.context_tokens"),
    Oddity("F", "error with 200 once", _unless(lambda asked: asked.number == 1, _UPSTREAM)),
    Oddity("F", "error with 200", lambda _: refused("the model is overloaded", 200, code=GATEWAY), "overloaded"),
    Oddity("F", "wrong key with 200", lambda _: refused("Invalid API key", 200, code=401), "refuses the API key"),
    Oddity("F", "words elsewhere", lambda _: Sent(b'{"base_resp": {"status_msg": "no balance"}}'), "no balance"),
    Oddity("F", "error of the proxy once", _unless(lambda asked: asked.number == 1, Sent(b"<p>busy</p>", _CLOSED))),
    Oddity("F", "no choices", lambda _: Sent(b'{"choices": []}'), "no choices"),
    Oddity("F", "null choices", lambda _: Sent(b'{"choices": null}'), "no choices"),
    Oddity(
        "thinking",
        "thinks more than the limit",
        lambda asked: refused(_LIMIT) if asked.most_tokens > MOST_TOKENS else _thinks(2_500)(asked),
        "used up max_tokens",
    ),
    *(Oddity("thinking", f"thinks {tokens} tokens", _thinks(tokens)) for tokens in (800, 1_500, 2_500)),
)
