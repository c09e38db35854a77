"""Continues an answer that the output limit cut, until it is whole."""

from dataclasses import replace

from pipeline.llm.chat_model import ChatMessage, ChatModel, ChatRequest
from pipeline.summarize.llm_writer.prompts import CONTINUE
from pipeline.summarize.writer import Written

_CUT = "length"
_LONGEST_OVERLAP = 300
_SHORTEST_OVERLAP = 12  # shorter ones happen by chance: "\n- The "
_LOOP_CHARS = 80
_LOOP_REPEATS = 4


async def complete_whole(chat: ChatModel, request: ChatRequest, max_continuations: int) -> Written:
    """Returns the answer with all its continuations.

    It ends early, still cut, when the model runs in a circle or its context is full.
    """
    completion = await chat.complete(request)
    answer = Written(completion.text, completion.finish_reason, completion.usage)
    for _ in range(max_continuations):
        if answer.finish_reason != _CUT or _runs_in_circle(answer.text):
            break
        more = _continuation(chat, request, answer.text)
        if more is None:
            break
        completion = await chat.complete(more)
        text = join_overlapping(answer.text, completion.text)
        if text == answer.text:
            break
        answer = Written(text, completion.finish_reason, answer.usage + completion.usage)
    return answer


def join_overlapping(text: str, continuation: str) -> str:
    """Joins two texts. Models like to begin with the last words again, and those stand only once in the result."""
    longest = min(len(text), len(continuation), _LONGEST_OVERLAP)
    for size in range(longest, _SHORTEST_OVERLAP - 1, -1):
        if text.endswith(continuation[:size]):
            return text + continuation[size:]
    return text + continuation


def _continuation(chat: ChatModel, request: ChatRequest, text: str) -> ChatRequest | None:
    """Returns the request for more; None if the context has no room for it."""
    messages = (*request.messages, ChatMessage("assistant", text), ChatMessage("user", CONTINUE.strip()))
    room = chat.context_tokens - sum(chat.count_tokens(message.content) for message in messages)
    if room < request.max_tokens // 4:
        return None
    return replace(request, messages=messages, max_tokens=min(request.max_tokens, room))


def _runs_in_circle(text: str) -> bool:
    """Tells whether a text ends in the same words again and again: an endless answer."""
    return text.count(text[-_LOOP_CHARS:]) >= _LOOP_REPEATS
