"""Fills a prompt with a task, and says who answered in whose words.

The order serves a provider's cache of prefixes: first what never changes, then the fence's number and the material.
"""

from collections.abc import Mapping, Sequence

from pipeline.llm.chat_model import ChatMessage, ChatModel, ImagePart
from pipeline.llm.fence import Fence
from pipeline.prompts.prompts import Prompt


def conversation(
    prompt: Prompt, fence: Fence, words: Mapping[str, str], section: str = "user", *, images: Sequence[ImagePart] = ()
) -> tuple[ChatMessage, ...]:
    """Returns the messages of a prompt, in whose words what is not ours has been marked by the fence."""
    system, user = (prompt.fill(one, **words, fence=fence.nonce) for one in ("system", section))
    return ChatMessage("system", system), ChatMessage("user", user, tuple(images))


def author_of(chat: ChatModel, *roles: str) -> str:
    """Returns what an answer depends on besides its task: the model, and the version of the roles' prompts."""
    return f"{chat.identity}, {chat.prompts.identity(*roles)}"
