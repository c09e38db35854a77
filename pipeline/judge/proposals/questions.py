"""Questions about statements: asked for, and read. The model sees one side only."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.judge.proposals import question_prompts as prompts
from pipeline.llm.ask import WrongAnswerError
from pipeline.llm.chat_model import ChatMessage
from pipeline.llm.fence import Fence
from pipeline.text.passage import Passage

Messages = tuple[ChatMessage, ...]
Statements = Mapping[int, Passage]
"""Statements by id."""

_MAX_QUESTION_CHARS = 400
_MAX_ANSWER_CHARS = 300


class WrittenQuestion(BaseModel):
    """A question with its expected answer."""

    model_config = ConfigDict(frozen=True)

    id: int
    question: str = Field(min_length=3, max_length=_MAX_QUESTION_CHARS)
    answer: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)


class _Written(BaseModel):
    key_points: tuple[int, ...] = ()
    questions: tuple[WrittenQuestion, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Questions:
    """What a model wrote.

    Attributes:
        key_point_ids: of statements that exist, without repeats; empty unless asked for.
        questions: about statements that exist, not more than wanted.
        refused_count: ids and questions that were left out.
    """

    key_point_ids: tuple[int, ...]
    questions: tuple[WrittenQuestion, ...]
    refused_count: int


def source_messages(statements: Statements, key_point_count: tuple[int, int], count: int) -> Messages:
    """Asks for key points and questions about the source."""
    least, most = key_point_count
    return _conversation(prompts.WRITE_FROM_SOURCE, statements, least=least, most=most, count=count)


def claim_messages(statements: Statements, count: int) -> Messages:
    """Asks for questions about the summary's claims."""
    return _conversation(prompts.WRITE_FROM_CLAIMS, statements, count=count)


def question_schema(*, with_key_points: bool) -> dict[str, object]:
    """Returns the JSON schema of the reply."""
    question = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "question": {"type": "string", "maxLength": _MAX_QUESTION_CHARS},
            "answer": {"type": "string", "maxLength": _MAX_ANSWER_CHARS},
        },
        "required": ["id", "question", "answer"],
        "additionalProperties": False,
    }
    properties: dict[str, object] = {"questions": {"type": "array", "items": question}}
    if with_key_points:
        properties = {"key_points": {"type": "array", "items": {"type": "integer"}}, **properties}
    return {
        "title": "questions",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_questions(text: str, statements: Statements, count: int) -> Questions:
    """Reads a reply. Raises WrongAnswerError if it is none, or nothing in it is about a statement that exists."""
    try:
        written = _Written.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise WrongAnswerError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise WrongAnswerError("it was no JSON") from None
    points = tuple(dict.fromkeys(one for one in written.key_points if one in statements))
    questions = [one for one in written.questions if one.id in statements]
    if not questions:
        raise WrongAnswerError("no question had an id of the statements")
    refused = len(set(written.key_points)) - len(points) + len(written.questions) - len(questions)
    return Questions(points, tuple(questions[:count]), refused)


def _conversation(template: str, statements: Statements, **numbers: int) -> Messages:
    listed = json.dumps(
        [{"id": number, "text": passage.text} for number, passage in statements.items()], ensure_ascii=False, indent=0
    )
    fence = Fence([listed])
    system = prompts.WRITE_SYSTEM.format(data_rule=prompts.DATA_RULE.format(nonce=fence.nonce).strip())
    user = template.format(statements=fence.mark(listed), **numbers)
    return ChatMessage("system", system.strip()), ChatMessage("user", user.strip())


def thinned(passages: Sequence[Passage], share: float) -> Statements:
    """Returns a share of some passages, evenly spread, with their indices as ids."""
    step = max(1, round(1 / share))
    return {index: passage for index, passage in enumerate(passages) if index % step == 0}
