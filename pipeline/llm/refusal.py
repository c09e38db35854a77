"""Turns an HTTP status that is no success into an error of our tree, and says whether another attempt is worth it.

The endpoint's answer says what is wrong with the request, and how long to wait. The reason is quoted unless it holds
what nobody else may read.
"""

import json
import math
import random
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from importlib.resources import files

from pydantic import SecretStr

from pipeline.llm import errors
from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.completion import WHY_EMPTY, error_words
from pipeline.llm.config import RetryConfig
from pipeline.llm.dialect import NAMED_FIELDS
from pipeline.llm.metering import UsageTotals

_WORDS: Mapping[str, Sequence[str]] = json.loads(files("pipeline.llm").joinpath("complaints.json").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Complaint:
    """What the endpoint says is wrong. Its message may repeat the request: quote it with care."""

    code: str  # the endpoint's code or type, in lower case; empty if it has none
    param: str  # the request's field at fault; empty if it names none
    message: str  # in the endpoint's words
    wait_s: float | None = None  # after which it wants to be called again; None if it does not say

    def says(self, kind: str) -> bool:
        """Whether it has the words of a kind of complaint."""
        text = f"{self.code} {self.param} {self.message}".lower()
        return any(words in text for words in _WORDS[kind])

    @property
    def is_overflow(self) -> bool:
        """Whether the request is too long for the model, as far as its words say: they speak of a size, in excess."""
        named = self.refused_fields() - {"system"}
        is_of_prompt = not named or (named == {"max_tokens"} and self.says("prompt"))
        return self.code in _WORDS["overflow codes"] or (is_of_prompt and self.says("size") and self.says("excess"))

    @property
    def is_about_images(self) -> bool:
        """Whether pictures are refused as such. llama.cpp says so with status 500."""
        return self.says("unsupported") and self.says("images")

    @property
    def is_about_system(self) -> bool:
        """Whether a message of the role "system" is refused. Chat templates that know none say so with status 500."""
        is_refused = self.says("system") and (self.says("unsupported") or self.says("rule"))
        return is_refused or self.param.startswith(("messages[0].role", "messages.0.role")) or self.says("turns")

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers in the message."""
        digits = "".join(letter if "0" <= letter <= "9" else " " for letter in self.message.replace(",", ""))
        return tuple(int(number) for number in digits.split() if len(number) < len("1000000000"))

    def refused_fields(self) -> frozenset[str]:
        """Names the optional fields of our request that the endpoint does not take, or not with such a value.

        What is said of a field matters little: asked without it, the endpoint may answer.
        """
        named = {field for field in NAMED_FIELDS if self.param.startswith(field) or field in self.message}
        if not named:
            kinds = {"limit": "max_tokens", "form": "response_format"}
            named = {field for kind, field in kinds.items() if self.says(kind)}
        if "max_tokens" in named:  # the other is then the one to use instead
            named.discard("max_completion_tokens")
        is_of_stream = self.says("stream") and (self.says("unsupported") or self.says("rule"))
        if self.param == "stream" or (not named and is_of_stream):
            named.add("stream")
        return frozenset(named or ({"system"} if self.is_about_system else ()))


def read_complaint(body: bytes) -> Complaint:
    """Reads what an answer says is wrong: an error object in JSON, see `to_complaint`, or plain text."""
    text = body[:4_096].decode("utf-8", "replace")
    try:
        complaint = to_complaint(json.loads(body))
    except (ValueError, RecursionError):
        without_tags = (part.rpartition(">")[2] for part in text.split("<"))
        complaint = Complaint("", "", _said(" ".join(without_tags).strip()))
    said = next((text.partition(words)[2] for words in _WORDS["later"] if words in text), "")
    return replace(complaint, wait_s=_seconds(said))


_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(ms|milli|s|m|h|)[a-z]* ?")


def _seconds(said: str) -> float | None:
    """Reads a time that a text begins with: 7, "1m2.5s", "39 seconds"."""
    units_s = {"": 1.0, "s": 1.0, "ms": 1e-3, "milli": 1e-3, "m": 60.0, "h": 3_600.0}
    said, sum_s, end = said[:64].lstrip(' ":'), None, 0
    while part := _DURATION.match(said, end):
        sum_s, end = (sum_s or 0.0) + float(part[1]) * units_s[part[2]], part.end()
    return sum_s


def to_complaint(value: object) -> Complaint:
    """Reads error objects: OpenAI's {"error": {...}}, vLLM's {...}, Ollama's {"error": "..."}, Gemini's [{...}]."""
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    inner = (value.get("error") or value) if isinstance(value, dict) else {}
    words = " ".join(dict.fromkeys(error_words(value, "error")))
    if not isinstance(inner, dict):
        return Complaint("", "", _said(words))
    code = inner.get("code") if isinstance(inner.get("code"), str) else inner.get("type") or inner.get("status")
    return Complaint(_said(code).lower(), _said(inner.get("param")), _said(words))


def _said(words: object) -> str:
    return str(words or "")[:800]  # an endpoint says first what is wrong, and may say as much as an answer may hold


def status_of(value: object) -> int:
    """Returns the HTTP status that an error object should have had; 502 if it does not say."""
    complaint, inner = to_complaint(value), value.get("error") if isinstance(value, dict) else None
    code = str(inner.get("code")) if isinstance(inner, dict) else ""
    if code.isdecimal() and HTTPStatus.BAD_REQUEST <= int(code[:4]) < 600:  # noqa: PLR2004 - of HTTP
        return int(code)
    if complaint.says("key"):
        return HTTPStatus.UNAUTHORIZED
    if complaint.is_overflow:
        return HTTPStatus.BAD_REQUEST
    return HTTPStatus.TOO_MANY_REQUESTS if complaint.says("busy") else HTTPStatus.BAD_GATEWAY


IMAGES = "images"
"""What `RequestRefusedError.refused_fields` calls the pictures of a message."""

_BUSY = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, 529}  # 529 is Anthropic's "overloaded"
_TRANSIENT = {408, 409, 421, 423, 424, 425, 499}  # of other servers, of time, of proxies
_DENIED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


def refusal(status: int, headers: Mapping[str, str], complaint: Complaint, quote: str) -> errors.LlmError:
    """Returns the error to raise.

    Args:
        status: anything but 2xx.
        quote: the endpoint's words as they may be shown; empty if none may.
    """
    said, wait_s = f": {quote}" if quote else "", retry_after_s(headers)
    if status == HTTPStatus.PAYMENT_REQUIRED or complaint.code == "insufficient_quota":
        return errors.QuotaExhaustedError(
            f"the account has no credit left (HTTP {status}){said}; pay, or set another API key"
        )
    is_busy = status in _BUSY or (status == HTTPStatus.BAD_REQUEST and complaint.says("busy"))
    lasts = complaint.is_about_images or complaint.says("too large at once")
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:  # of a chat template, a grammar, a context
        lasts = lasts or complaint.is_overflow or bool(complaint.refused_fields())
    if (is_busy or status in _TRANSIENT or status >= HTTPStatus.INTERNAL_SERVER_ERROR) and not lasts:
        return _unavailable(status, complaint.wait_s if wait_s is None else wait_s, said, is_busy=is_busy)
    return _refused(status, complaint, said)


def _unavailable(status: int, wait_s: float | None, said: str, *, is_busy: bool) -> errors.LlmError:
    if is_busy or wait_s is not None:
        later = "" if wait_s is None else f"; it asks to be called again in {wait_s:g} s"
        return errors.EndpointBusyError(f"the endpoint is busy (HTTP {status}){said}{later}", retry_after_s=wait_s)
    return errors.EndpointFailedError(f"the endpoint failed (HTTP {status}){said}")


def _refused(status: int, complaint: Complaint, said: str) -> errors.LlmError:
    fields, at = complaint.refused_fields(), f"(HTTP {status})"
    error: errors.LlmError | None = None
    hint = "; set max_tokens of the role" if "max_tokens" in fields else ""
    advice = f"the endpoint refuses the request {at}{said}{hint}"
    is_too_large = complaint.is_overflow or (complaint.says("too large at once") and (not fields or status in _BUSY))
    if complaint.is_about_images:
        advice, fields = f"the endpoint takes no images {at}{said}", frozenset({IMAGES})
    elif complaint.says("filter"):
        error = errors.FilteredError(f"the endpoint's content filter refuses the text {at}{said}")
    elif status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or (is_too_large and status not in _DENIED):
        hint = "set context_tokens to what the model holds"
        error = errors.ContextOverflowError(f"prompt and answer do not fit into the model's context {at}{said}; {hint}")
    elif status == HTTPStatus.UNAUTHORIZED or complaint.says("key"):
        hint = "set the right one, with access to the model"
        error = errors.AuthenticationFailedError(f"the endpoint refuses the API key {at}; {hint}")
    elif status == HTTPStatus.FORBIDDEN and not fields:
        error = errors.AuthenticationFailedError(f"the endpoint forbids it {at}{said}; may the key use the model?")
    elif complaint.code == "model_not_found" or (status == HTTPStatus.NOT_FOUND and complaint.says("model")):
        error = errors.UnknownModelError(f"the endpoint does not serve this model {at}{said}")
    elif status in {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}:
        advice = f"there is no chat endpoint at this address {at}{said}; base_url usually ends in /v1"
        fields = frozenset({"address"})
    elif status < HTTPStatus.BAD_REQUEST:
        advice = f"the endpoint redirects {at}; set base_url to where it really is"
        fields = frozenset({"address"})
    return error or errors.RequestRefusedError(advice, refused_fields=fields, numbers=complaint.numbers)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Returns seconds from now; None if the endpoint does not say, or not in a way that makes sense.

    Args:
        headers: with names in any case, as HTTP libraries have them. `retry-after-ms` is Azure's and OpenAI's,
            `retry-after` holds seconds or a date (RFC 9110, 10.2.3).
    """
    for name, unit_s in (("retry-after-ms", 1e-3), ("x-ms-retry-after-ms", 1e-3), ("retry-after", 1.0)):
        said = headers.get(name, "")
        if "-" not in said and "," not in said and (wait_s := _seconds(said)) is not None:  # else it is a date
            return wait_s * unit_s
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    return None


_STRETCH = 16  # so many characters of the caller's text, side by side, are a quotation of it


def safe_quote(words: str, *, key: SecretStr | None, private_texts: Iterable[str]) -> str:
    """Returns the endpoint's words on one line, cut; empty if they repeat the key or some of the private texts.

    Endpoints do repeat: a validation error often holds the whole request, a refused key comes back half masked.
    """
    line = _one_line(words)[:240]
    secret = key.get_secret_value() if key else ""
    holds_key = any(part in line for part in (secret[:6], secret[-6:]) if part)
    codes = "".join(letter if letter.isalnum() or letter in "+/" else " " for letter in line).split()
    is_picture = any(len(code) >= 64 for code in codes)  # noqa: PLR2004 - no word of any language: base64
    is_ours = holds_key or is_picture or _repeat_start(line, private_texts) < len(line)
    return "" if is_ours else line


def without_request(complaint: Complaint, private_texts: Iterable[str]) -> Complaint:
    """Returns a complaint up to where it begins to repeat the request: what a text says teaches nothing of an endpoint.

    Else a text with the words "max_tokens 16", in an error that holds the request, would shorten everybody's answers.
    """
    line = _one_line(complaint.message)
    return replace(complaint, message=line[: _repeat_start(line, private_texts)])


def _one_line(words: str) -> str:
    return " ".join(words.split()).encode("utf-8", "replace").decode()  # JSON may hold half a character


def _repeat_start(line: str, texts: Iterable[str]) -> int:
    """Returns where a line begins to repeat one of some texts; its length if it does not."""
    lines = [_one_line(text) for text in texts]
    starts = range(len(line) - _STRETCH + 1)
    return next((at for at in starts if any(line[at : at + _STRETCH] in text for text in lines)), len(line))


FIRST_CONTACT_ATTEMPTS = 3
"""Requests of one call while no connection to the endpoint has ever worked: the address is probably wrong."""

MAX_BAD_ANSWERS = 6
"""Empty, endless or unreadable answers of one call. Let 30% of all requests fail, a fifth of them so. One in a hundred
documents of 270 calls then has a call with four such answers."""

_DRAW = random.Random()  # noqa: S311 - no secret


class Retries:
    """The retries of one call: exponential backoff with full jitter.

    Waits are drawn from 0 to a bound that doubles ("full jitter": callers that failed together do not come back
    together). A Retry-After of the endpoint is kept by the limiter, for everybody; it is not added here.

    Args:
        totals: of the endpoint, which tell how it answers others.
    """

    def __init__(self, config: RetryConfig, totals: UsageTotals, *, max_bad_answers: int = MAX_BAD_ANSWERS) -> None:
        self._config, self._totals, self._max_bad_answers = config, totals, max_bad_answers
        self._bad_answers = self._timeouts = self.failed_attempts = 0

    def delay_after(self, error: errors.LlmError, *, most_s: float = math.inf) -> float | None:
        """Counts a failure and returns the seconds to wait, up to `most_s`, before the next request.

        None to give up: the error then says what the call took, and whether it is to blame.
        """
        self.failed_attempts += 1
        self._bad_answers += isinstance(error, errors.BadAnswerError)
        self._timeouts += isinstance(error, errors.AnswerTimeoutError)
        delay_s = _DRAW.uniform(0, min(self._config.base_delay_s * 2.0 ** (self.failed_attempts - 1), 30.0))
        if self.failed_attempts < self._config.max_attempts and self._may_retry(error) and delay_s <= most_s:
            return delay_s
        error.attempts = self.failed_attempts
        error.usage += LlmUsage(retries=self.failed_attempts - 1)
        error.is_of_call |= self._are_others_answered(error)
        return None

    def _may_retry(self, error: errors.LlmError) -> bool:
        match error:
            case errors.QuotaExhaustedError():
                return False
            case errors.EmptyAnswerError() if error.finish_reason in WHY_EMPTY:
                return False
            case errors.BadAnswerError():
                return self._bad_answers < self._most(self._max_bad_answers)
            case errors.AnswerTimeoutError():
                return self._timeouts < self._most(self._config.max_timeouts)
            case errors.ConnectionFailedError() if not self._totals.was_ever_connected:
                return self.failed_attempts < FIRST_CONTACT_ATTEMPTS
        wait_s = error.retry_after_s or 0.0 if isinstance(error, errors.EndpointUnavailableError) else math.inf
        return wait_s <= self._config.max_retry_after_s

    def _are_others_answered(self, error: errors.LlmError) -> bool:
        """Tells whether the endpoint answers calls other than the one that failed so."""
        rate, answers = self._totals.fault_rate, self._totals.answers
        match error:
            case errors.RequestRefusedError():
                return answers > 0
            case errors.BadAnswerError():
                return answers > 0 and (rate is None or rate <= 1 / 2)
            case errors.QuotaExhaustedError():
                return False
        return isinstance(error, errors.EndpointUnavailableError) and rate is not None and rate <= 1 / 2

    def _most(self, count: int) -> int:
        """Returns how often a call may fail so: more where a call in 10,000 would do so by chance; 1 stays 1."""
        rate = self._totals.fault_rate or 0.0
        if count == 1 or not 0.0 < rate <= 1 / 2:
            return count
        return max(count, math.ceil(math.log(1e-4) / math.log(rate)))
