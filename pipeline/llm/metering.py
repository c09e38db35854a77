"""Meters usage: what the calls of an endpoint cost in all, and what one request asked of a model that many share."""

import logging
from collections import Counter
from dataclasses import dataclass, field, replace

from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion, LlmUsage
from pipeline.llm.config import PriceConfig
from pipeline.llm.errors import (
    BadAnswerError,
    BudgetExceededError,
    EndpointBusyError,
    EndpointUnavailableError,
    LlmError,
)

_log = logging.getLogger(__name__)


@dataclass
class UsageTotals:
    """Counts since the start. Belongs to one event loop."""

    prices: PriceConfig
    attempts: int = 0  # requests that were sent
    retries: int = 0  # those of them that were made again after a failure
    answers: int = 0  # those that brought a completion
    # the others, by error class; a cancelled request is in neither
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0  # what the answers cost so far, at the prices of the settings, in their currency
    was_ever_connected: bool = False  # True after the first answer of any kind
    _fault_share: float = 0.0

    @property
    def fault_rate(self) -> float | None:
        """Share of the last fifty attempts or so that failed without a reason; None before twenty of them."""
        return self._fault_share if self.attempts >= 20 else None  # noqa: PLR2004 - see above

    def count_outcome(self, error: LlmError | None) -> None:
        """Counts how an attempt ended; a busy endpoint and a refused request are no faults of the endpoint."""
        is_fault = isinstance(error, EndpointUnavailableError | BadAnswerError) and not isinstance(
            error, EndpointBusyError
        )
        self._fault_share += (is_fault - self._fault_share) / min(50, self.attempts)
        if error is not None:
            self.failures[type(error).__name__] += 1

    def count_attempt(self) -> None:
        """Counts a request that is about to be sent. Raises BudgetExceededError when the money is spent."""
        limit = self.prices.max_cost
        if limit is not None and self.cost >= limit:
            raise BudgetExceededError(f"the answers have cost {self.cost:.2f}, the limit is prices.max_cost {limit:g}")
        self.attempts += 1

    def count_tokens(self, usage: LlmUsage, prices: PriceConfig) -> None:
        """Counts what an answer took, with or without a text, at the prices of its model."""
        self.cost += prices.cost(usage)
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens


class OuterChatModel:
    """A `ChatModel` in front of another, which it is to whoever asks."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner
        self.identity = inner.identity
        self.context_tokens = inner.context_tokens
        self.prompts = inner.prompts
        self.count_tokens = inner.count_tokens

    @property
    def thinking_tokens(self) -> int:
        """See ChatModel."""
        return self._inner.thinking_tokens


class MeteredChatModel(OuterChatModel):
    """A `ChatModel` in front of another. Belongs to one request.

    Calls that fail count too, with the answers that were paid for on the way. A call that is cancelled counts nothing:
    the request that made it is over, and what it cost is in the endpoint's own totals.

    Attributes:
        request_count: answers that were asked for.
    """

    def __init__(self, inner: ChatModel) -> None:
        super().__init__(inner)
        self.usage = LlmUsage()
        self.request_count = 0

    async def complete(self, request: ChatRequest) -> Completion:
        """Returns the inner model's answer. Raises LlmError as it does."""
        self.request_count += 1
        try:
            completion = await self._inner.complete(request)
        except LlmError as error:
            self.usage += error.usage
            raise
        self.usage += completion.usage
        return completion


class FallbackChatModel(OuterChatModel):
    """A `ChatModel` in front of another, which is asked where the first one fails. A prompt must fit into both."""

    def __init__(self, first: ChatModel, second: ChatModel) -> None:
        super().__init__(first)
        self._second = second
        self.identity = f"{first.identity}, else {second.identity}"
        self.context_tokens = min(first.context_tokens, second.context_tokens)

    @property
    def thinking_tokens(self) -> int:
        """See ChatModel: both have room."""
        return max(self._inner.thinking_tokens, self._second.thinking_tokens)

    async def complete(self, request: ChatRequest) -> Completion:
        """See ChatModel. Raises LlmError of the second."""
        try:
            return await self._inner.complete(request)
        except LlmError as error:
            _log.warning("asks_fallback error=%s", type(error).__name__)
            spent = error.usage
        try:
            completion = await self._second.complete(request)
        except LlmError as error:
            error.usage += spent
            raise
        return replace(completion, usage=completion.usage + spent)
