"""Turns an HTTP status that is no success into an error of our tree."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from pipeline.llm.complaint import Complaint
from pipeline.llm.errors import (
    AuthenticationFailedError,
    ContextOverflowError,
    EndpointBusyError,
    EndpointFailedError,
    LlmError,
    QuotaExhaustedError,
    RequestRefusedError,
    UnknownModelError,
)
from pipeline.llm.retry_after import retry_after_s

IMAGES = "images"
"""What `RequestRefusedError.refused_fields` calls the pictures of a message."""

_BUSY = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, 529}  # 529 is Anthropic's "overloaded"
_TRANSIENT = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY}
_DENIED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


def refusal(status: int, headers: Mapping[str, str], complaint: Complaint, *, quote: Callable[[str], str]) -> LlmError:
    """Returns the error to raise.

    Args:
        status: anything but 2xx.
        headers: of the answer; names in any case.
        complaint: the answer's body.
        quote: makes the endpoint's words fit to be shown, or empty.
    """
    said = f": {words}" if (words := quote(complaint.message)) else ""
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
