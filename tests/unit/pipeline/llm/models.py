"""A chat model in front of a scripted endpoint, and requests for it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pipeline.llm.chat_model import ChatMessage, ChatRequest
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.openai import OpenAiChatModel
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.faults import Fault
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.clocks import InstantClock

SCHEMA = {
    "type": "object",
    "properties": {"topics": {"type": "array", "items": {"type": "string"}, "minItems": 2}},
    "required": ["topics"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Bench:
    """Everything a test looks at."""

    scripted: ScriptedEndpoint
    endpoint: Endpoint
    model: OpenAiChatModel
    clock: InstantClock


@asynccontextmanager
async def bench(script: Script | None = None, **settings: object) -> AsyncIterator[Bench]:
    """Starts an endpoint and a model for it. Waits between attempts take no time."""
    async with ScriptedEndpoint(script) as scripted:
        config = LlmConfig.model_validate({"base_url": scripted.base_url, "model": "scripted", **settings})
        clock = InstantClock()
        async with Endpoint(config, clock=clock) as endpoint:
            yield Bench(scripted, endpoint, OpenAiChatModel(endpoint), clock)


def failing(*faults: Fault | None) -> Script:
    """An endpoint that treats its first requests like this and then answers well."""
    return Script(first_faults=faults)


def request(
    text: str = "Which pumps need oil?",
    *,
    after: tuple[ChatMessage, ...] = (),
    max_tokens: int = 100,
    json_schema: Mapping[str, object] | None = None,
    top_logprobs: int = 0,
) -> ChatRequest:
    """A short request; `after` follows the user's message."""
    messages = (ChatMessage("system", "Answer from the manual."), ChatMessage("user", text), *after)
    return ChatRequest(messages, max_tokens, 0.1, json_schema, top_logprobs)
