"""Markup in a summary: HTML tags and comments, the marks of code fences and of footnotes.

It is no part of a sentence. What a reader sees between the tags and fences stays; so does all that is no HTML.
"""

import re

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
_INLINE = re.compile(rf"</?(?:{'|'.join(_INLINE_LIST.split())})\b{_ATTRIBUTES}|\[\^\w{{1,20}}\](?!:)", re.IGNORECASE)
_BLOCK = re.compile(
    rf"<!--[^<>]*+(?<=--)>|</?(?:{'|'.join(_BLOCK_LIST.split())})\b{_ATTRIBUTES}"
    r"|(?<![^\s])(?:`{3}|~{3})\w{0,20}(?!\S)|\[\^\w{1,20}\]:",
    re.IGNORECASE,
)


def without_markup(text: str) -> str:
    """Returns a text of the same length with white space in place of markup. Linear in its length."""
    bare = _INLINE.sub(lambda tag: " " * len(tag.group()), text)
    return _BLOCK.sub(lambda tag: "\n\n".ljust(len(tag.group())), bare)
