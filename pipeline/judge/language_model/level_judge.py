"""Reads level probabilities off a chat model's grades of one metric at a time on an anchored rubric.

A rubric says what each level of a metric means, the best first; the prompt adds the letters. The model is asked twice,
with opposite orders of the letters, because models favour letters; the probabilities are averaged. An endpoint that
shows no log-probabilities is asked a few times more, and the shares of its answers count.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pipeline.judge.config import ProposalConfig
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.fusion import (
    LEVELS,
    Distribution,
    Level,
    LevelReading,
    LevelSource,
    from_log_probabilities,
    from_samples,
    mean_of_distributions,
)
from pipeline.judge.language_model.metric_evidence import QuoteFinder, metric_evidence
from pipeline.judge.result import MetricName
from pipeline.llm.ask import UnusableAnswerError, ask_json, letter_logprobs, read_json, reply_schema
from pipeline.llm.chat_model import ChatModel, ChatRequest
from pipeline.llm.conversation import Fence, conversation
from pipeline.reading.characters import normalize
from pipeline.tracing import note, open_judge_span

LETTERS = "ABCDE"
LetterOrder = Mapping[str, Level]
"""Which level a letter stands for."""

BEST_FIRST: LetterOrder = dict(zip(LETTERS, reversed(LEVELS), strict=True))
WORST_FIRST: LetterOrder = dict(zip(LETTERS, LEVELS, strict=True))
_ORDERS = (BEST_FIRST, WORST_FIRST)


@dataclass(frozen=True, slots=True)
class _Graded:
    """A grade with its level, and level probabilities where the endpoint shows them."""

    grade: "_Grade"
    level: Level
    probabilities: Distribution | None


class LlmLevelJudge:
    """Asks a chat model; serves one request."""

    def __init__(self, chat: ChatModel, config: ProposalConfig | None = None) -> None:
        self._chat = chat
        self._config = config or ProposalConfig()
        self._finder: QuoteFinder | None = None

    async def read_level(self, metric: MetricName, table: EvidenceTable) -> LevelReading:
        """Returns level probabilities. Raises UnusableAnswerError when none of the answers can be used."""
        with open_judge_span("judge grade", metric=metric.value) as span:
            shown = metric_evidence(metric, table, self._config.max_summary_chars)
            # All prompts of one judgement begin alike, with the number of the fence and the summary.
            evidence = json.dumps(shown, ensure_ascii=False, indent=1)
            fence = Fence([evidence], shared=(table.source, table.summary))
            ask = partial(self._grade, metric, fence, fence.mark(evidence))
            answers = await asyncio.gather(*map(ask, _ORDERS))
            first = _grades(answers)
            if not first:
                raise next(one for one in answers if isinstance(one, UnusableAnswerError))
            given = (quote.strip() for one in first for quote in one.grade.quotes)
            quotes = tuple(dict.fromkeys(quote for quote in given if quote))
            probabilities, source = await self._probabilities(ask, first)
            if self._finder is None:  # source and summary are read once for all metrics
                self._finder = QuoteFinder(normalize("summary", table.summary), normalize("source", table.source))
            places = self._finder.find(quotes)
            note(span, level_source=source.value, claimed_span_count=len(quotes))
            return LevelReading(probabilities, source, len(quotes), places, first[0].grade.reason.strip())

    async def _probabilities(
        self, ask: Callable[..., Awaitable[_Graded | UnusableAnswerError]], first: Sequence[_Graded]
    ) -> tuple[Distribution, LevelSource]:
        """Asks, where none are shown, until there are `sample_count` answers, with the orders in turn."""
        known = [one.probabilities for one in first if one.probabilities is not None]
        if len(known) == len(first):
            return mean_of_distributions(known), LevelSource.LOGITS
        samples = range(1, self._config.sample_count - len(_ORDERS) + 1)
        more = await asyncio.gather(*(ask(_ORDERS[(number + 1) % 2], number) for number in samples))
        return from_samples([one.level for one in (*first, *_grades(more))]), LevelSource.SAMPLES

    async def _grade(
        self, metric: MetricName, fence: Fence, evidence: str, order: LetterOrder, sample: int = 0
    ) -> _Graded | UnusableAnswerError:
        """Returns a grade, or why there is none. Quotes are asked for once: with the first order.

        A sample has a number from 1, and varies; 0 does not.
        """
        config, wants_quotes, prompt = self._config, order is BEST_FIRST and not sample, self._chat.prompts["levels"]
        asked, *anchors = prompt.fill(metric.value).splitlines()
        meanings = dict(zip(reversed(LEVELS), anchors, strict=True))
        levels = "\n".join(f"{letter}: {meanings[level]}" for letter, level in order.items())
        reply = prompt.fill("quotes" if wants_quotes else "letter")
        words = {"evidence": evidence, "question": asked, "levels": levels, "reply": reply}
        request = ChatRequest(
            conversation(prompt, fence, words),
            config.level_tokens,
            config.sample_temperature if sample else 0.0,
            json_schema=reply_schema(_Grade if wants_quotes else _Letter, "grade"),
            top_logprobs=0 if sample else config.top_logprobs,
            seed=config.seed + sample,
        )
        try:
            read = partial(read_json, kind=_Grade)
            grade, completion = await ask_json(self._chat, request, read, max_attempts=config.max_attempts)
        except UnusableAnswerError as error:
            return error
        found = letter_logprobs(completion.top_logprobs, LETTERS, "level")
        by_level = {order[letter]: logprob for letter, logprob in found.items()} if found else {}
        return _Graded(grade, order[grade.level], from_log_probabilities(by_level) if by_level else None)


def _grades(answers: Sequence[_Graded | UnusableAnswerError]) -> list[_Graded]:
    return [one for one in answers if isinstance(one, _Graded)]


class _Letter(BaseModel):
    level: Literal["A", "B", "C", "D", "E"]


class _Grade(_Letter):
    """What a model replies. The letter comes first: its probabilities then precede all reasoning."""

    reason: str = Field(default="", max_length=1_000)
    quotes: tuple[Annotated[str, Field(max_length=500)], ...] = Field(default=(), max_length=5)
