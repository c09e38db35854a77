"""Has a chat model read claims a second time: many in one structured call, each verdict with a quote to check."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial

from pydantic import BaseModel, Field

from pipeline.judge.config import ProposalConfig
from pipeline.judge.evidence.proposals import find_quote
from pipeline.judge.second_reader import Reading
from pipeline.llm.ask import UnusableAnswerError, WrongAnswerError, ask_json, fits, read_json, reply_schema
from pipeline.llm.chat_model import ChatModel, ChatRequest
from pipeline.llm.conversation import Fence, conversation
from pipeline.model_answers import Pair, small_letters
from pipeline.tracing import note, open_judge_span


class _Reading(BaseModel):
    id: int
    supported: bool
    quote: str | None = Field(default=None, max_length=300)


class _Readings(BaseModel):
    readings: tuple[_Reading, ...]


_SCHEMA = reply_schema(_Readings, "readings")


class LlmSecondReader:
    """Asks a chat model; serves one request."""

    claims_a_call = 16

    def __init__(self, chat: ChatModel, config: ProposalConfig | None = None) -> None:
        self._chat = chat
        self._config = config or ProposalConfig()

    async def read(self, claims: Sequence[Pair]) -> dict[int, Reading]:
        """Returns readings by position. A call that fails leaves its claims without one."""
        with open_judge_span("judge second reading", claim_count=len(claims)) as span:
            readings = await self._read(dict(enumerate(claims)))
            note(span, reading_count=len(readings))
            return readings

    async def _read(self, claims: Mapping[int, Pair]) -> dict[int, Reading]:
        request = self._request(claims)
        if len(claims) > self.claims_a_call or (len(claims) > 1 and not fits(self._chat, request)):
            items = list(claims.items())
            half = (len(items) + 1) // 2
            halves = await asyncio.gather(self._read(dict(items[:half])), self._read(dict(items[half:])))
            return halves[0] | halves[1]
        read = partial(_checked, claims=claims)
        try:
            readings, _ = await ask_json(self._chat, request, read, max_attempts=self._config.max_attempts)
            return readings
        except UnusableAnswerError:
            return {}

    def _request(self, claims: Mapping[int, Pair]) -> ChatRequest:
        listed = [{"id": at, "passage": passage, "claim": claim} for at, (passage, claim) in claims.items()]
        shown = json.dumps(listed, ensure_ascii=False, indent=0)
        fence = Fence([shown])
        messages = conversation(self._chat.prompts["claims"], fence, {"claims": fence.mark(shown)})
        return ChatRequest(messages, self._config.question_tokens, 0.0, json_schema=_SCHEMA, seed=self._config.seed)


def _checked(text: str, claims: Mapping[int, Pair]) -> dict[int, Reading]:
    """Returns what can be believed: of claims that exist, and where one is called supported, with a quote that stands.

    Raises WrongAnswerError: nothing in it can.
    """
    readings = dict[int, Reading]()
    for one in read_json(text, _Readings).readings:
        if one.id not in claims:
            continue
        passage, _ = claims[one.id]
        place = find_quote(small_letters(passage), one.quote or "")
        if place or not one.supported:
            readings[one.id] = Reading(one.supported, passage[slice(*place)] if place else "")
    if not readings:
        raise WrongAnswerError("no reading had an id of the claims and a quote of its passage")
    return readings
