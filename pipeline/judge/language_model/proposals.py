"""Has a chat model write key points, questions and answers for the evidence table.

Questions are written from one text alone, and answered from the other alone. The call that answers sees neither the
statement nor the expected answer. The model returns ids and quotes; the table checks both and scores. Whatever is not
ours is data.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from pipeline.judge.config import EvidenceConfig, ProposalConfig
from pipeline.judge.evidence.proposals import ProposalSet, ProposalTask, ProposedQuestion
from pipeline.llm.ask import UnusableAnswerError, WrongAnswerError, ask_json, fits, read_json, reply_schema
from pipeline.llm.chat_model import ChatMessage, ChatModel, ChatRequest
from pipeline.llm.config import LlmRole
from pipeline.llm.conversation import Fence, author_of, conversation
from pipeline.reading.passage import TextSpan
from pipeline.tracing import note, open_judge_span

_SHARES = (1.0, 0.5, 0.25, 0.125, 1 / 16, 1 / 32, 1 / 64)  # of statements or of a text, until the prompt fits
_KEY_POINT_COUNT = (4, 7)  # least and most
_MAX_QUESTION_CHARS, _MAX_ANSWER_CHARS, _MAX_QUOTE_CHARS = 400, 300, 300

T = TypeVar("T")
Messages = tuple[ChatMessage, ...]
Statements = Mapping[int, TextSpan]
"""Statements by id."""


class WrittenQuestion(BaseModel):
    """A question with its expected answer, and the id of the statement that it is about."""

    model_config = ConfigDict(frozen=True)

    id: int
    question: str = Field(min_length=3, max_length=_MAX_QUESTION_CHARS)
    answer: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)


class _AboutClaims(BaseModel):
    questions: tuple[WrittenQuestion, ...] = Field(min_length=1)


class _AboutArticle(BaseModel):
    key_points: tuple[int, ...] = ()
    questions: tuple[WrittenQuestion, ...] = Field(min_length=1)


_ASKED: dict[str, tuple[str, type[BaseModel]]] = {
    "coverage": ("article", _AboutArticle),
    "claim": ("claims", _AboutClaims),
}
"""By side: the section of the prompt, and what is replied."""


class _GivenAnswer(BaseModel):
    question: int
    quote: str | None = Field(default=None, max_length=_MAX_QUOTE_CHARS)


class _GivenAnswers(BaseModel):
    answers: tuple[_GivenAnswer, ...]


AnsweringText = Callable[[Sequence[WrittenQuestion]], str]
"""Gives the text from which some questions are answered."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of one direction; parts that failed are empty."""

    key_point_ids: tuple[int, ...] = ()
    questions: tuple[ProposedQuestion, ...] = ()
    notes: tuple[str, ...] = ()


