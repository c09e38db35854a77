"""Quotas: what is owed, how long, and whose."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.chat_model import ChatMessage, ChatRequest, Completion, LlmUsage
from pipeline.llm.errors import BadAnswerError
from pipeline.prompts.prompts import built_in
from server.config import AuthConfig, QuotaConfig
from server.errors import QuotaExceededError
from server.rpc.auth import Caller
from server.rpc.quota import Allowance, ChargedChatModel, Quotas
from tests.fakes import Clock

REQUEST = ChatRequest((ChatMessage("user", "Hello"),), max_tokens=10, temperature=0.0)


def test_what_is_owed_is_paid_at_an_even_rate() -> None:
    clock = Clock()
    items = Allowance("items per minute", 60, 60.0, clock)
    items.check()
    items.charge(90)
    with pytest.raises(QuotaExceededError, match="60 items per minute") as caught:
        items.check()
    assert caught.value.retry_after_s == pytest.approx(31.0)
    clock.now_s += 30.9
    assert items.wait_s == pytest.approx(0.1)
    clock.now_s += 0.2
    items.check()


@given(st.lists(st.tuples(st.integers(0, 500), st.floats(0, 100)), max_size=40))
def test_nobody_has_more_than_the_quota_and_one_call(steps: list[tuple[int, float]]) -> None:
    clock = Clock()
    items = Allowance("items", 100, 60.0, clock)
    used, before_last = 0, 0
    for count, pause_s in steps:
        clock.now_s += pause_s
        if items.wait_s == 0:
            items.charge(count)
            before_last, used = used, used + count
    assert before_last <= 100 + (clock.now_s) * 100 / 60 + 1e-6


def test_after_the_time_that_was_named_a_call_is_let_in() -> None:
    clock = Clock()
    tokens = Allowance("tokens", 7, 86_400.0, clock)
    tokens.charge(1_000)
    clock.now_s += tokens.wait_s * (1 + 1e-9)
    tokens.check()


def test_tenants_have_quotas_by_name_by_digest_or_in_common() -> None:
    digest = "ab12cd34" * 8
    quotas = Quotas(
        {"billing": QuotaConfig(calls=1), "AB12CD34AB": QuotaConfig(calls=2), "*": QuotaConfig(items_per_minute=1)}
    )
    named, keyed, other = (quotas.of(Caller("x", tenant)) for tenant in ("billing", digest, "cd34"))
    assert quotas.of(Caller("y", "billing")) is named
    for quota, most in ((named, 1), (keyed, 2)):
        quota.check(most - 1)
        with pytest.raises(QuotaExceededError):
            quota.check(most)
    other.check(1_000)
    other.items.charge(2)
    with pytest.raises(QuotaExceededError):
        other.check(0)
    named.check(0)


def test_quotas_without_keys_are_an_error() -> None:
    with pytest.raises(ValueError, match="keys_file"):
        AuthConfig(quotas={"*": QuotaConfig(calls=1)})


class ScriptedChat:
    """Answers with 30 tokens, or with an error that has cost 5."""

    identity, context_tokens, thinking_tokens, prompts = "scripted", 100, 0, built_in()

    def __init__(self) -> None:
        self.fails = False

    async def complete(self, request: ChatRequest) -> Completion:
        if self.fails:
            error = BadAnswerError("nothing")
            error.usage = LlmUsage(1, 5, 0)
            raise error
        return Completion("ok", "stop", LlmUsage(1, 20, 10), "scripted")

    def count_tokens(self, text: str) -> int:
        return len(text)


async def test_a_language_model_is_asked_at_the_callers_cost() -> None:
    tokens, inner = Allowance("tokens", 31, 86_400.0, Clock()), ScriptedChat()
    chat: Any = ChargedChatModel(inner, lambda: tokens)
    assert (await chat.complete(REQUEST)).text == "ok"
    tokens.check()
    inner.fails = True
    with pytest.raises(BadAnswerError):
        await chat.complete(REQUEST)
    with pytest.raises(QuotaExceededError):
        tokens.check()
