"""Answers to questions, from the other text: asked for, and read. The model never sees the expected answers."""

import json
from collections.abc import Sequence

from pydantic import BaseModel, Field, ValidationError

from pipeline.judge.proposals import question_prompts as prompts
from pipeline.judge.proposals.questions import Messages, WrittenQuestion
from pipeline.llm.ask import WrongAnswerError
from pipeline.llm.chat_model import ChatMessage
from pipeline.llm.fence import Fence

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
    system = prompts.ANSWER_SYSTEM.format(data_rule=prompts.DATA_RULE.format(nonce=fence.nonce).strip())
    user = prompts.ANSWER_USER.format(text=fence.mark(text), questions=fence.mark(listed))
    return ChatMessage("system", system.strip()), ChatMessage("user", user.strip())


def answer_schema() -> dict[str, object]:
    """Returns the JSON schema of the reply."""
    answer = {
        "type": "object",
        "properties": {
            "question": {"type": "integer"},
            "quote": {"type": ["string", "null"], "maxLength": _MAX_QUOTE_CHARS},
        },
        "required": ["question", "quote"],
        "additionalProperties": False,
    }
    return {
        "title": "answers",
        "type": "object",
        "properties": {"answers": {"type": "array", "items": answer}},
        "required": ["answers"],
        "additionalProperties": False,
    }


def read_given_answers(text: str, count: int) -> list[str | None]:
    """Returns the quote for each of `count` questions, None where the text does not say or the reply leaves it out.

    Raises:
        WrongAnswerError: it is no reply, or answers none of the questions.
    """
    try:
        given = _GivenAnswers.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise WrongAnswerError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise WrongAnswerError("it was no JSON") from None
    known = {one.question: (one.quote or "").strip() or None for one in given.answers if 1 <= one.question <= count}
    if not known:
        raise WrongAnswerError("no answer had a number of the questions")
    return [known.get(number) for number in range(1, count + 1)]
