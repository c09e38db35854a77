"""Whether and when a failed request is made again."""

import math
import random
from collections.abc import Callable

from pipeline.llm.config import RetryConfig
from pipeline.llm.errors import (
    BadAnswerError,
    ConnectionFailedError,
    EmptyAnswerError,
    EndpointUnavailableError,
    LlmError,
    QuotaExhaustedError,
)
from pipeline.llm.llm_usage import LlmUsage

_FINAL_REASONS = {"content_filter", "length"}  # another try would end the same way


class Retries:
    """The retries of one call.

    Waits are drawn from 0 to a bound that doubles ("full jitter": callers that failed together do not come back
    together). A Retry-After of the endpoint is kept by the limiter, for everybody; it is not added here.
    """

    def __init__(
        self, config: RetryConfig, *, was_ever_connected: Callable[[], bool], draw: random.Random | None = None
    ) -> None:
        self._config = config
        self._was_ever_connected = was_ever_connected
        self._draw = draw or random.Random()  # noqa: S311 - no secret
        self._bad_answers = 0
        self.failed_attempts = 0

    def delay_after(self, error: LlmError) -> float | None:
        """Counts a failure and returns the seconds to wait before the next request; None to give up."""
        self.failed_attempts += 1
        self._bad_answers += isinstance(error, BadAnswerError)
        if self.failed_attempts >= self._config.max_attempts or not self._may_retry(error):
            error.attempts = self.failed_attempts
            error.usage = LlmUsage(retries=self.failed_attempts - 1)
            return None
        bound_s = self._config.base_delay_s * 2.0 ** (self.failed_attempts - 1)
        return self._draw.uniform(0, min(bound_s, self._config.max_delay_s))

    def _may_retry(self, error: LlmError) -> bool:
        match error:
            case QuotaExhaustedError():
                return False
            case EmptyAnswerError():
                return self._bad_answers < self._config.max_bad_answers and error.finish_reason not in _FINAL_REASONS
            case BadAnswerError():
                return self._bad_answers < self._config.max_bad_answers
            case ConnectionFailedError() if not self._was_ever_connected():
                return self.failed_attempts < self._config.first_contact_attempts
        wait_s = error.retry_after_s or 0.0 if isinstance(error, EndpointUnavailableError) else math.inf
        return wait_s <= self._config.max_retry_after_s
