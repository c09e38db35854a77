"""Reads level probabilities off a chat model's grades.

The model is asked twice, with opposite orders of the letters, because models favour letters; the probabilities are
averaged. An endpoint that shows no log-probabilities is asked a few times more, and the shares of its answers count.
"""

import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.judge.config import ProposalConfig
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.fusion import Distribution, from_log_probabilities, from_samples, mean_of_distributions
from pipeline.judge.language_model.grade import (
    BEST_FIRST,
    LETTERS,
    WORST_FIRST,
    Grade,
    GradeTask,
    LetterOrder,
    grade_messages,
    grade_schema,
    read_grade,
)
from pipeline.judge.language_model.metric_evidence import QuoteFinder, metric_evidence
from pipeline.judge.tracing import open_span
from pipeline.judge.ultra.levels import LevelReading, LevelSource, LevelTask
from pipeline.llm.ask import UnusableAnswerError, ask_json, letter_probabilities
from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion
from pipeline.reading.characters import normalize
from pipeline.tracing import note

_ORDERS = (BEST_FIRST, WORST_FIRST)


@dataclass(frozen=True, slots=True)
class _Graded:
    """A grade with the order of its letters, and level probabilities where the endpoint shows them."""

    grade: Grade
    order: LetterOrder
    probabilities: Distribution | None


class LlmLevelJudge:
    """Asks a chat model; `pipeline.judge.ultra.levels.LevelJudge`. Serves one request."""

    def __init__(self, chat: ChatModel, config: ProposalConfig | None = None) -> None:
        self._chat = chat
        self._config = config or ProposalConfig()
        self._finder: QuoteFinder | None = None

    async def read_level(self, task: LevelTask) -> LevelReading:
        """Returns level probabilities. Raises UnusableAnswerError when none of the answers can be used."""
        with open_span("judge grade", metric=task.metric.value) as span:
            reading = await self._read_level(task)
            note(span, level_source=reading.source.value, claimed_span_count=reading.claimed_span_count)
            return reading

    async def _read_level(self, task: LevelTask) -> LevelReading:
        shown = metric_evidence(task.metric, task.table, self._config.max_summary_chars)
        evidence = json.dumps(shown, ensure_ascii=False, indent=1)
        tasks = [GradeTask(task.metric, evidence, order, order is BEST_FIRST) for order in _ORDERS]
        first, failures = await self._grade_all(tasks, temperature=0.0)
        if not first:
            raise failures[0]
        quotes = tuple(dict.fromkeys(quote for one in first for quote in one.grade.quotes))
        if any(one.probabilities is None for one in first):
            probabilities, source = await self._sample(task, evidence, first), LevelSource.SAMPLES
        else:
            known = [one.probabilities for one in first if one.probabilities is not None]
            probabilities, source = mean_of_distributions(known), LevelSource.LOGITS
        places = self._quote_finder(task.table).find(quotes)
        return LevelReading(probabilities, source, len(quotes), places, first[0].grade.reason.strip())

    async def _sample(self, task: LevelTask, evidence: str, first: Sequence[_Graded]) -> Distribution:
        """Asks until there are `sample_count` answers, with the orders in turn."""
        missing = range(len(_ORDERS), self._config.sample_count)
        tasks = [GradeTask(task.metric, evidence, _ORDERS[number % 2], wants_quotes=False) for number in missing]
        more, _ = await self._grade_all(tasks, temperature=self._config.sample_temperature)
        return from_samples([one.order[one.grade.level] for one in (*first, *more)])

    async def _grade_all(
        self, tasks: Sequence[GradeTask], *, temperature: float
    ) -> tuple[list[_Graded], list[UnusableAnswerError]]:
        """Returns the grades that came, in order, and why the others did not."""
        seeds = [self._config.seed + (number if temperature else 0) for number in range(1, len(tasks) + 1)]
        calls = (self._grade(task, temperature, seed) for task, seed in zip(tasks, seeds, strict=True))
        answers = await asyncio.gather(*calls)
        grades = [one for one in answers if isinstance(one, _Graded)]
        return grades, [one for one in answers if isinstance(one, UnusableAnswerError)]

    async def _grade(self, task: GradeTask, temperature: float, seed: int) -> _Graded | UnusableAnswerError:
        """Returns a grade, or why there is none."""
        request = ChatRequest(
            grade_messages(task),
            self._config.level_tokens,
            temperature,
            json_schema=grade_schema(wants_quotes=task.wants_quotes),
            top_logprobs=0 if temperature else self._config.top_logprobs,
            seed=seed,
        )
        try:
            answer = await ask_json(self._chat, request, read_grade, max_attempts=self._config.max_attempts)
        except UnusableAnswerError as error:
            return error
        return _Graded(answer.value, task.order, self._probabilities(answer.completion, task.order))

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
