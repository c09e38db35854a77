"""When a failed call is made again: gRPC's part as a service config, the client's as plain functions.

UNAVAILABLE is gRPC's: it makes a unary call again by `SERVICE_CONFIG`, which clients in other languages can use as it
is. RESOURCE_EXHAUSTED is the client's, for gRPC does not read the server's RetryInfo; and so are broken streams.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

from precis.errors import Aborted, Overloaded, PrecisError, Unavailable

SERVICE_CONFIG: str = files("precis.v1").joinpath("service_config.json").read_text(encoding="utf-8")
"""gRPC service config, as JSON: retries of the unary calls, all of which are idempotent."""

_LONGEST_REFUSAL_S = 60.0  # that a server of ours asks for; whoever names a longer delay is not waited for
_JITTER = 0.25  # share of a delay by which clients that were refused together come back apart


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failed call is made again. A deadline bounds all attempts together.

    Attributes:
        max_attempts: of a unary call that a full server refuses, the first included. 1: nothing is tried again, by gRPC
            neither.
        max_resumes: of a summary's stream that breaks and brings nothing new in between.
        base_delay_s: before the first resumption; each further one waits twice as long.
        max_delay_s: longest of these delays.
    """

    max_attempts: int = 5
    max_resumes: int = 9  # 20 s with these delays: a server that was killed comes back, and its summaries are free
    base_delay_s: float = 0.25
    max_delay_s: float = 4.0


DEFAULT_RETRY = RetryPolicy()


class Attempts:
    """The attempts of one call, and the time that is left for them.

    Args:
        policy: how many there are.
        timeout_s: for all of them together; None: as long as it takes.
        clock: seconds, rising.
    """

    def __init__(
        self, policy: RetryPolicy, timeout_s: float | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._ends_s = None if timeout_s is None else clock() + timeout_s
        self._failed_count = 0

    @property
    def remaining_s(self) -> float | None:
        """Time until the deadline, at least 0; None without one."""
        return None if self._ends_s is None else max(self._ends_s - self._clock(), 0.0)

    def unary_delay_s(self, error: PrecisError) -> float:
        """Returns how long to wait before the next attempt of a unary call. Raises the error when there is none."""
        return self._delay_s(error, refusal_delay_s(error), self._policy.max_attempts - 1)

    def resume_delay_s(self, error: PrecisError, *, is_accepted: bool) -> float:
        """Returns how long to wait before a stream is opened again. Raises the error when it is not.

        Args:
            error: that ended the stream.
            is_accepted: whether the summary has an id; before, its stream is begun again like a unary call.
        """
        delay_s = refusal_delay_s(error)
        has_broken = self._failed_count > 0
        # A summary whose reader was cut off is free again as soon as its server notices: ABORTED is then waited out.
        if isinstance(error, Unavailable) or (has_broken and isinstance(error, Aborted)):
            doubled_s = self._policy.base_delay_s * 2.0**self._failed_count
            delay_s = min(doubled_s, self._policy.max_delay_s)
        policy = self._policy
        return self._delay_s(error, delay_s, policy.max_resumes if is_accepted else policy.max_attempts - 1)

    def succeed(self) -> None:
        """Notes that the stream brings something new, so that failures are counted afresh."""
        self._failed_count = 0

    def _delay_s(self, error: PrecisError, delay_s: float | None, most: int) -> float:
        if delay_s is None or self._failed_count >= most:
            raise error
        self._failed_count += 1
        spread_s = delay_s * random.uniform(1.0, 1.0 + _JITTER)  # noqa: S311 - nothing secret
        remaining_s = self.remaining_s
        if remaining_s is not None and spread_s >= remaining_s:
            raise error  # the next attempt would come too late: this error says more than a deadline
        return spread_s


def refusal_delay_s(error: PrecisError) -> float | None:
    """Returns how long a server that is full wants to be left alone; None for any other error.

    Without a delay the same call would be refused again: a message that is too large, a disk that is full. A delay of
    more than a minute is for the caller to decide about: a stream without a deadline would sleep for as long.
    """
    delay_s = error.retry_delay_s if isinstance(error, Overloaded) else None
    return None if delay_s is None or delay_s > _LONGEST_REFUSAL_S else delay_s
