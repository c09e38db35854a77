"""How is a request worded for an endpoint? All speak the same language, each leaves out some words."""

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from pipeline.llm.chat_model import ChatMessage, ChatRequest, ImagePart
from pipeline.llm.config import ModelConfig
from pipeline.llm.errors import RequestRefusedError

_log = logging.getLogger(__name__)

NAMED_FIELDS = frozenset(
    {"response_format", "json_schema", "logprobs", "max_tokens", "max_completion_tokens", "temperature", "seed"}
    | {"stream_options", "reasoning_effort"}
)
"""Fields that an endpoint names when it refuses them."""

OPTIONAL_FIELDS = NAMED_FIELDS | {"stream", "system"}
"""What an endpoint may refuse and is then asked without. OpenAI's reasoning models refuse `temperature`, and
`max_tokens`, for which another name stands there. Some endpoints do not know `seed`; the chat templates of some models
do not know the role `system`."""

Json = Mapping[str, Any]


class Dialect:
    """What a model turns out to take and to need. One that is asked finds out, all remember.

    Attributes:
        refused: optional fields that it is asked without; "whole": it answers in streams alone.
        taken: those that stood in a request that was answered.
        most_tokens: of an answer and its thoughts; fewer where the endpoint has said so.
        thinking_tokens: room that thoughts have beside an answer.
    """

    most_thinking: ClassVar[int] = 1 << 15  # tokens

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self.refused = frozenset({"json_schema"} if config.structured_output == "prompt" else ())
        self.taken: frozenset[str] = frozenset()
        self.most_tokens = 1 << 30
        self.thinking_tokens = config.thinking_tokens

    def learn_refusal(
        self, left_out: frozenset[str], sent: frozenset[str], max_tokens: int, error: RequestRefusedError
    ) -> bool:
        """Drops what was refused by name. Returns False if that is nothing; raises the error if settings insist on it.

        Args:
            left_out: fields that the refused request did without.
            sent: those that it had.
            max_tokens: of that request.
        """
        learned = error.refused_fields & OPTIONAL_FIELDS
        if "stream" in learned - sent:
            learned = learned - {"stream"} | {"whole"}
        smaller = [number for number in error.numbers if 16 <= number < max_tokens]  # noqa: PLR2004 - no limit is less
        if max_tokens == self.most_tokens and max_tokens in error.numbers:
            smaller.append(max_tokens - 1)  # the limit that was named is the first that is refused
        if smaller and learned & {"max_tokens", "max_completion_tokens"}:
            self.most_tokens = max(smaller)
            _log.warning("endpoint_refuses model=%s max_tokens=%d", self._config.model, max_tokens)
            return True
        if learned <= left_out:
            return False
        self.refuse(left_out | learned, error)
        return True

    def refuse(self, fields: frozenset[str], error: RequestRefusedError) -> None:
        """Remembers what is left out from now on. Raises the error if settings insist on it."""
        if self._config.structured_output == "json_schema" and not takes_schemas(fields):
            raise error
        if not fields <= self.refused:
            names = ",".join(sorted(fields - self.refused))
            self.refused |= fields
            _log.warning("endpoint_refuses model=%s fields=%s", self._config.model, names)

    def doubts(self, sent: frozenset[str]) -> list[frozenset[str]]:
        """Returns what a refusal that names no field may be of: each that was in no answered request, then all."""
        doubted = sorted(sent - self.taken)
        return [*map(frozenset, ([one] for one in doubted)), *([frozenset(doubted)] if len(doubted) > 1 else [])]

    def learn_thoughts(self, tokens: int) -> None:
        """Gives thoughts the room that those of an answer took, and half as much again."""
        if tokens > 64:  # noqa: PLR2004 - fewer may be the tags of a chat template
            self.thinking_tokens = min(self.most_thinking, max(self.thinking_tokens, round(1.5 * tokens)))

    def allow_more(self, thinking: int) -> bool:
        """Gives thoughts more room, unless another call has done so meanwhile; False where there is no more."""
        if self.thinking_tokens == thinking:
            self.thinking_tokens = min(self.most_thinking, max(1_024, 2 * thinking))
        return self.thinking_tokens > thinking


