"""Has a chat model write key points, questions and answers for the evidence table.

Questions are written from one text alone, and answered from the other alone, in a call of its own that sees neither the
statement nor the expected answer. The model returns ids and quotes; the table checks both and scores.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, Field

from pipeline.judge.config import ProposalConfig
from pipeline.judge.evidence.proposals import ProposalSet, ProposalTask, ProposedQuestion
from pipeline.judge.language_model import questions as prompts
from pipeline.judge.language_model.questions import (
    Messages,
    Statements,
    WrittenQuestion,
    WrittenQuestions,
    claim_messages,
    question_schema,
    read_questions,
    source_messages,
    thinned,
)
from pipeline.judge.tracing import open_span
from pipeline.llm.ask import UnusableAnswerError, WrongAnswerError, ask_json, fits, object_schema, read_json
from pipeline.llm.chat_model import ChatMessage, ChatModel, ChatRequest
from pipeline.llm.fence import Fence
from pipeline.reading.passage import TextSpan
from pipeline.tracing import note

_SHARES = (1.0, 0.5, 0.25, 0.125, 1 / 16, 1 / 32, 1 / 64)  # of statements or of a text, until the prompt fits

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Side:
    """One direction of questions.

    Attributes:
        answering_text: from which the questions are answered.
        with_key_points: whether key points are asked for as well.
    """

    name: str
    statements: Sequence[TextSpan]
    ask: Callable[[Statements], Messages]
    answering_text: Callable[[Sequence[WrittenQuestion]], str]
    with_key_points: bool


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of one direction; parts that failed are empty."""

    key_point_ids: tuple[int, ...] = ()
    questions: tuple[ProposedQuestion, ...] = ()
    notes: tuple[str, ...] = ()


class LlmProposals:
    """Asks a chat model; `pipeline.judge.evidence.proposals.Proposals`."""

    def __init__(self, chat: ChatModel, config: ProposalConfig | None = None) -> None:
        self._chat = chat
        self._config = config or ProposalConfig()

    async def propose(self, task: ProposalTask) -> ProposalSet:
        """Returns proposals. What fails ends in an empty part with a note."""
        points, count = task.key_point_count, task.question_count
        from_source = _Side(
            "coverage",
            task.source_sentences,
            lambda statements: source_messages(statements, points, count),
            lambda _: task.summary.text,
            with_key_points=True,
        )
        from_claims = _Side(
            "claim",
            task.claims,
            lambda statements: claim_messages(statements, count),
            partial(_premises, task),
            with_key_points=False,
        )
        coverage, claims = await asyncio.gather(self._ask_side(from_source, count), self._ask_side(from_claims, count))
        return ProposalSet(
            key_point_ids=coverage.key_point_ids,
            coverage_questions=coverage.questions,
            claim_questions=claims.questions,
            author=self._chat.identity,
            notes=(*coverage.notes, *claims.notes),
        )

    async def _ask_side(self, side: _Side, count: int) -> _Outcome:
        """Has questions written from one side, then answered from the other."""
        if not side.statements:
            return _Outcome()
        with open_span(f"judge {side.name} questions") as span:
            outcome = await self._ask_and_answer(side, count)
            note(span, question_count=len(outcome.questions), note_count=len(outcome.notes))
            return outcome

    async def _ask_and_answer(self, side: _Side, count: int) -> _Outcome:
        try:
            written = await self._write(side, count)
        except UnusableAnswerError as error:
            return _Outcome(notes=(f"{side.name} questions missing, {error.reason}",))
        notes = (f"{side.name} ids refused, no such statement: {written.refused_count}",) * bool(written.refused_count)
        try:
            given = await self._answer(written.questions, side.answering_text(written.questions))
        except UnusableAnswerError as error:
            return _Outcome(written.key_point_ids, notes=(*notes, f"{side.name} answers missing, {error.reason}"))
        questions = tuple(
            ProposedQuestion(one.id, one.question, one.answer, quote)
            for one, quote in zip(written.questions, given, strict=True)
        )
        return _Outcome(written.key_point_ids, questions, notes)

    async def _write(self, side: _Side, count: int) -> WrittenQuestions:
        schema = question_schema(with_key_points=side.with_key_points)
        offered = (thinned(side.statements, share) for share in _SHARES)
        statements, request = self._first_that_fits((some, self._request(side.ask(some), schema)) for some in offered)
        read = partial(read_questions, statements=statements, count=count)
        return (await ask_json(self._chat, request, read, max_attempts=self._config.max_attempts)).value

    async def _answer(self, questions: Sequence[WrittenQuestion], text: str) -> list[str | None]:
        shortened = (text[: int(share * len(text))] for share in _SHARES)
        _, request = self._first_that_fits(
            (one, self._request(answer_messages(questions, one), answer_schema())) for one in shortened
        )
        read = partial(read_given_answers, count=len(questions))
        return (await ask_json(self._chat, request, read, max_attempts=self._config.max_attempts)).value

    def _first_that_fits(self, forms: Iterable[tuple[T, ChatRequest]]) -> tuple[T, ChatRequest]:
        """Returns the first form that fits into the model's context; the last one if none does."""
        form = None
        for form in forms:
            if fits(self._chat, form[1]):
                break
        if form is None:
            raise ValueError("there is no form")
        return form

    def _request(self, messages: Messages, schema: dict[str, object]) -> ChatRequest:
        config = self._config
        return ChatRequest(messages, config.question_tokens, 0.0, json_schema=schema, seed=config.seed)


def _premises(task: ProposalTask, questions: Sequence[WrittenQuestion]) -> str:
    """Returns the passages that the claims asked about are checked against, each once, in their order."""
    premises = [premise for asked in questions if (premise := task.premises[asked.id])]
    passages = {(premise.start, premise.end): premise.text for premise in premises}
    return "\n\n".join(passages[place] for place in sorted(passages))


_MAX_QUOTE_CHARS = 300


class _GivenAnswer(BaseModel):
    question: int
    quote: str | None = Field(default=None, max_length=_MAX_QUOTE_CHARS)


class _GivenAnswers(BaseModel):
    answers: tuple[_GivenAnswer, ...]


def answer_messages(questions: Sequence[WrittenQuestion], text: str) -> Messages:
    """Asks for answers from a text alone."""
    listed = json.dumps(
        [{"number": number, "question": one.question} for number, one in enumerate(questions, start=1)],
        ensure_ascii=False,
        indent=0,
    )
    fence = Fence([text, listed])
    system = prompts.ANSWER_SYSTEM.format(data_rule=prompts.READ_RULE.format(nonce=fence.nonce).strip())
    user = prompts.ANSWER_USER.format(text=fence.mark(text), questions=fence.mark(listed))
    return ChatMessage("system", system.strip()), ChatMessage("user", user.strip())


def answer_schema() -> dict[str, object]:
    """Returns the JSON schema of the reply."""
    answer = {
        "question": {"type": "integer"},
        "quote": {"type": ["string", "null"], "maxLength": _MAX_QUOTE_CHARS},
    }
    return object_schema({"answers": {"type": "array", "items": object_schema(answer)}}, "answers")


def read_given_answers(text: str, count: int) -> list[str | None]:
    """Returns the quote for each of `count` questions, None where the text does not say or the reply leaves it out.

    Raises:
        WrongAnswerError: it is no reply, or answers none of the questions.
    """
    given = read_json(text, _GivenAnswers)
    known = {one.question: (one.quote or "").strip() or None for one in given.answers if 1 <= one.question <= count}
    if not known:
        raise WrongAnswerError("no answer had a number of the questions")
    return [known.get(number) for number in range(1, count + 1)]
