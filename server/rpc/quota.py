"""Quotas: how much one tenant may have, as token buckets that may be overdrawn.

What a call costs is known when it has been done. So it is let in while nothing is owed, and charged for what it took.
The tenant then waits until that is paid: over time nobody has more than the quota, whatever the size of single calls.
"""

import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion
from pipeline.llm.errors import LlmError
from pipeline.llm.metering import OuterChatModel
from server.config import QuotaConfig
from server.errors import QuotaExceededError
from server.rpc.auth import Caller

OTHERS = "*"  # names the quota of those that have none of their own
_MINUTE_S, _DAY_S = 60.0, 86_400.0
_CALL_S = 1.0  # most calls take tens of milliseconds
_NO_QUOTA = QuotaConfig()
Clock: TypeAlias = Callable[[], float]


class Allowance:
    """A token bucket: full at first, refilled at an even rate, and overdrawn by what was not known beforehand."""

    def __init__(self, name: str, amount: int | None, period_s: float, clock: Clock) -> None:
        """Makes a full bucket; without an amount it is never empty."""
        self._name = name
        self._amount = amount
        self._period_s = period_s
        self._clock = clock
        self._left = float(amount or 0)
        self._filled_s = clock()

    @property
    def wait_s(self) -> float:
        """How long until nothing is owed."""
        if self._amount is None:
            return 0.0
        now_s = self._clock()
        self._left += (now_s - self._filled_s) * self._amount / self._period_s
        self._left, self._filled_s = min(self._left, float(self._amount)), now_s
        return max(0.0, (1.0 - self._left) * self._period_s / self._amount)

    def charge(self, count: int) -> None:
        """Takes out what was used."""
        self._left -= count

    def check(self) -> None:
        """Raises QuotaExceededError while something is owed."""
        wait_s = self.wait_s
        if wait_s > 0:
            raise QuotaExceededError(f"{self._amount} {self._name}", retry_after_s=wait_s)


class TenantQuota:
    """What one tenant has left in this process."""

    def __init__(self, config: QuotaConfig, clock: Clock) -> None:
        self._max_calls = config.calls
        self.items = Allowance("items per minute", config.items_per_minute, _MINUTE_S, clock)
        self.tokens = Allowance("tokens per day of the language model", config.tokens_per_day, _DAY_S, clock)

    def check(self, calls_in_flight: int) -> None:
        """Refuses one more call. Raises QuotaExceededError."""
        if self._max_calls is not None and calls_in_flight >= self._max_calls:
            raise QuotaExceededError(f"{self._max_calls} calls in flight", retry_after_s=_CALL_S)
        self.items.check()


class Quotas:
    """The quotas of all tenants. Holds no more of them than there have been keys."""

    def __init__(self, configs: Mapping[str, QuotaConfig], clock: Clock = time.monotonic) -> None:
        """Takes quotas by a tenant's name, or by at least 8 digits of a key's digest."""
        self._configs = configs
        self._clock = clock
        self._of: dict[str, TenantQuota] = {}

    def of(self, caller: Caller) -> TenantQuota:
        """Returns a caller's quota, the same object for all of its calls."""
        quota = self._of.get(caller.tenant)
        if quota is None:
            quota = self._of[caller.tenant] = TenantQuota(self._config(caller.tenant), self._clock)
        return quota

    def _config(self, tenant: str) -> QuotaConfig:
        if tenant in self._configs:
            return self._configs[tenant]
        for name, config in self._configs.items():  # by the beginning of an unnamed tenant's digest
            if len(tenant) == 64 and len(name) >= 8 and tenant.startswith(name.lower()):  # noqa: PLR2004
                return config
        return self._configs.get(OTHERS, _NO_QUOTA)


class ChargedChatModel(OuterChatModel):
    """A `ChatModel` in front of another, whose tokens are charged to the caller in whose call it is asked.

    The first request of a call is refused while the caller owes tokens; a call that has begun may finish.
    """

    def __init__(self, inner: ChatModel, begin: Callable[[], Allowance | None]) -> None:
        """Takes what says, and checks, at whose cost the running task asks."""
        super().__init__(inner)
        self._begin = begin

    async def complete(self, request: ChatRequest) -> Completion:
        """See ChatModel. Raises QuotaExceededError."""
        allowance = self._begin()
        try:
            completion = await self._inner.complete(request)
        except LlmError as error:
            if allowance is not None:
                allowance.charge(error.usage.prompt_tokens + error.usage.completion_tokens)
            raise
        if allowance is not None:
            allowance.charge(completion.usage.prompt_tokens + completion.usage.completion_tokens)
        return completion