class LlmProposals:
    """Asks a chat model."""

    def __init__(self, chat: ChatModel, config: ProposalConfig | None = None) -> None:
        self._chat = chat
        self._config = config or ProposalConfig()

    async def propose(self, task: ProposalTask) -> ProposalSet:
        """Returns proposals. What fails ends in an empty part with a note."""
        coverage, claims = await asyncio.gather(
            self._ask_side("coverage", task.source_sentences, lambda _: task.summary.text),
            self._ask_side("claim", task.claims, partial(_premises, task)),
        )
        return ProposalSet(
            key_point_ids=coverage.key_point_ids,
            coverage_questions=coverage.questions,
            claim_questions=claims.questions,
            author=author_of(self._chat, LlmRole.JUDGE),
            notes=(*coverage.notes, *claims.notes),
        )

    async def _ask_side(self, side: str, statements: Sequence[TextSpan], text_of: AnsweringText) -> _Outcome:
        if not statements:
            return _Outcome()
        with open_judge_span(f"judge {side} questions") as span:
            outcome = await self._ask_and_answer(side, statements, text_of)
            note(span, question_count=len(outcome.questions), note_count=len(outcome.notes))
            return outcome

    async def _ask_and_answer(self, side: str, statements: Sequence[TextSpan], text_of: AnsweringText) -> _Outcome:
        try:
            written, refused_count = await self._write(side, statements)
        except UnusableAnswerError as error:
            return _Outcome(notes=(f"{side} questions missing, {error}",))
        notes = (f"{side} ids refused, no such statement: {refused_count}",) * bool(refused_count)
        try:
            given = await self._answer(written.questions, text_of(written.questions))
        except UnusableAnswerError as error:
            return _Outcome(written.key_points, notes=(*notes, f"{side} answers missing, {error}"))
        questions = tuple(
            ProposedQuestion(one.id, one.question, one.answer, quote)
            for one, quote in zip(written.questions, given, strict=True)
        )
        return _Outcome(written.key_points, questions, notes)

    async def _write(self, side: str, passages: Sequence[TextSpan]) -> tuple[_AboutArticle, int]:
        """Asks for questions about the statements of one text, about the source for key points as well."""
        section, kind = _ASKED[side]
        forms = []
        for share in _SHARES:
            statements = {index: passages[index] for index in range(0, len(passages), round(1 / share))}
            listed = _listed({"id": number, "text": passage.text} for number, passage in statements.items())
            fence, (least, most) = Fence([listed]), map(str, _KEY_POINT_COUNT)
            counts = {"least": least, "most": most, "count": str(EvidenceConfig.question_count)}
            words = {"statements": fence.mark(listed), **counts}
            messages = conversation(self._chat.prompts["questions"], fence, words, section)
            forms.append((statements, self._request(messages, reply_schema(kind, "questions"))))
        statements, request = self._first_that_fits(forms)
        read = partial(_read_questions, statements=statements)
        written, _ = await ask_json(self._chat, request, read, max_attempts=self._config.max_attempts)
        return written

    async def _answer(self, questions: Sequence[WrittenQuestion], whole: str) -> list[str | None]:
        listed = _listed({"number": number, "question": one.question} for number, one in enumerate(questions, start=1))
        forms = []
        for share in _SHARES:
            text = whole[: int(share * len(whole))]
            fence = Fence([text, listed])
            words = {"text": fence.mark(text), "questions": fence.mark(listed)}
            messages = conversation(self._chat.prompts["answers"], fence, words)
            forms.append((text, self._request(messages, reply_schema(_GivenAnswers, "answers"))))
        _, request = self._first_that_fits(forms)
        read = partial(_read_answers, count=len(questions))
        given, _ = await ask_json(self._chat, request, read, max_attempts=self._config.max_attempts)
        return given

    def _first_that_fits(self, forms: Sequence[tuple[T, ChatRequest]]) -> tuple[T, ChatRequest]:
        """Returns the first form that fits into the model's context; the last one if none does."""
        return next((form for form in forms if fits(self._chat, form[1])), forms[-1])

    def _request(self, messages: Messages, schema: dict[str, object]) -> ChatRequest:
        config = self._config
        return ChatRequest(messages, config.question_tokens, 0.0, json_schema=schema, seed=config.seed)


def _premises(task: ProposalTask, questions: Sequence[WrittenQuestion]) -> str:
    """Returns the passages that the claims asked about are checked against, each once, in their order."""
    premises = [premise for asked in questions if (premise := task.premises[asked.id])]
    passages = {(premise.start, premise.end): premise.text for premise in premises}
    return "\n\n".join(passages[place] for place in sorted(passages))


def _listed(items: Iterable[dict[str, object]]) -> str:
    return json.dumps(list(items), ensure_ascii=False, indent=0)


def _read_questions(text: str, statements: Statements) -> tuple[_AboutArticle, int]:
    """Reads a reply: what is about statements that exist, not more than wanted, and how many ids were left out.

    Raises WrongAnswerError: it is none, or nothing in it is about a statement that exists.
    """
    written = read_json(text, _AboutArticle)
    points = tuple(dict.fromkeys(one for one in written.key_points if one in statements))
    questions = tuple(one for one in written.questions if one.id in statements)
    if not questions:
        raise WrongAnswerError("no question had an id of the statements")
    refused_count = len(set(written.key_points)) - len(points) + len(written.questions) - len(questions)
    return _AboutArticle(key_points=points, questions=questions[: EvidenceConfig.question_count]), refused_count


def _read_answers(text: str, count: int) -> list[str | None]:
    """Returns the quote for each of `count` questions, None where the text does not say or the reply leaves it out.

    Raises WrongAnswerError: it is no reply, or answers none of the questions.
    """
    given = read_json(text, _GivenAnswers)
    known = {one.question: (one.quote or "").strip() or None for one in given.answers if 1 <= one.question <= count}
    if not known:
        raise WrongAnswerError("no answer had a number of the questions")
    return [known.get(number) for number in range(1, count + 1)]
