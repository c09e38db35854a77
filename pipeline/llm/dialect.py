"""Which optional fields does an endpoint accept? All speak the same language, each leaves out some words."""

import base64
from dataclasses import dataclass, replace
from typing import Any

from pipeline.llm.chat_model import ChatMessage, ChatRequest, ImagePart
from pipeline.llm.completion import response_format
from pipeline.llm.errors import RequestRefusedError


@dataclass(frozen=True, slots=True)
class Dialect:
    """The optional fields that a request may have. It starts with all and loses those that are refused.

    Attributes:
        temperature: `temperature`; OpenAI's reasoning models refuse it.
        seed: `seed`; deprecated at OpenAI, unknown to some others.
        token_limit: "max_tokens", or what replaces it at OpenAI.
    """

    json_schema: bool = True
    logprobs: bool = True
    temperature: bool = True
    seed: bool = True
    stream: bool = True
    stream_options: bool = True
    token_limit: str = "max_tokens"  # noqa: S105 - the name of a field

    def without(self, error: RequestRefusedError) -> "Dialect":
        """Returns the dialect after a refusal; an equal one if the refusal names nothing that can be left out."""
        refused = error.refused_fields
        return replace(
            self,
            json_schema=self.json_schema and not refused & {"response_format", "json_schema"},
            logprobs=self.logprobs and "logprobs" not in refused,
            temperature=self.temperature and "temperature" not in refused,
            seed=self.seed and "seed" not in refused,
            stream=self.stream and "stream" not in refused,
            stream_options=self.stream_options and "stream_options" not in refused,
            token_limit="max_completion_tokens" if "max_tokens" in refused else self.token_limit,
        )


def request_body(request: ChatRequest, dialect: Dialect, *, model: str, stream: bool) -> dict[str, Any]:
    """Returns the body of POST /chat/completions."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": _content(message)} for message in request.messages],
        dialect.token_limit: request.max_tokens,
    }
    if dialect.temperature:
        body["temperature"] = request.temperature
    if request.seed is not None and dialect.seed:
        body["seed"] = request.seed
    if request.json_schema is not None and dialect.json_schema:
        body["response_format"] = response_format(request.json_schema)
    if request.top_logprobs and dialect.logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if (stream or request.on_draft is not None) and dialect.stream:
        body["stream"] = True
        if dialect.stream_options:
            body["stream_options"] = {"include_usage": True}
    return body


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    """Returns a list of parts only where it must be one: many endpoints take nothing but a string."""
    if not message.images:
        return message.content
    return [{"type": "text", "text": message.content}, *(_image_url(image) for image in message.images)]


def _image_url(image: ImagePart) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{data}"}}