def sent_fields(body: Json) -> frozenset[str]:
    """Returns the optional fields of a request."""
    has_system = len(body["messages"]) > 1 and body["messages"][0]["role"] == "system"
    return OPTIONAL_FIELDS & body.keys() | ({"system"} if has_system else set())


class Trial:
    """What one call leaves out, by turns, after a refusal that names no field."""

    def __init__(self, dialect: Dialect) -> None:
        self.left_out: frozenset[str] = frozenset()
        self._dialect = dialect
        self._refusal: RequestRefusedError | None = None
        self._doubts: list[frozenset[str]] = []

    def learn(self, error: RequestRefusedError, left_out: frozenset[str], body: Json, max_tokens: int) -> None:
        """Leaves out something else. Raises the first refusal where nothing is left that it may be of."""
        sent = sent_fields(body)
        if self._dialect.learn_refusal(left_out, sent, max_tokens, error):
            return
        if self._refusal is None:
            self._refusal, self._doubts = error, self._dialect.doubts(sent)
        if error.refused_fields - OPTIONAL_FIELDS or not self._doubts:
            raise self._refusal
        self.left_out = self._doubts.pop(0)

    def remember(self, body: Json) -> None:
        """Tells the dialect what was answered."""
        if self._refusal is not None:
            self._dialect.refuse(self.left_out, self._refusal)
        self._dialect.taken |= sent_fields(body)


def takes_schemas(refused: frozenset[str]) -> bool:
    """Tells whether an endpoint that refused these fields can be made to enforce a JSON schema."""
    return not refused & {"response_format", "json_schema"}


def request_body(request: ChatRequest, refused: frozenset[str], config: ModelConfig) -> dict[str, Any]:
    """Returns the body of POST /chat/completions, without the fields that the endpoint has refused."""
    messages, schema, has_form = request.messages, request.json_schema, takes_schemas(refused)
    if schema is not None and not has_form:
        messages = with_schema_prompt(messages, schema)
    if "system" in refused:
        messages = _without_system(messages)
    body: dict[str, Any] = {
        "model": config.model,
        "messages": [{"role": message.role, "content": _content(message)} for message in messages],
        "max_completion_tokens" if "max_tokens" in refused else "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if schema is not None and has_form:
        body["response_format"] = response_format(schema)
    if request.top_logprobs and "logprobs" not in refused:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if config.reasoning_effort:
        body["reasoning_effort"] = config.reasoning_effort
    if (config.stream or request.on_draft is not None or "whole" in refused) and "stream" not in refused:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    body |= config.extra_body
    return {name: value for name, value in body.items() if name not in refused}


def _without_system(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Puts the words of the system in front of the user's."""
    first, *rest = messages
    if first.role != "system" or not rest:
        return messages
    return (replace(rest[0], content=f"{first.content}\n\n{rest[0].content}"), *rest[1:])


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    """Returns a list of parts only where it must be one: many endpoints take nothing but a string."""
    if not message.images:
        return message.content
    return [{"type": "text", "text": message.content}, *(_image_url(image) for image in message.images)]


def _image_url(image: ImagePart) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{data}"}}


def response_format(schema: Json) -> dict[str, Any]:
    """Returns the field that makes an endpoint enforce a schema."""
    name = "_".join(str(schema.get("title") or "answer").split())[:64]
    # OpenAI refuses strict mode for a schema that leaves anything open.
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": _is_closed(schema)}}


def with_schema_prompt(messages: tuple[ChatMessage, ...], schema: Json) -> tuple[ChatMessage, ...]:
    """Says in the system message what an endpoint cannot be made to enforce."""
    words = f"Answer with one JSON value and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"
    if messages and messages[0].role == "system":
        return (ChatMessage("system", f"{messages[0].content}\n\n{words}"), *messages[1:])
    return (ChatMessage("system", words), *messages)


def _is_closed(schema: object) -> bool:
    """Tells whether every object of a schema lists all its properties as required and allows no others."""
    if isinstance(schema, list):
        return all(_is_closed(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
            return False
    return all(_is_closed(part) for part in schema.values())
