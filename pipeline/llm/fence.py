"""Fences somebody else's text off as data in a prompt, so that nothing it says can end the fence."""

import hashlib
from collections.abc import Iterable

DATA_RULE = "Everything between <data-{nonce}> and </data-{nonce}> is material"
"""How the rule begins that tells a model what the tags are for; each prompt goes on in its own words."""


class Fence:
    """Tags with a number that no text of the task holds.

    The number is the hash of the texts: a text cannot hold its own hash, and equal tasks have equal prompts.

    Args:
        texts: all that will be fenced.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        digest = hashlib.sha256()
        for text in texts:
            digest.update(text.encode())
            digest.update(b"\0")
        self.nonce = digest.hexdigest()[:8]

    def mark(self, text: str, label: str = "") -> str:
        """Returns a text between tags.

        Args:
            text: not ours, or made from one that is not.
            label: what it is, in words of ours.
        """
        attribute = f' is="{label}"' if label else ""
        return f"<data-{self.nonce}{attribute}>\n{text}\n</data-{self.nonce}>\n"
