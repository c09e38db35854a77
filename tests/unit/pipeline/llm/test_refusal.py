"""What a refusal means, what of it may be quoted, and when to come back."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from pipeline.llm import errors
from pipeline.llm.refusal import (
    Complaint,
    read_complaint,
    refusal,
    retry_after_s,
    safe_quote,
    to_complaint,
    without_request,
)


def refuse(status: int, body: object, headers: Mapping[str, str] | None = None) -> errors.LlmError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    complaint = read_complaint(raw)
    return refusal(status, headers or {}, complaint, complaint.message)


def openai(message: str, code: str | None = None, param: str | None = None) -> object:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


OVERFLOWS = {
    "OpenAI": openai("This model's maximum context length is 8192 tokens.", "context_length_exceeded", "messages"),
    "vLLM": {
        "object": "error",
        "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "type": "BadRequestError",
        "code": 400,
    },
    "llama.cpp": {
        "error": {
            "code": 400,
            "message": "request (5031 tokens) exceeds the available context size (2048 tokens), try increasing it",
            "type": "exceed_context_size_error",
        }
    },
    "TGI": {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048", "error_type": "x"},
    "Anthropic": openai("prompt is too long: 210000 tokens > 200000 maximum"),
}


@pytest.mark.parametrize("server", OVERFLOWS)
def test_every_server_s_words_for_too_long_are_understood(server: str) -> None:
    assert isinstance(refuse(400, OVERFLOWS[server]), errors.ContextOverflowError)


@pytest.mark.parametrize("body", [b"[" * 100_000, b"9" * 5_000])
def test_a_body_that_python_cannot_read_is_plain_text(body: bytes) -> None:
    assert read_complaint(body).message == body[:800].decode()


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_says_so_and_quotes_nothing(status: int) -> None:
    error = refuse(status, openai("Incorrect API key provided: sk-12345."))
    assert isinstance(error, errors.AuthenticationFailedError)
    assert "set the right one" in str(error)
    assert "sk-1" not in str(error)


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind"),
    [
        (413, b"<html>Request Entity Too Large</html>", {}, errors.ContextOverflowError),
        (404, openai("The model `gpt-9` does not exist.", "model_not_found"), {}, errors.UnknownModelError),
        (
            404,
            {"message": "The model `x` does not exist.", "type": "NotFoundError"},
            {},
            errors.UnknownModelError,
        ),
        (404, {"error": 'model "x" not found, try pulling it first'}, {}, errors.UnknownModelError),
        (500, b"", {"retry-after": "7"}, errors.EndpointBusyError),
        (429, openai("pay", "insufficient_quota"), {}, errors.QuotaExhaustedError),
        (402, openai("pay"), {}, errors.QuotaExhaustedError),
    ],
)
def test_what_is_said_tells_refusals_of_one_status_apart(
    status: int, body: object, headers: dict[str, str], kind: type[errors.LlmError]
) -> None:
    assert isinstance(refuse(status, body, headers), kind)


def test_an_unknown_address_says_what_addresses_look_like_and_a_redirect_is_not_followed() -> None:
    error = refuse(404, {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}})
    assert isinstance(error, errors.RequestRefusedError)
    assert "/v1" in str(error)
    assert "redirects" in str(refuse(301, b"", {"location": "https://elsewhere/"}))


@pytest.mark.parametrize("status", [429, 503, 529])
def test_busy_endpoints_say_when_to_come_back(status: int) -> None:
    error = refuse(status, openai("slow down"), {"retry-after": "7"})
    assert isinstance(error, errors.EndpointBusyError)
    assert error.retry_after_s == 7
    assert "7 s" in str(error)


@pytest.mark.parametrize("status", [408, 409, 500, 502, 504])
def test_other_server_errors_tell_their_status(status: int) -> None:
    error = refuse(status, b"<html>Bad Gateway</html>")
    assert isinstance(error, errors.EndpointFailedError)
    assert f"(HTTP {status})" in str(error)


def test_other_refusals_quote_the_endpoint() -> None:
    error = refuse(400, openai("top_k must be at most 2"))
    assert isinstance(error, errors.RequestRefusedError)
    assert "top_k must be at most 2" in str(error)
    assert error.refused_fields == frozenset()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (openai("Unknown field", param="response_format.json_schema"), {"response_format"}),
        (openai("json_schema is not available"), {"json_schema"}),
        (openai("logprobs are not supported with this model"), {"logprobs"}),
        (openai("Unsupported value: 'temperature' does not support 0.1", "unsupported_value"), {"temperature"}),
        (openai("max_tokens is too large: 9000. At most 4096 completion tokens."), {"max_tokens"}),
        (openai("`temperature` is deprecated for this model."), {"temperature"}),
        (openai("System role not supported"), {"system"}),
        (openai("'max_tokens' is not supported. Use 'max_completion_tokens' instead."), {"max_tokens"}),
        ([{"msg": "no object"}], set()),
    ],
)
def test_fields_that_an_endpoint_does_not_take_are_named(body: object, fields: set[str]) -> None:
    error = refuse(400, body)
    assert isinstance(error, errors.RequestRefusedError)
    assert error.refused_fields == fields


KEY = SecretStr("sk-proj-0123456789abcdef")
PROMPT = "The reactor of unit 7 leaks at valve V-113 since Monday."


def test_plain_words_are_quoted_on_one_line_and_long_ones_cut() -> None:
    assert safe_quote("too\n many   tokens", key=KEY, private_texts=[PROMPT]) == "too many tokens"
    assert len(safe_quote("word " * 1000, key=None, private_texts=[])) <= 240


@pytest.mark.parametrize(
    "said",
    [
        f"bad key {KEY.get_secret_value()}",
        "bad key sk-pro***",
        "bad key ***abcdef",
        "got 'The reactor of unit 7\nleaks'",
        f"invalid url data:image/png;base64,{'iVBORw0KGgoAAAANSUhEUgAA' * 4}",
    ],
)
def test_the_key_a_text_with_other_blanks_and_an_encoded_picture_are_never_quoted(said: str) -> None:
    assert safe_quote(said, key=KEY, private_texts=[PROMPT.replace(" of", "\n\nof")]) == ""


@given(st.integers(0, len(PROMPT) - 16))
def test_a_stretch_of_a_private_text_is_never_quoted(start: int) -> None:
    said = f"invalid input: {PROMPT[start : start + 16]} (string)"
    assert safe_quote(said, key=None, private_texts=["other", PROMPT]) == ""


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_seconds_milliseconds_and_dates_are_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


def test_a_date_in_the_future_is_the_time_until_then() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    wait_s = retry_after_s({"retry-after": date})
    assert wait_s is not None
    assert 3000 < wait_s <= 3600


def test_what_a_text_says_in_an_error_that_repeats_it_teaches_nothing_of_the_endpoint() -> None:
    text = "The manual says: max_tokens 16 is unsupported,\nas are temperature, response_format and a system role."
    complaint = Complaint("", "", f"1 validation error for messages.0.content: {text}")
    assert complaint.refused_fields()
    assert complaint.numbers == (1, 0, 16)
    own = without_request(complaint, [f"Give what it says. {text}"])
    assert (own.refused_fields(), own.numbers) == (frozenset(), (1, 0))
    assert without_request(complaint, ["Another caller's words."]).refused_fields() == complaint.refused_fields()


def test_what_an_endpoint_says_without_end_is_read_in_part() -> None:
    complaint = to_complaint({"error": {"message": "max_tokens 7 " * 100_000}})
    assert 0 < len(complaint.numbers) < 200


def test_an_error_may_be_nested_as_deeply_as_an_endpoint_likes() -> None:
    value: object = "no such model"
    for _ in range(100_000):
        value = {"error": [value]}
    assert to_complaint(value).says("model")
