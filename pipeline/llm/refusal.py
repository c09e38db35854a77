"""Turns an HTTP status that is no success into an error of our tree, and says whether another attempt is worth it.

What the endpoint says is wrong with the request is read from its answer, and quoted unless it holds what nobody else
may read; so is the time to wait.
"""

import json
import math
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from pydantic import SecretStr

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.config import RetryConfig
from pipeline.llm.dialect import OPTIONAL_FIELDS
from pipeline.llm.errors import (
    AnswerTimeoutError,
    AuthenticationFailedError,
    BadAnswerError,
    ConnectionFailedError,
    ContextOverflowError,
    EmptyAnswerError,
    EndpointBusyError,
    EndpointFailedError,
    EndpointUnavailableError,
    LlmError,
    QuotaExhaustedError,
    RequestRefusedError,
    UnknownModelError,
)

_OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error"}
# The words of OpenAI, vLLM, llama.cpp, TGI and Anthropic.
_OVERFLOW_WORDS = re.compile(
    r"maximum context length|max_model_len|context (size|window|length)|max_new_tokens. must be|"
    r"exceeds (the )?(maximum|available) (input|prompt|context)|(prompt|input) is too long",
    re.IGNORECASE,
)
_UNSUPPORTED_WORDS = (
    *("unsupported", "not support", "does not accept", "unrecognized", "unknown parameter", "unknown field"),
)
_IMAGE_WORDS = re.compile(r"\b(image_url|image input|images?|multimodal|vision)\b", re.IGNORECASE)
_STREAM_WORDS = re.compile(r"\bstream(ing)?\b", re.IGNORECASE)


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
        return self._says_unsupported and bool(_IMAGE_WORDS.search(self.message))

    @property
    def _says_unsupported(self) -> bool:
        message = self.message.lower()
        return any(words in message for words in _UNSUPPORTED_WORDS)

    def refused_fields(self) -> frozenset[str]:
        """Names the optional fields of our request that the endpoint does not take."""
        is_unsupported = "unsupported" in self.code or self._says_unsupported
        named = {
            field for field in OPTIONAL_FIELDS - {"stream"} if self.param.startswith(field) or field in self.message
        }
        if self.param == "stream" or (not named and is_unsupported and _STREAM_WORDS.search(self.message)):
            named.add("stream")
        # These two are also complained about for their values, which sending them another way would not mend.
        return frozenset(named if is_unsupported else named - {"max_tokens", "temperature"})


