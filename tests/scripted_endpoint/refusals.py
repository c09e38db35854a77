"""Requests that the scripted endpoint refuses, in the words of OpenAI and llama.cpp."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.scripted_endpoint.replies import answer
from tests.scripted_endpoint.script import Script


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error answer."""

    status: int
    message: str
    code: str
    param: str | None = None

    @property
    def body(self) -> dict[str, object]:
        """As OpenAI sends it."""
        error = {"message": self.message, "type": "invalid_request_error", "param": self.param, "code": self.code}
        return {"error": error}


def refusal(script: Script, headers: Mapping[str, str], body: Mapping[str, Any]) -> Refusal | None:
    """Returns why a request is wrong, or None."""
    if script.api_key is not None and headers.get("authorization") != f"Bearer {script.api_key}":
        given = headers.get("authorization", "").removeprefix("Bearer ")
        return Refusal(401, f"Incorrect API key provided: {given}.", "invalid_api_key")
    if body["model"] not in script.models:
        return Refusal(404, f"The model `{body['model']}` does not exist.", "model_not_found")
    return _unsupported(script, body) or _unseen(script, body) or _too_long(script, body)


def _unsupported(script: Script, body: Mapping[str, Any]) -> Refusal | None:
    refused = [
        *(["response_format"] if not script.supports_json_schema else []),
        *(["logprobs"] if not script.supports_logprobs else []),
        *(["seed"] if not script.supports_seed else []),
        *(["stream"] if script.streams == "refused" else []),
        *(["max_tokens", "temperature"] if script.is_reasoning_model else []),
    ]
    for param in refused:
        if param in body:
            hint = " Use 'max_completion_tokens' instead." if param == "max_tokens" else ""
            message = f"Unsupported parameter: '{param}' is not supported with this model.{hint}"
            return Refusal(400, message, "unsupported_parameter", param)
    return None


def _unseen(script: Script, body: Mapping[str, Any]) -> Refusal | None:
    if script.supports_images or all(isinstance(message["content"], str) for message in body["messages"]):
        return None
    hint = "hint: if this is unexpected, you may need to provide the mmproj"
    return Refusal(500, f"image input is not supported - {hint}", "server_error")


def _too_long(script: Script, body: Mapping[str, Any]) -> Refusal | None:
    if script.context_tokens is None:
        return None
    tokens = answer(body, script.replies, script.answer_chars).prompt_tokens
    if tokens <= script.context_tokens:
        return None
    message = f"This model's maximum context length is {script.context_tokens} tokens, your prompt has {tokens}."
    return Refusal(400, message, "context_length_exceeded", "messages")
