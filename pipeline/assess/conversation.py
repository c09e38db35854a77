"""Fills the prompts, which are the files of `prompts/`: what the system says, a line of dashes, what the user says."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import Template

from pipeline.assess.images import Image
from pipeline.llm.chat_model import ChatMessage, ImagePart
from pipeline.llm.fence import DATA_RULE, Fence

_FOLDER = Path(__file__).parent / "prompts"


def conversation(name: str, fence: Fence, images: Sequence[Image] = (), **words: str) -> tuple[ChatMessage, ...]:
    """Returns the conversation of a prompt with images.

    Args:
        words: what stands in place of its names; what is not ours has been marked by the fence.
    """
    system, user = _read(name).split("\n---\n")
    rule = DATA_RULE.format(nonce=fence.nonce)
    pictures = tuple(ImagePart(image.media_type, image.data) for image in images)
    return (
        ChatMessage("system", Template(system).substitute(data_rule=rule)),
        ChatMessage("user", Template(user).substitute(words), pictures),
    )


def paragraph(name: str, **words: str) -> str:
    """Returns a part that only some conversations have, on lines of its own."""
    return "\n" + Template(_read(name)).substitute(words)


@cache
def _read(name: str) -> str:
    return (_FOLDER / f"{name}.txt").read_text("utf-8").strip()
