"""Fences somebody else's text off as data in a prompt, so that nothing it says can end the fence."""

import hashlib
from collections.abc import Iterable


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
