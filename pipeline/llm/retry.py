"""Whether and when is a failed request made again? Exponential backoff with full jitter."""

import math
import random
from collections.abc import Callable

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.config import RetryConfig
from pipeline.llm.errors import (
    AnswerTimeoutError,
    BadAnswerError,
    ConnectionFailedError,
    EmptyAnswerError,
    EndpointUnavailableError,
    LlmError,
    QuotaExhaustedError,
)

FIRST_CONTACT_ATTEMPTS = 3
"""Requests of one call while no connection to the endpoint has ever worked: the address is probably wrong."""

MAX_BAD_ANSWERS = 6
"""Empty, endless or unreadable answers of one call. Where 30% of all requests fail, a fifth of them so, one document of
270 calls in a hundred has a call with four of them."""

_FINAL_REASONS = {"content_filter", "length"}  # another try would end the same way

_DRAW = random.Random()  # noqa: S311 - no secret


class Retries:
    """The retries of one call.

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
