"""Bounds what a summary may take of a language model, over all of its runs: calls, tokens and money."""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, replace

from pipeline.llm.chat_model import NO_USAGE, ChatModel, ChatRequest, Completion, LlmUsage
from pipeline.llm.config import PriceConfig
from pipeline.llm.errors import EmptyAnswerError, LlmError
from pipeline.summarize.errors import BudgetSpentError


@dataclass(frozen=True, slots=True)
class SummaryBudget:
    """Most that all runs of a summary may take together; 0 for no bound."""

    max_calls: int = 0  # answers of the language model
    max_tokens: int = 0  # of prompts and answers
    max_cost: float = 0.0  # at the prices of the settings, in their currency


NO_BUDGET = SummaryBudget()


class Spending:
    """What a run takes out of its summary's budget, of which earlier runs took something before.

    A call begins only if its longest answer stays inside. While others are on their way it waits, for they may take
    less than they might; when none are, the budget is spent.

    Attributes:
        usage: of this run, with what calls took that failed.
    """

    def __init__(self, budget: SummaryBudget, prices: PriceConfig, before: LlmUsage) -> None:
        self.usage = NO_USAGE
        self._budget = budget
        self._prices = prices
        self._before = before
        self._on_their_way: list[LlmUsage] = []
        self._changed = asyncio.Event()

    async def complete(self, chat: ChatModel, request: ChatRequest) -> Completion:
        """Returns the model's answer. Raises BudgetSpentError, and LlmError as it does.

        Thoughts count, and one that turns out to need more room for them is another call.
        """
        prompt_tokens = request.prompt_tokens(chat.count_tokens)
        while True:
            thinking = chat.thinking_tokens
            answer_tokens = request.max_tokens + thinking
            most = LlmUsage(1, prompt_tokens, answer_tokens)
            try:
                return await self._take(most, chat, replace(request, thinking_tokens=thinking))
            except EmptyAnswerError as error:
                if error.finish_reason != "length" or chat.thinking_tokens <= thinking:
                    raise

    async def _take(self, most: LlmUsage, chat: ChatModel, request: ChatRequest) -> Completion:
        while (reason := self._refusal(most)) and self._on_their_way:
            await self._changed.wait()
        if reason:
            raise BudgetSpentError(reason)
        self._on_their_way.append(most)
        taken = NO_USAGE
        try:
            completion = await chat.complete(request)
            taken = completion.usage
        except LlmError as error:
            taken = error.usage
            raise
        finally:
            self._on_their_way.remove(most)
            self.usage += taken
            self._changed.set()
            self._changed = asyncio.Event()
        return completion

    def _refusal(self, most: LlmUsage) -> str:
        """Says which bound a call may go over; empty if none."""
        budget, taken = self._budget, self._before + self.usage
        total = sum([*self._on_their_way, most], taken)
        if budget.max_calls and total.calls > budget.max_calls:
            return f"{taken.calls:,} of {budget.max_calls:,} calls are made"
        most_tokens, tokens = (one.prompt_tokens + one.completion_tokens for one in (total, taken))
        if budget.max_tokens and most_tokens > budget.max_tokens:
            return f"{tokens:,} of {budget.max_tokens:,} tokens are used, and the next call may need the rest"
        if budget.max_cost and self._prices.cost(total) > budget.max_cost:
            cost = self._prices.cost(taken)
            return f"{cost:.4g} of {budget.max_cost:g} is spent, and the next call may cost the rest"
        return ""


_current: ContextVar[Spending | None] = ContextVar("summary_spending", default=None)


def spend_from(spending: Spending) -> None:
    """Has all calls of this task, and of those that it starts from now on, taken out of one budget."""
    _current.set(spending)


async def complete(chat: ChatModel, request: ChatRequest) -> Completion:
    """Returns a model's answer, taken out of the running summary's budget, if it has one. Raises BudgetSpentError."""
    spending = _current.get()
    return await (spending.complete(chat, request) if spending else chat.complete(request))
