"""Fills a prompt with a task, fences somebody else's text off as data in it, and says who answered in whose words.

The order serves a provider's cache of prefixes: first what never changes, then the fence's number and the material.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from pipeline.llm.chat_model import ChatMessage, ChatModel, ImagePart
from pipeline.prompts.prompts import Prompt


class Fence:
    """Tags with a number that no text of the task holds.

    The number is a hash, so that equal tasks have equal prompts; a number that a text does hold is hashed again.

    Args:
        texts: all that will be marked.
        shared: what the number is a hash of where prompts about the same shall begin alike; default: the texts.
    """

    def __init__(self, texts: Iterable[str], shared: Iterable[str] = ()) -> None:
        texts = tuple(texts)
        digest = hashlib.sha256("\0".join(shared or texts).encode())
        while any(digest.hexdigest()[:8] in text for text in texts):
            digest.update(b"\0")
        self.nonce = digest.hexdigest()[:8]

    def mark(self, text: str) -> str:
        """Returns a text, which is not ours or made from one that is not, between tags."""
        return f"<data-{self.nonce}>\n{text}\n</data-{self.nonce}>\n"

    def mark_in_line(self, text: str) -> str:
        """Returns a text between tags as part of a line."""
        return self.mark(" ".join(text.split())).replace("\n", "")


def conversation(
    prompt: Prompt, fence: Fence, words: Mapping[str, str], section: str = "user", *, images: Sequence[ImagePart] = ()
) -> tuple[ChatMessage, ...]:
    """Returns the messages of a prompt, in whose words what is not ours has been marked by the fence."""
    system, user = (prompt.fill(one, **words, fence=fence.nonce) for one in ("system", section))
    return ChatMessage("system", system), ChatMessage("user", user, tuple(images))


def author_of(chat: ChatModel, *roles: str) -> str:
    """Returns what an answer depends on besides its task: the model, and the version of the roles' prompts."""
    return f"{chat.identity}, {chat.prompts.identity(*roles)}"
