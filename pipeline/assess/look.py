"""Has a language model look at images: what is wrong with each part of the scope, and where the part is.

A second look is told what the first one left open.
"""

import json
from collections.abc import Sequence

from pydantic import BaseModel, Field

from pipeline.assess.evidence import GLOBAL, DistortionSeverity, Finding
from pipeline.assess.images import Box
from pipeline.assess.request import AssessRequest, Checked
from pipeline.llm.ask import WrongAnswerError, object_schema, read_json
from pipeline.llm.chat_model import ChatMessage
from pipeline.llm.conversation import conversation
from pipeline.llm.fence import Fence
from pipeline.prompts.prompts import Prompt

LOOK_TOKENS = 800
"""Longest reply of the model."""

_MAX_FINDINGS = 40
_MAX_CHARS = 500


class _Finding(BaseModel):
    part: int
    type: str = Field(min_length=1, max_length=100)
    severity: DistortionSeverity
    explanation: str = Field(default="", max_length=_MAX_CHARS)
    box: tuple[float, ...] | None = None


class _Findings(BaseModel):
    findings: tuple[_Finding, ...] = Field(min_length=1, max_length=_MAX_FINDINGS)


def look_messages(
    prompt: Prompt,
    asked: Checked[AssessRequest],
    scope: Sequence[str],
    *,
    distortions: Sequence[str],
    doubts: Sequence[str],
) -> tuple[ChatMessage, ...]:
    """Returns the conversation.

    Args:
        asked: question and images.
        scope: parts to look at.
        distortions: to look for; none: any.
        doubts: what the evidence left open so far.
    """
    numbered = [{"part": number, "name": name} for number, name in enumerate(scope, start=1)]
    parts, left_open = json.dumps(numbered, ensure_ascii=False), "\n".join(doubts)
    question = asked.request.question
    fence = Fence([question, parts, left_open])
    words = {
        "question": fence.mark(question),
        "parts": fence.mark(parts),
        "distortions": ", ".join(distortions) or "any",
        "again": prompt.fill("again", doubts=fence.mark(left_open)) if doubts else "",
    }
    return conversation(prompt, fence, words, images=[image.part for image in asked.images])


def look_schema() -> dict[str, object]:
    """Returns the JSON schema of the reply."""
    finding = {
        "part": {"type": "integer"},
        "type": {"type": "string", "maxLength": 100},
        "severity": {"type": "string", "enum": [one.value for one in DistortionSeverity]},
        "explanation": {"type": "string", "maxLength": _MAX_CHARS},
        "box": {"type": ["array", "null"], "items": {"type": "number"}},
    }
    return object_schema({"findings": {"type": "array", "items": object_schema(finding)}}, title="findings")


def read_look(text: str, scope: Sequence[str]) -> tuple[dict[str, tuple[Finding, ...]], dict[str, Box]]:
    """Returns findings by part, and where those are in the first image that are only a part of it.

    Raises:
        WrongAnswerError: it is no reply, or says nothing of any part.
    """
    findings: dict[str, tuple[Finding, ...]] = {}
    boxes: dict[str, Box] = {}
    for one in read_json(text, _Findings).findings:
        if 1 <= one.part <= len(scope):
            part = scope[one.part - 1]
            found = Finding(one.type.strip(), one.severity, one.explanation.strip())
            findings[part] = (*findings.get(part, ()), found)
            if part != GLOBAL and (box := _read_box(one.box)):
                boxes.setdefault(part, box)
    if not findings:
        raise WrongAnswerError("no finding had a number of the parts")
    return findings, boxes


def _read_box(shares: Sequence[float] | None) -> Box | None:
    """Returns a box inside the image; a wrong one is none, and no reason to refuse what was seen."""
    match shares:
        case (left, top, right, bottom) if 0 <= left < right <= 1 and 0 <= top < bottom <= 1:
            return left, top, right, bottom
    return None
