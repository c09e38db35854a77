"""Reads level probabilities off a chat model's grades of one metric at a time on an anchored rubric.

A rubric says what each level of a metric means, the best first; the prompt adds the letters. The model is asked twice,
with opposite orders of the letters, because models favour letters; the probabilities are averaged. An endpoint that
shows no log-probabilities is asked a few times more, and the shares of its answers count.
"""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
from pipeline.llm.ask import (
    UnusableAnswerError,
    WrongAnswerError,
    ask_json,
    letter_probabilities,
    object_schema,
    read_json,
)
from pipeline.llm.chat_model import ChatMessage, ChatModel, ChatRequest, Completion
from pipeline.llm.conversation import conversation
from pipeline.llm.fence import Fence
from pipeline.prompts.prompts import Prompt
from pipeline.reading.characters import normalize
from pipeline.tracing import note, open_judge_span

LETTERS = "ABCDE"
LetterOrder = Mapping[str, Level]
"""Which level a letter stands for."""

BEST_FIRST: LetterOrder = dict(zip(LETTERS, reversed(LEVELS), strict=True))
WORST_FIRST: LetterOrder = dict(zip(LETTERS, LEVELS, strict=True))
_ORDERS = (BEST_FIRST, WORST_FIRST)


@dataclass(frozen=True, slots=True)
class _Question:
    """What the model is asked: a metric, its evidence as JSON, the order of the letters, and whether to give quotes.

    Attributes:
        texts: source and summary.
    """

    metric: MetricName
    evidence: str
    order: LetterOrder
    texts: tuple[str, str]
    wants_quotes: bool = False


@dataclass(frozen=True, slots=True)
class _Graded:
    """A grade with the order of its letters, and level probabilities where the endpoint shows them."""

    grade: "_Grade"
    order: LetterOrder
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
            reading = await self._read_level(metric, table)
            note(span, level_source=reading.source.value, claimed_span_count=reading.claimed_span_count)
            return reading

    async def _read_level(self, metric: MetricName, table: EvidenceTable) -> LevelReading:
        shown = metric_evidence(metric, table, self._config.max_summary_chars)
        evidence = json.dumps(shown, ensure_ascii=False, indent=1)
        texts = table.source, table.summary
        asked = [_Question(metric, evidence, order, texts, order is BEST_FIRST) for order in _ORDERS]
        first, failures = await self._grade_all(asked, temperature=0.0)
        if not first:
            raise failures[0]
        quotes = tuple(dict.fromkeys(quote for one in first for quote in one.grade.quotes))
        if any(one.probabilities is None for one in first):
            probabilities, source = await self._sample(asked[-1], first), LevelSource.SAMPLES
        else:
            known = [one.probabilities for one in first if one.probabilities is not None]
            probabilities, source = mean_of_distributions(known), LevelSource.LOGITS
        places = self._quote_finder(table).find(quotes)
        return LevelReading(probabilities, source, len(quotes), places, first[0].grade.reason.strip())

    async def _sample(self, question: _Question, first: Sequence[_Graded]) -> Distribution:
        """Asks until there are `sample_count` answers, with the orders in turn."""
        missing = range(len(_ORDERS), self._config.sample_count)
        asked = [replace(question, order=_ORDERS[number % 2]) for number in missing]
        more, _ = await self._grade_all(asked, temperature=self._config.sample_temperature)
        return from_samples([one.order[one.grade.level] for one in (*first, *more)])

    async def _grade_all(
        self, asked: Sequence[_Question], *, temperature: float
    ) -> tuple[list[_Graded], list[UnusableAnswerError]]:
        """Returns the grades that came, in order, and why the others did not."""
        seeds = [self._config.seed + (number if temperature else 0) for number in range(1, len(asked) + 1)]
        calls = (self._grade(question, temperature, seed) for question, seed in zip(asked, seeds, strict=True))
        answers = await asyncio.gather(*calls)
        grades = [one for one in answers if isinstance(one, _Graded)]
        return grades, [one for one in answers if isinstance(one, UnusableAnswerError)]

    async def _grade(self, question: _Question, temperature: float, seed: int) -> _Graded | UnusableAnswerError:
        """Returns a grade, or why there is none."""
        request = ChatRequest(
            _messages(question, self._chat.prompts["levels"]),
            self._config.level_tokens,
            temperature,
            json_schema=_schema(question),
            top_logprobs=0 if temperature else self._config.top_logprobs,
            seed=seed,
        )
        try:
            answer = await ask_json(self._chat, request, _read_grade, max_attempts=self._config.max_attempts)
        except UnusableAnswerError as error:
            return error
        return _Graded(answer.value, question.order, self._probabilities(answer.completion, question.order))

    def _probabilities(self, completion: Completion, order: LetterOrder) -> Distribution | None:
        found = letter_probabilities(completion.top_logprobs, LETTERS, key="level")
        if not found or math.fsum(found.values()) < self._config.least_letter_mass:
            return None
        return from_log_probabilities({order[letter]: math.log(p) for letter, p in found.items() if p > 0})

    def _quote_finder(self, table: EvidenceTable) -> QuoteFinder:
        """Reads source and summary once for all metrics."""
        if self._finder is None:
            self._finder = QuoteFinder(normalize("summary", table.summary), normalize("source", table.source))
        return self._finder


_MAX_QUOTES = 5
_MAX_REASON_CHARS = 1_000
_MAX_QUOTE_CHARS = 500


class _Grade(BaseModel):
    """What a model replies. The letter comes first: its probabilities then precede all reasoning."""

    level: str = Field(min_length=1, max_length=3)
    reason: str = Field(default="", max_length=_MAX_REASON_CHARS)
    quotes: tuple[str, ...] = Field(default=(), max_length=4 * _MAX_QUOTES)


def _messages(question: _Question, prompt: Prompt) -> tuple[ChatMessage, ...]:
    """Returns the conversation. All of one judgement begin alike, with the number of the fence and the summary."""
    fence = Fence([question.evidence], shared=question.texts)
    asked, *anchors = prompt.fill(question.metric.value).splitlines()
    meanings = dict(zip(reversed(LEVELS), anchors, strict=True))
    words = {
        "evidence": fence.mark(question.evidence),
        "question": asked,
        "levels": "\n".join(f"{letter}: {meanings[level]}" for letter, level in question.order.items()),
        "reply": prompt.fill("quotes" if question.wants_quotes else "letter"),
    }
    return conversation(prompt, fence, words)


def _schema(question: _Question) -> dict[str, object]:
    """Returns the JSON schema of the reply."""
    properties: dict[str, object] = {"level": {"type": "string", "enum": list(LETTERS)}}
    if question.wants_quotes:
        quote = {"type": "string", "maxLength": _MAX_QUOTE_CHARS}
        properties |= {
            "reason": {"type": "string", "maxLength": _MAX_REASON_CHARS},
            "quotes": {"type": "array", "items": quote, "maxItems": _MAX_QUOTES},
        }
    return object_schema(properties, "grade")


def _read_grade(text: str) -> _Grade:
    """Reads a reply. Raises WrongAnswerError if it is none, or its level is no letter of the rubric."""
    grade = read_json(text, _Grade)
    letter = grade.level.strip(" .)").upper()
    if len(letter) != 1 or letter not in LETTERS:
        raise WrongAnswerError("level was no letter of the rubric")
    quotes = tuple(dict.fromkeys(quote.strip() for quote in grade.quotes if quote.strip()))[:_MAX_QUOTES]
    return grade.model_copy(update={"level": letter, "quotes": quotes})
