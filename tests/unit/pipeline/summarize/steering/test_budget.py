"""A summary takes no more of a language model than its budget allows, over all of its runs."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.llm.chat_model import NO_USAGE, ChatMessage, ChatRequest, Completion
from pipeline.llm.config import LlmConfig, PriceConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import EmptyAnswerError
from pipeline.llm.openai import OpenAiChatModel
from pipeline.summarize.errors import BudgetSpentError
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.steering.budget import Spending, SummaryBudget
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.summarizer import Summarizer
from scripts.benchmarks.endpoints.oddities import ODDITIES, Asked, Sent
from scripts.benchmarks.endpoints.played import played
from tests.unit.pipeline.summarize.documents import full_plan, numbered_document, read_all, result_of, summarizer_in
from tests.unit.pipeline.summarize.fake_chat import FakeChat

DOCUMENT = numbered_document(29)
CALLS = 5 + 2 + 1 + 1
TOPICS = json.dumps({"topics": ["pumps", "valves", "filters", "safety", "bars"]})


class MeteredChat(FakeChat):
    """Answers everything with 15 tokens, and remembers how many calls were in flight at most."""

    def __init__(self) -> None:
        super().__init__(answer_to=_answer)
        self.in_flight = self.most_in_flight = 0

    async def complete(self, request: ChatRequest) -> Completion:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0)
        self.in_flight -= 1
        return await super().complete(request)


def _answer(request: ChatRequest) -> str:
    if request.json_schema is not None:
        return TOPICS
    return "PASS" if "PASS or FAIL" in request.messages[-1].content else f"Pump {len(request.messages[-1].content)}."


async def run(
    summarizer: Summarizer, writer: LlmWriter, budget: SummaryBudget | None, summary_id: str = ""
) -> SummaryResult:
    bounded = summarizer.owned_by("", budget)
    events = bounded.resume(summary_id, writer=writer) if summary_id else bounded.stream(DOCUMENT, writer=writer)
    return result_of(await read_all(events))


async def test_no_call_begins_beyond_the_budget_of_all_runs_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    chat = MeteredChat()
    writer = LlmWriter(chat, LlmWriterConfig())
    async with summarizer_in(tmp_path) as summarizer:
        spent = await run(summarizer, writer, SummaryBudget(max_calls=4))
        assert (spent.status, len(chat.requests), spent.calls_done) == (SummaryStatus.FAILED, 4, 4)
        assert spent.failure is not None
        assert spent.failure.kind == "BudgetSpentError"
        assert "4 of 4 calls" in spent.failure.message
        again = await run(summarizer, writer, None, spent.summary_id)
        assert (again.status, len(chat.requests), again.budget) == (SummaryStatus.FAILED, 4, SummaryBudget(max_calls=4))
        done = await run(summarizer, writer, SummaryBudget(max_calls=CALLS), spent.summary_id)
    assert (done.status, len(chat.requests), done.total_usage.calls) == (SummaryStatus.DONE, CALLS, CALLS)


async def test_a_call_waits_where_those_on_their_way_might_take_the_rest(tmp_path: Path) -> None:
    chat = MeteredChat()
    async with summarizer_in(tmp_path) as summarizer:
        done = await run(summarizer, LlmWriter(chat, LlmWriterConfig()), SummaryBudget(max_tokens=12_000))
    assert (done.status, chat.most_in_flight) == (SummaryStatus.DONE, 2)  # an answer may have 4,000 tokens


@pytest.mark.parametrize("budget", [SummaryBudget(max_tokens=4_000), SummaryBudget(max_cost=3.9)])
async def test_a_call_whose_longest_answer_is_over_the_budget_is_not_made(
    tmp_path: Path, budget: SummaryBudget
) -> None:
    chat = MeteredChat()
    writer = LlmWriter(chat, LlmWriterConfig(), prices=PriceConfig(completion_per_million=1_000))
    async with summarizer_in(tmp_path) as summarizer:
        spent = await run(summarizer, writer, budget)
    assert (spent.status, chat.requests) == (SummaryStatus.FAILED, [])


async def test_what_a_failed_call_took_counts(tmp_path: Path) -> None:
    failure = EmptyAnswerError("nothing", finish_reason="stop")
    failure.usage = (await FakeChat("x").complete(ChatRequest((), 1, 0))).usage
    chat = FakeChat(failure)
    async with summarizer_in(tmp_path) as summarizer:
        first = await run(summarizer, LlmWriter(chat, LlmWriterConfig(), concurrency=1), SummaryBudget(max_calls=2))
        second = await run(summarizer, LlmWriter(chat, LlmWriterConfig(), concurrency=1), None, first.summary_id)
        third = await run(summarizer, LlmWriter(chat, LlmWriterConfig(), concurrency=1), None, first.summary_id)
    kinds = [one.failure.kind for one in (first, second, third) if one.failure]
    assert kinds == ["EmptyAnswerError", "EmptyAnswerError", "BudgetSpentError"]
    assert third.total_usage.calls == 2


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("most", [1_000, 3_000, 8_000, 20_000])
async def test_thoughts_stay_inside_the_budget(most: int, *, counts: bool) -> None:
    thinks = next(oddity.play for oddity in ODDITIES if oddity.name == "thinks 1500 tokens")
    taken: list[int] = []

    def play(asked: Asked) -> Sent:
        sent = thinks(asked)
        answer = json.loads(sent.body)
        taken.append(sum(answer["usage"].values()))
        return sent if counts else replace(sent, body=json.dumps(answer | {"usage": None}).encode())

    async with played(play) as (base_url, _), Endpoint(LlmConfig(base_url=base_url, model="odd")) as endpoint:
        model, spending = OpenAiChatModel(endpoint), Spending(SummaryBudget(max_tokens=most), PriceConfig(), NO_USAGE)
        request = ChatRequest((ChatMessage("user", "Which pump? " * 200),), 200, 0.0)
        calls = (spending.complete(model, request) for _ in range(20))
        ends = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(end) for end in ends} <= {Completion, BudgetSpentError}
    assert BudgetSpentError in map(type, ends)
    used = spending.usage.prompt_tokens + spending.usage.completion_tokens
    assert used <= most
    assert endpoint.usage.prompt_tokens + endpoint.usage.completion_tokens == used
    assert not counts or sum(taken) == used > most - 4_000


def test_a_plan_tells_what_its_tokens_cost() -> None:
    prices = PriceConfig(prompt_per_million=1, completion_per_million=2)
    plan = full_plan(DOCUMENT, LlmWriter(MeteredChat(), LlmWriterConfig(), prices=prices))
    assert plan.cost() == pytest.approx((plan.max_prompt_tokens() + 2 * plan.max_completion_tokens()) / 1e6)
    assert full_plan(DOCUMENT, LlmWriter(MeteredChat(), LlmWriterConfig())).cost() is None
