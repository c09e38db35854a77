"""Turns a question into a conversation that fits the model's context."""

from dataclasses import dataclass

from pipeline.judge.images.image import Image
from pipeline.judge.synthesis import prompts
from pipeline.judge.synthesis.choose import LETTERS
from pipeline.judge.synthesis.evidence_json import evidence_json
from pipeline.judge.synthesis.request import Mode, SynthesisRequest
from pipeline.llm.chat_model import ChatMessage, ChatModel, ImagePart
from pipeline.llm.fence import Fence

_SHORTENINGS = ((None, 1.0), (400, 0.5), (100, 0.0), (0, 0.0))  # characters of an explanation, share of the context
_OVERHEAD_TOKENS = 64  # tags, roles and what the chat template adds


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation.

    Attributes:
        messages: system and user.
        was_shortened: whether explanations or context were cut to fit.
    """

    messages: tuple[ChatMessage, ...]
    was_shortened: bool


def make_prompt(
    request: SynthesisRequest, images: tuple[Image, ...], chat: ChatModel, *, answer_tokens: int, problem: str = ""
) -> Prompt | None:
    """Returns the longest form that leaves room for the answer; None if not even the shortest does.

    Args:
        request: checked.
        images: that go with the user's message.
        chat: whose context it must fit.
        answer_tokens: longest answer.
        problem: what was wrong with the last answer; makes the prompt stricter.
    """
    room = chat.context_tokens - answer_tokens - _OVERHEAD_TOKENS
    for explanation_chars, share in _SHORTENINGS:
        context = request.context[: int(share * len(request.context))]
        messages = _messages(request, context, explanation_chars, problem)
        if sum(chat.count_tokens(message.content) for message in messages) <= room:
            system, user = messages
            parts = tuple(ImagePart(image.media_type, image.data) for image in images)
            return Prompt((system, ChatMessage("user", user.content, parts)), explanation_chars is not None)
    return None


def _messages(
    request: SynthesisRequest, context: str, explanation_chars: int | None, problem: str
) -> tuple[ChatMessage, ChatMessage]:
    evidence = evidence_json(request.evidence, explanation_chars=explanation_chars)
    fence = Fence([request.question, *request.choices, *request.scope, context, evidence])
    system = prompts.SCORING_SYSTEM if request.mode is Mode.SCORING else prompts.EXPLANATION_SYSTEM
    template = _template(request)
    user = template.format(
        question=fence.mark(request.question).strip(),
        choices="\n".join(
            f"{letter}. {_inline(fence, text)}" for letter, text in zip(LETTERS, request.choices, strict=False)
        ),
        scope=_inline(fence, ", ".join(request.scope)),
        context=prompts.CONTEXT.format(data=fence.mark(context)) if context.strip() else "",
        evidence="Evidence:\n" + fence.mark(evidence),
    )
    if problem:
        user += prompts.STRICTER.format(problem=problem, allowed=_allowed(request))
    data_rule = prompts.DATA_RULE.format(nonce=fence.nonce).strip()
    words = system.format(evidence_rule=prompts.EVIDENCE_RULE.strip(), data_rule=data_rule)
    return ChatMessage("system", words.strip()), ChatMessage("user", user.strip())


def allowed_letters(request: SynthesisRequest) -> str:
    """Returns the letters that may be the answer; empty for an open answer."""
    return "ABCDE" if request.mode is Mode.SCORING else LETTERS[: len(request.choices)]


def _template(request: SynthesisRequest) -> str:
    if request.mode is Mode.SCORING:
        return prompts.SCORING_USER
    return prompts.CHOICE_USER if request.choices else prompts.OPEN_USER


def _allowed(request: SynthesisRequest) -> str:
    letters = allowed_letters(request)
    return f"final_answer must be one letter of {', '.join(letters)}." if letters else ""


def _inline(fence: Fence, text: str) -> str:
    return fence.mark(" ".join(text.split())).replace("\n", "")
