"""Was a text cut off in the middle of a sentence or of a list?

Works on the text before NFKC, which turns a footnote mark "²" into a digit. Looks at the end only.

A list of labels, such as "## Key topics" with its items, may end open; a list of sentences may not. Nothing says how a
label ends, but its neighbours do: if all other items end as sentences, so must the last one. A heading with nothing
below it is no ending: its section is missing.
"""

import re
import unicodedata
from itertools import takewhile

from pipeline.reading.blocks import LIST_KINDS, TABLE_KINDS, BlockKind, read_blocks
from pipeline.reading.word_lists import word_list
from pipeline.reading.words import fold_case

SENTENCE_ENDS = frozenset(".!?…‥‽⁇⁈⁉‼。！？｡．؟۔।॥։።")
"""What may end a sentence, in the scripts that have such a mark."""

PROSE_WORDS = 20
"""Of so many words, a string of structured output or an item of a list is prose; one of fewer may be a label."""

_TAIL_CHARS, _EVIDENCE_CHARS, _FOOTNOTE_CHARS = 4_000, 80, 22
_LEAST_ITEMS = 2  # one alone has no neighbour to be compared with
_CLOSERS = frozenset("\"'”’»›)]}>」』】》〉〕）］｝＂＇*_`~|\\")
_OPENERS = (*",:;&+/=([{<–—-",)
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))
# A mark or link that follows the sentence: [1], [^note], (2) after a stop, [Source](https://...), </p>.
_TRAILING_MARK = re.compile(
    r"(?:\[\^?[\w-]{1,20}\]|(?<=[.!?…。！？]) ?\(\d{1,3}\)|\[[^\[\]\n]{0,200}\]\([^()\s]{0,500}\)|</?\w{1,20}>)$"
)


def open_ending(text: str, *, lists_exempt: bool) -> tuple[int, int] | None:
    """Returns the span of the unfinished end, or None when the text ends as a sentence does.

    With `lists_exempt` a final list item or table row needs no full stop. A list of labels in a section of its own,
    such as key topics, is a whole ending in any case. Prose above it must end as well.
    """
    offset = max(0, len(text) - _TAIL_CHARS)
    tail = _without_footnote_definitions(text[offset:])
    if (section := label_section(tail)) is not None:
        tail = tail[:section].rstrip()
        if _last_kind(tail) is not BlockKind.PROSE or tail.endswith("```"):
            return None
    stripped = _strip_closers(tail)
    if not stripped or stripped[-1] in SENTENCE_ENDS:
        return None
    if lists_exempt and _last_kind(tail) in (*LIST_KINDS, *TABLE_KINDS):
        return None
    end = offset + len(tail)
    line_start = text.rfind("\n", 0, end) + 1
    return max(line_start, end - _EVIDENCE_CHARS), end


def _without_footnote_definitions(tail: str) -> str:
    """Drops lines such as "[1]: https://..." from the end, then white space."""
    tail = tail.rstrip()
    while (cut := tail.rfind("\n")) >= 0:
        mark, colon, _ = tail[cut + 1 :].strip().partition("]:")
        if not (colon and mark.startswith("[") and " " not in mark and len(mark) <= _FOOTNOTE_CHARS):
            break
        tail = tail[:cut].rstrip()
    return tail


def _strip_closers(tail: str) -> str:
    """Drops closing quotes, brackets, markdown, footnote marks, links and emoji from the end."""
    while tail:
        if mark := _TRAILING_MARK.search(tail, max(0, len(tail) - 800)):
            tail = tail[: mark.start()]
        elif tail[-1] in _CLOSERS or tail[-1].isspace() or _is_ornament(tail[-1]):
            tail = tail[:-1]
        else:
            break
    return tail


def _is_ornament(character: str) -> bool:
    """Tells emoji, their joiners and modifiers, and superscript digits from text."""
    category = unicodedata.category(character)
    return category in {"So", "Sk", "Mn", "Me", "Cf"} or (
        category == "No" and "super" in unicodedata.name(character).lower()
    )


def _last_kind(tail: str) -> BlockKind | None:
    blocks = read_blocks(tail)
    return blocks[-1].sentence_kind if blocks else None


def label_section(text: str) -> int | None:
    """Returns where the section begins that a text ends in, if that is a heading with whole labels; else None."""
    blocks = read_blocks(text)
    items = list(takewhile(lambda block: block.kind in LIST_KINDS, reversed(blocks)))
    above = blocks[: len(blocks) - len(items)]
    if len(items) < _LEAST_ITEMS or not above or above[-1].sentence_kind is not BlockKind.HEADING:
        return None
    last, *others = (text[item.start : item.end].strip() for item in items)
    closed_count = sum(other[-1:] in SENTENCE_ENDS for other in others)
    are_labels = all(len(item.split()) < PROSE_WORDS for item in (last, *others))
    if not are_labels or 2 * closed_count >= len(others) or _leads_on(last):
        return None
    return text.rfind("\n", 0, above[-1].start) + 1


def _leads_on(label: str) -> bool:
    """Tells whether something must follow: a mark is open, or the last word wants another."""
    words = fold_case(label.rstrip("*_`"))
    return (
        words.endswith(_OPENERS)
        or not words.split()
        or words.split()[-1] in word_list("words_before_others")
        or any(label.count(opening) > label.count(closing) for opening, closing in _PAIRS)
        or label.count("`") % 2 == 1
        or label.count("**") % 2 == 1
    )
