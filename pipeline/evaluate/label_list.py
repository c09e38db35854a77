"""Tells a list of labels, such as "## Key topics" with its items, from a list of sentences that was cut.

What ends a label is not known, but what ends its neighbours is: items that are sentences end as sentences do, all of
them, and then so must the last one. A heading with nothing below it is no ending: its section is missing.
"""

import re
from itertools import takewhile

from pipeline.text.blocks import BlockKind, split_blocks

SENTENCE_ENDS = frozenset(".!?…‥‽⁇⁈⁉‼。！？｡．؟۔।॥։።")
"""What may end a sentence, in the scripts that have such a mark."""

PROSE_WORDS = 20
"""Of so many words, a string of structured output or an item of a list is prose; one of fewer may be a label."""

_LEAST_ITEMS = 2  # one alone has no neighbour to be compared with
_OPEN_MARK = re.compile(r"[,:;&+/=([{<–—-]$")
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
# Words that another must follow. Those that may end a label are not among them: "How to log in".
_LEADS_ON = re.compile(
    r"""(?:^|\s)(?:an?|the|and|or|but|nor|of|by|to|for|with|from|at|into|onto|upon|than|as|that|which|who|whose|where
    |when|while|if|because|since|between|among|during|through|against|per|via|its|his|her|their|our|my|your|is|are|was|were
    |be|been|has|have|had|will|would|can|could|should|may|might|must|not|no|very)$""",
    re.IGNORECASE | re.VERBOSE,
)


def label_section(text: str) -> int | None:
    """Returns where the section begins that a text ends in, if that is a heading with whole labels; else None."""
    blocks = split_blocks(text)
    items = list(takewhile(lambda block: block.kind is BlockKind.LIST_ITEM, reversed(blocks)))
    above = blocks[: len(blocks) - len(items)]
    if len(items) < _LEAST_ITEMS or not above or above[-1].kind is not BlockKind.HEADING:
        return None
    last, *others = (text[item.start : item.end].strip() for item in items)
    closed_count = sum(other[-1:] in SENTENCE_ENDS for other in others)
    are_labels = all(len(item.split()) < PROSE_WORDS for item in (last, *others))
    if not are_labels or 2 * closed_count >= len(others) or _leads_on(last):
        return None
    return text.rfind("\n", 0, above[-1].start) + 1


def _leads_on(label: str) -> bool:
    """Tells whether something must follow."""
    words = label.rstrip("*_`")
    return (
        not words
        or bool(_OPEN_MARK.search(words) or _LEADS_ON.search(words))
        or any(label.count(opening) > label.count(closing) for opening, closing in _BRACKETS)
        or label.count("`") % 2 == 1
        or label.count("**") % 2 == 1
    )
