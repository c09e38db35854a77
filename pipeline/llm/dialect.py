"""How is a request worded for an endpoint? All speak the same language, each leaves out some words."""

import base64
import json
import logging
import re
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
`max_tokens`, for which another name stands there; `seed` is unknown to some endpoints, the role `system` to the chat
templates of some models."""

Json = Mapping[str, Any]


class Dialect:
    """What a model turns out to take and to need. One that is asked finds out, all remember.

    Attributes:
        refused: optional fields that it is asked without.
        most_tokens: of an answer and its thoughts; fewer where the endpoint has said so.
        thinking_tokens: room that thoughts have beside an answer.
    """

    most_thinking: ClassVar[int] = 1 << 15  # tokens

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self.refused = frozenset({"json_schema"} if config.structured_output == "prompt" else ())
        self.most_tokens = 1 << 30
        self.thinking_tokens = config.thinking_tokens

    def learn_refusal(self, left_out: frozenset[str], max_tokens: int, error: RequestRefusedError) -> None:
        """Drops what was refused; raises the error if that is nothing, or a schema that the settings insist on.

        Args:
            left_out: fields that the refused request did without.
            max_tokens: of that request.
        """
        learned = error.refused_fields & OPTIONAL_FIELDS
        smaller = [number for number in error.numbers if 16 <= number < max_tokens]  # noqa: PLR2004 - no limit is less
        if smaller and learned & {"max_tokens", "max_completion_tokens"}:
            self.most_tokens = max(smaller)
            _log.warning("endpoint_refuses model=%s max_tokens=%d", self._config.model, max_tokens)
            return
        insists = self._config.structured_output == "json_schema" and not takes_schemas(left_out | learned)
        if learned <= left_out or insists:
            raise error
        if not learned <= self.refused:
            self.refused |= learned
            fields = ",".join(sorted(error.refused_fields))
            _log.warning("endpoint_refuses model=%s fields=%s", self._config.model, fields)

    def learn_thoughts(self, tokens: int) -> None:
        """Gives thoughts the room that those of an answer took, and half as much again."""
        if tokens > 64:  # noqa: PLR2004 - fewer may be the tags of a chat template
            self.thinking_tokens = min(self.most_thinking, max(self.thinking_tokens, round(1.5 * tokens)))

    def allow_more(self, thinking: int) -> bool:
        """Gives thoughts more room, unless another call has done so meanwhile; False where there is no more."""
        if self.thinking_tokens == thinking:
            self.thinking_tokens = min(self.most_thinking, max(1_024, 2 * thinking))
        return self.thinking_tokens > thinking


def takes_schemas(refused: frozenset[str]) -> bool:
    """Tells whether an endpoint that refused these fields can be made to enforce a JSON schema."""
    return not refused & {"response_format", "json_schema"}


def request_body(request: ChatRequest, refused: frozenset[str], config: ModelConfig) -> dict[str, Any]:
    """Returns the body of POST /chat/completions, without the fields that the endpoint has refused."""
    messages = _without_system(request.messages) if "system" in refused else request.messages
    body: dict[str, Any] = {
        "model": config.model,
        "messages": [{"role": message.role, "content": _content(message)} for message in messages],
        "max_completion_tokens" if "max_tokens" in refused else "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.json_schema is not None and takes_schemas(refused):
        body["response_format"] = response_format(request.json_schema)
    if request.top_logprobs and "logprobs" not in refused:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if config.reasoning_effort:
        body["reasoning_effort"] = config.reasoning_effort
    if (config.stream or request.on_draft is not None) and "stream" not in refused:
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
    name = re.sub(r"\W+", "_", str(schema.get("title") or "answer"))[:64]
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
