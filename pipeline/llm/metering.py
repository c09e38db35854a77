"""Meters usage: what the calls of an endpoint cost in all, and what one request asked of a model that many share."""

from collections import Counter
from dataclasses import dataclass, field

from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion, LlmUsage
from pipeline.llm.config import PriceConfig
from pipeline.llm.errors import BudgetExceededError, LlmError


@dataclass
class UsageTotals:
    """Counts since the start. Belongs to one event loop.

    Attributes:
        attempts: requests that were sent.
        retries: those of them that were made again after a failure.
        answers: those that brought a completion.
        failures: the others, by error class; a cancelled request is in neither.
    """

    prices: PriceConfig
    attempts: int = 0
    retries: int = 0
    answers: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def cost(self) -> float:
        """What the answers cost so far, at the prices of the settings, in their currency."""
        return self.prices.cost(LlmUsage(self.answers, self.prompt_tokens, self.completion_tokens))

    def count_attempt(self) -> None:
        """Counts a request that is about to be sent. Raises BudgetExceededError when the money is spent."""
        limit = self.prices.max_cost
        if limit is not None and self.cost >= limit:
            raise BudgetExceededError(f"the answers have cost {self.cost:.2f}, the limit is prices.max_cost {limit:g}")
        self.attempts += 1

    def count_answer(self, completion: Completion) -> None:
        """Counts a completion."""
        self.answers += 1
        self.prompt_tokens += completion.prompt_tokens
        self.completion_tokens += completion.completion_tokens


class MeteredChatModel:
    """A `ChatModel` in front of another. Belongs to one request.

    Calls that fail count too, with the answers that were paid for on the way. A call that is cancelled counts nothing:
    the request that made it is over, and what it cost is in the endpoint's own totals.

    Attributes:
        request_count: answers that were asked for.
    """

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner
        self.usage = LlmUsage()
        self.request_count = 0
        self.identity = inner.identity
        self.context_tokens = inner.context_tokens
        self.prompts = inner.prompts
        self.count_tokens = inner.count_tokens

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
