"""Reads a language model's answer, and refuses what cannot be one."""

import json
from collections.abc import Collection
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_MAX_ANSWER_CHARS = 4_000


class ModelAnswer(BaseModel):
    """What the model is asked to reply with. The letter comes first: its probabilities then precede all reasoning."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    final_answer: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)
    quality_reasoning: str = Field(min_length=1, max_length=_MAX_ANSWER_CHARS)
    used_evidence: tuple[str, ...] = ()
    need_replan: bool = False
    replan_reason: str | None = None


class AnswerProblemError(Exception):
    """An answer that is none. Its message goes into the next prompt: it never holds the answer's own words."""


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer that can be used.

    Attributes:
        answer: with the ids that exist, and the letter alone.
        unknown_id_count: ids that it cited and that do not exist.
    """

    answer: ModelAnswer
    unknown_id_count: int


def answer_schema(letters: str) -> dict[str, object]:
    """Returns the JSON schema of a reply; with letters, the answer is one of them."""
    text = {"type": "string", "minLength": 1, "maxLength": _MAX_ANSWER_CHARS}
    properties = {
        "final_answer": {"type": "string", "enum": list(letters)} if letters else text,
        "quality_reasoning": text,
        "used_evidence": {"type": "array", "items": {"type": "string"}},
        "need_replan": {"type": "boolean"},
        "replan_reason": {"type": ["string", "null"]},
    }
    return {
        "title": "quality_answer",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_answer(text: str, letters: str, known_ids: Collection[str]) -> CheckedAnswer:
    """Reads a reply in JSON.

    Raises:
        AnswerProblemError: it is not the JSON asked for, answers with no letter of those allowed, says nothing, or
            cites evidence of which nothing exists.
    """
    try:
        answer = ModelAnswer.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise AnswerProblemError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise AnswerProblemError("it was no JSON") from None
    final = answer.final_answer.strip()
    if letters:
        final = final.rstrip(".) ").upper()
        if len(final) != 1 or final not in letters:
            raise AnswerProblemError("final_answer was no letter of those allowed")
    if not final or not answer.quality_reasoning.strip():
        raise AnswerProblemError("final_answer or quality_reasoning was blank")
    ids = tuple(dict.fromkeys(one for one in answer.used_evidence if one in known_ids))
    unknown = len(set(answer.used_evidence)) - len(ids)
    if unknown and not ids:
        raise AnswerProblemError("used_evidence had no id of the evidence")
    checked = answer.model_copy(
        update={"final_answer": final, "quality_reasoning": answer.quality_reasoning.strip(), "used_evidence": ids}
    )
    return CheckedAnswer(checked, unknown)
