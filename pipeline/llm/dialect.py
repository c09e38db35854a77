"""Which optional fields does an endpoint accept? All speak the same language, each leaves out some words."""

import base64
from dataclasses import dataclass
from typing import Any

from pipeline.llm.chat_model import ChatMessage, ChatRequest, ImagePart
from pipeline.llm.completion import response_format
from pipeline.llm.errors import RequestRefusedError

_OPTIONAL = frozenset(
    ["response_format", "json_schema", "logprobs", "max_tokens", "temperature", "seed", "stream", "stream_options"]
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The optional fields that an endpoint does not take; at first none.

    OpenAI's reasoning models refuse `temperature`, and `max_tokens`, for which another name stands there. `seed` is
    unknown to some endpoints.
    """

    refused: frozenset[str] = frozenset()

    @property
    def has_schemas(self) -> bool:
        """Whether the endpoint can be made to enforce a JSON schema."""
        return not self.refused & {"response_format", "json_schema"}

    def without(self, error: RequestRefusedError) -> "Dialect":
        """Returns the dialect after a refusal; an equal one if the refusal names nothing that can be left out."""
        return Dialect(self.refused | error.refused_fields & _OPTIONAL)


def request_body(request: ChatRequest, dialect: Dialect, *, model: str, stream: bool) -> dict[str, Any]:
    """Returns the body of POST /chat/completions."""
    refused = dialect.refused
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": _content(message)} for message in request.messages],
        "max_completion_tokens" if "max_tokens" in refused else "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.json_schema is not None and dialect.has_schemas:
        body["response_format"] = response_format(request.json_schema)
    if request.top_logprobs and "logprobs" not in refused:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if (stream or request.on_draft is not None) and "stream" not in refused:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return {name: value for name, value in body.items() if name not in refused}


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    """Returns a list of parts only where it must be one: many endpoints take nothing but a string."""
    if not message.images:
        return message.content
    return [{"type": "text", "text": message.content}, *(_image_url(image) for image in message.images)]


def _image_url(image: ImagePart) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{data}"}}
