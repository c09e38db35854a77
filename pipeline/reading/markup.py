"""Markup is no part of a sentence: HTML tags, the marks of comments, code fences, footnotes and a chat's turns.

What a reader sees between them stays; so does all that is no HTML. A summary may be shown as plain text: what a comment
or an attribute says in words stays as well, and so do marks with names of their own making.
"""

import re
from collections.abc import Iterator

from pipeline.reading.instructions import MARKER

# Of the elements that stand inside a sentence; the others end it.
_INLINE_LIST = """
    a abbr b bdi bdo br cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span strike strong
    sub sup td th time tt u var wbr
"""
_BLOCK_LIST = """
    address article aside audio blockquote body button caption center col colgroup dd details dialog div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe img input legend li link main meta nav
    noscript object ol optgroup option p picture pre script section select source style summary svg table tbody template
    textarea tfoot thead title tr ul video
"""
_ATTRIBUTES = r"""(?:\s+[a-z:-]++\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=]++))*+\s*+/?>"""
_FOOTNOTE = r"\[\^(?:\d{1,9}|\w{1,4}|(?:footnote|note|source)\d{0,3})\]"
_INLINE = re.compile(rf"</?(?:{'|'.join(_INLINE_LIST.split())})\b{_ATTRIBUTES}|{_FOOTNOTE}(?!:)", re.IGNORECASE)
_BLOCK = re.compile(
    rf"<!--[^<>]*+(?<=--)>|</?(?:{'|'.join(_BLOCK_LIST.split())})\b{_ATTRIBUTES}"
    rf"|(?<![^\s])(?:`{{3}}|~{{3}})[^\W_]{{0,12}}(?!\S)|{_FOOTNOTE}:",
    re.IGNORECASE,
)
_VALUE = re.compile(r"""(?<![a-z:-])([a-z:-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""", re.IGNORECASE)
_PROSE_WORD = re.compile(r"(?<!\S)[\"“‘(]*+[^\W\d_]{2,}+(?:['’][^\W\d_]++)?+[.,;:!?\"”’)]*+(?!\S)")
_FEWEST_WORDS = 3  # "btn large" is a style
_SHOWN = frozenset(["alt", "aria-label", "content", "label", "placeholder", "summary", "title", "value"])
_FEWEST_SHOWN_WORDS = 2
_NAMED = re.compile(r"<\|\w++\|>|\[\^\w++\]")


def without_markup(text: str) -> str:
    """Returns a text of the same length with white space in place of markup. Linear in its length."""
    bare = _INLINE.sub(lambda tag: _blank(tag, end="  "), text)
    bare = _BLOCK.sub(lambda tag: _blank(tag, end="\n\n"), bare)
    return _NAMED.sub(_read_name, bare)


def _blank(tag: re.Match[str], end: str) -> str:
    """Returns what a tag says in words; the rest is blank.

    Args:
        end: two characters, to put where the tag begins and where each of its texts ends.
    """
    written, pieces, done = tag.group(), [end], len(end)
    for first, last in _texts(written):
        pieces += [" " * (first - done), written[first:last], end]
        done = last + len(end)
    return "".join(pieces).ljust(len(written))


def _texts(written: str) -> Iterator[tuple[int, int]]:
    """Yields the places of what a tag says in words."""
    if written.startswith("<!--"):
        if _says(written[4:-3], _FEWEST_SHOWN_WORDS):
            yield 4, len(written) - 3
        return
    for value in _VALUE.finditer(written):
        number = 2 if value[2] is not None else 3
        fewest = _FEWEST_SHOWN_WORDS if value[1].lower() in _SHOWN else _FEWEST_WORDS
        if _says(value[number], fewest):
            yield value.span(number)


def _says(text: str, fewest: int) -> bool:
    return len(_PROSE_WORD.findall(text)) >= fewest


def _read_name(mark: re.Match[str]) -> str:
    """Returns a mark with the words of its name apart, unless it is one of a chat's turns."""
    return mark.group() if MARKER.fullmatch(mark.group()) else mark.group().replace("_", " ")
