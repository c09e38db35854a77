"""Reads when an endpoint wants to be called again."""

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


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
