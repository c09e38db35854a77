"""Reads what an endpoint says is wrong with a request."""

import json
import re
from dataclasses import dataclass

_OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error"}
# The words of OpenAI, vLLM, llama.cpp, TGI and Anthropic.
_OVERFLOW_WORDS = re.compile(
    r"maximum context length|max_model_len|context (size|window|length)|max_new_tokens. must be|"
    r"exceeds (the )?(maximum|available) (input|prompt|context)|(prompt|input) is too long",
    re.IGNORECASE,
)
_UNSUPPORTED_WORDS = re.compile(
    r"unsupported|not support|does not accept|unrecognized|unknown (parameter|field)", re.IGNORECASE
)
_IMAGE_WORDS = re.compile(r"\b(image_url|image input|images?|multimodal|vision)\b", re.IGNORECASE)
_OPTIONAL_FIELDS = (
    *("response_format", "json_schema", "logprobs", "max_tokens", "temperature", "seed", "stream_options"),
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What the endpoint says is wrong. Its message may repeat the request: quote it with care.

    Attributes:
        code: the endpoint's code or type, in lower case; empty if it has none.
        param: the request's field at fault; empty if it names none.
        message: in the endpoint's words.
    """

    code: str
    param: str
    message: str

    @property
    def is_overflow(self) -> bool:
        """Whether the request is too long for the model."""
        return self.code in _OVERFLOW_CODES or bool(_OVERFLOW_WORDS.search(self.message))

    @property
    def is_about_model(self) -> bool:
        """Whether the model is named as the thing that is not there."""
        return "model" in f"{self.code} {self.param} {self.message}".lower()

    @property
    def is_about_images(self) -> bool:
        """Whether pictures are refused as such. llama.cpp says so with status 500."""
        return bool(_IMAGE_WORDS.search(self.message) and _UNSUPPORTED_WORDS.search(self.message))

    def refused_fields(self) -> frozenset[str]:
        """Names the optional fields of our request that the endpoint does not take."""
        is_unsupported = "unsupported" in self.code or bool(_UNSUPPORTED_WORDS.search(self.message))
        named = {field for field in _OPTIONAL_FIELDS if self.param.startswith(field) or field in self.message}
        # These two are also complained about for their values, which sending them another way would not mend.
        return frozenset(named if is_unsupported else named - {"max_tokens", "temperature"})


def read_complaint(body: bytes) -> Complaint:
    """Reads the error objects of OpenAI ({"error": {...}}), vLLM ({...}), Ollama ({"error": "..."}), or plain text."""
    try:
        value = json.loads(body)
    except ValueError:
        return Complaint("", "", body[:2000].decode("utf-8", "replace"))
    inner = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(inner, dict):
        return Complaint("", "", str(inner))
    code = inner.get("code") if isinstance(inner.get("code"), str) else inner.get("type")
    message = inner.get("message") or inner.get("detail") or ""
    return Complaint(str(code or "").lower(), str(inner.get("param") or ""), str(message))