def read_complaint(body: bytes) -> Complaint:
    """Reads the error objects of OpenAI ({"error": {...}}), vLLM ({...}), Ollama ({"error": "..."}), or plain text."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return Complaint("", "", body[:2000].decode("utf-8", "replace"))
    inner = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(inner, dict):
        return Complaint("", "", str(inner))
    code = inner.get("code") if isinstance(inner.get("code"), str) else inner.get("type")
    message = inner.get("message") or inner.get("detail") or ""
    return Complaint(str(code or "").lower(), str(inner.get("param") or ""), str(message))


IMAGES = "images"
"""What `RequestRefusedError.refused_fields` calls the pictures of a message."""

_BUSY = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, 529}  # 529 is Anthropic's "overloaded"
_TRANSIENT = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY}
_DENIED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


def refusal(status: int, headers: Mapping[str, str], complaint: Complaint, quote: str) -> LlmError:
    """Returns the error to raise.

    Args:
        status: anything but 2xx.
        quote: the endpoint's words as they may be shown; empty if none may.
    """
    said = f": {quote}" if quote else ""
    if status == HTTPStatus.PAYMENT_REQUIRED or complaint.code == "insufficient_quota":
        return QuotaExhaustedError(f"the account has no credit left (HTTP {status}); pay, or set another API key")
    if complaint.is_about_images:
        advice = f"the endpoint takes no images (HTTP {status}){said}"
        return RequestRefusedError(advice, status=status, refused_fields=frozenset({IMAGES}))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _BUSY | _TRANSIENT:
        return _unavailable(status, retry_after_s(headers), said)
    if status in _DENIED:
        return AuthenticationFailedError(
            f"the endpoint refuses the API key (HTTP {status}); set the right one, with access to the model"
        )
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or complaint.is_overflow:
        return ContextOverflowError(
            f"prompt and answer do not fit into the model's context (HTTP {status}){said}; set context_tokens to what "
            "the model holds"
        )
    return _refused(status, complaint, said)


def _unavailable(status: int, wait_s: float | None, said: str) -> LlmError:
    if status in _BUSY or wait_s is not None:
        later = "" if wait_s is None else f"; it asks to be called again in {wait_s:g} s"
        return EndpointBusyError(f"the endpoint is busy (HTTP {status}){later}", retry_after_s=wait_s)
    return EndpointFailedError(f"the endpoint failed (HTTP {status}){said}", status=status)


def _refused(status: int, complaint: Complaint, said: str) -> LlmError:
    if complaint.code == "model_not_found" or (status == HTTPStatus.NOT_FOUND and complaint.is_about_model):
        return UnknownModelError("the endpoint does not serve this model")
    if status == HTTPStatus.NOT_FOUND:
        advice = "there is no chat endpoint at this address (HTTP 404); base_url usually ends in /v1"
    elif status < HTTPStatus.BAD_REQUEST:
        advice = f"the endpoint redirects (HTTP {status}); set base_url to where it really is"
    else:
        advice = f"the endpoint refuses the request (HTTP {status}){said}"
    return RequestRefusedError(advice, status=status, refused_fields=complaint.refused_fields())


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Returns seconds from now; None if the endpoint does not say, or not in a way that makes sense.

    Args:
        headers: with names in any case, as HTTP libraries have them. `retry-after-ms` is Azure's and OpenAI's,
            `retry-after` holds seconds or a date (RFC 9110, 10.2.3).
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    return seconds if seconds is not None or text is None else _until(text)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


_ENCODED = re.compile(r"[A-Za-z0-9+/]{64}")  # no word of any language: base64 of a picture
_STRETCH = 16  # so many characters of the caller's text, side by side, are a quotation of it


def safe_quote(words: str, *, key: SecretStr | None, private_texts: Iterable[str]) -> str:
    """Returns the endpoint's words on one line, cut; empty if they repeat the key or some of the private texts.

    Endpoints do repeat: a validation error often holds the whole request, a refused key comes back half masked.
    """
    line = " ".join(words.split())[:240].encode("utf-8", "replace").decode()  # JSON may hold half a character
    secret = key.get_secret_value() if key is not None else ""
    if secret and any(part in line for part in (secret[:6], secret[-6:])):
        return ""
    if _ENCODED.search(line):
        return ""
    texts = [" ".join(text.split()) for text in private_texts]
    stretches = {line[start : start + _STRETCH] for start in range(max(1, len(line) - _STRETCH + 1))}
    if any(stretch in text for stretch in stretches for text in texts if len(stretch) == _STRETCH):
        return ""
    return line


FIRST_CONTACT_ATTEMPTS = 3
"""Requests of one call while no connection to the endpoint has ever worked: the address is probably wrong."""

MAX_BAD_ANSWERS = 6
"""Empty, endless or unreadable answers of one call. Where 30% of all requests fail, a fifth of them so, one document of
270 calls in a hundred has a call with four of them."""

_FINAL_REASONS = {"content_filter", "length"}  # another try would end the same way

_DRAW = random.Random()  # noqa: S311 - no secret


class Retries:
    """The retries of one call: exponential backoff with full jitter.

    Waits are drawn from 0 to a bound that doubles ("full jitter": callers that failed together do not come back
    together). A Retry-After of the endpoint is kept by the limiter, for everybody; it is not added here.
    """

    def __init__(
        self, config: RetryConfig, *, was_ever_connected: Callable[[], bool], max_bad_answers: int = MAX_BAD_ANSWERS
    ) -> None:
        self._config = config
        self._was_ever_connected = was_ever_connected
        self._max_bad_answers = max_bad_answers
        self._bad_answers = self._timeouts = 0
        self.failed_attempts = 0

    def delay_after(self, error: LlmError) -> float | None:
        """Counts a failure and returns the seconds to wait before the next request; None to give up."""
        self.failed_attempts += 1
        self._bad_answers += isinstance(error, BadAnswerError)
        self._timeouts += isinstance(error, AnswerTimeoutError)
        if self.failed_attempts >= self._config.max_attempts or not self._may_retry(error):
            error.attempts = self.failed_attempts
            error.usage = LlmUsage(retries=self.failed_attempts - 1)
            return None
        bound_s = self._config.base_delay_s * 2.0 ** (self.failed_attempts - 1)
        return _DRAW.uniform(0, min(bound_s, 30.0))

    def _may_retry(self, error: LlmError) -> bool:
        match error:
            case QuotaExhaustedError():
                return False
            case EmptyAnswerError() if error.finish_reason in _FINAL_REASONS:
                return False
            case BadAnswerError():
                return self._bad_answers < self._max_bad_answers
            case AnswerTimeoutError():
                return self._timeouts < self._config.max_timeouts
            case ConnectionFailedError() if not self._was_ever_connected():
                return self.failed_attempts < FIRST_CONTACT_ATTEMPTS
        wait_s = error.retry_after_s or 0.0 if isinstance(error, EndpointUnavailableError) else math.inf
        return wait_s <= self._config.max_retry_after_s
