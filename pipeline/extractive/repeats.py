"""Finds sentences that were said before, word for word.

Steps, listings and rows may repeat: the second procedure needs its own "# apt update".
"""

import re
from collections.abc import Sequence

from pipeline.extractive.excerpt import Excerpt, ExcerptKind
from pipeline.extractive.wording import count_words

_MIN_WORDS = 4  # "See below." belongs to what stands around it
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}")


def find_repeats(excerpts: Sequence[Excerpt]) -> dict[int, int]:
    """Returns the positions of repeated sentences, with the position where each was first said."""
    first: dict[str, int] = {}
    repeats: dict[int, int] = {}
    for position, excerpt in enumerate(excerpts):
        if key := _key(excerpts, excerpt):
            said = first.setdefault(key, position)
            if said != position:
                repeats[position] = said
    return repeats


def _key(excerpts: Sequence[Excerpt], excerpt: Excerpt) -> str | None:
    """Returns what two sentences share if they say the same; an item of a list says it of its heading."""
    if excerpt.kind not in (ExcerptKind.SENTENCE, ExcerptKind.BULLET) or count_words(excerpt.text) < _MIN_WORDS:
        return None
    text = _EMPHASIS.sub("", excerpt.text)
    heading = excerpts[excerpt.section].text if excerpt.kind is ExcerptKind.BULLET and excerpt.section >= 0 else ""
    # Only the first letter is folded: anything else may be a value, "mW" and "MW".
    return f"{heading}\n{text[:1].lower()}{text[1:]}"
