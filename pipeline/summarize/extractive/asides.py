"""Recognizes what stands beside a text: badges, tables of contents, captions, pointers, and sections that frame it.

A reader of the summary misses none of them; what the author calls a summary he wants to see first.
"""

import re
from collections.abc import Sequence
from enum import Enum

from pipeline.summarize.extractive.excerpt import Excerpt

_IMAGE = r"!\[[^\]]*\](?:\([^)\s]*\)|\[[^\]]*\])"
_BADGES = re.compile(rf"(?:(?:\[\s*{_IMAGE}\s*\](?:\([^)\s]*\)|\[[^\]]*\])|{_IMAGE})[\s|]*)+")
_TO_OWN_SECTION = re.compile(r"\[[^\]]+\]\(#[^)\s]*\)")
_LAYOUT = re.compile(
    r"(?:</?(?:details|summary|p|div|center|br|hr|img|picture|source|a)(?:\s[^<>]*+)?/?>\s*+)+", re.IGNORECASE
)
_CALL = re.compile(
    r"(?:scroll down for (?:more )?videos?|click here(?: for more)?|share this(?: article)?|advertisement"
    r"|read more|continue reading(?: the main story)?)\W*",
    re.IGNORECASE,
)
_CAPTION = re.compile(
    r"(?:picture[ds]?|photo(?:graph|s)?|images?|video|file photo|bild)(?:\sby|\scredit)?\s?:"
    r"|.*(?:\((?:pictured|file (?:photo|picture|image)|(?:above |far )?(?:left|right|centre|center))[^)]{0,40}\)"
    r"|,? pictured (?:above|below|here|left|right|in|on|at|with)\b|\bfile photo\b)",
    re.IGNORECASE | re.DOTALL,
)
_POINTER = re.compile(
    r"(?:see|siehe|refer to|read more|learn more|for (?:more|further|additional) (?:information|details))\b",
    re.IGNORECASE,
)
_OWN_SUMMARY_LIST = """
    abstract|summary|executive summary|management summary|key points|key findings|highlights|at a glance|tl;dr|overview
    |zusammenfassung|kurzfassung|überblick|auf einen blick|résumé|resumen|摘要|概述|概要
"""
_FRAME_LIST = """
    table of contents|contents|licen[cs]e|licensing|copyright|acknowledge?ments?|contributing|contributors|contributions
    |references|bibliography|see also|further reading|credits|authors?|changelog|reporting issues|support us|sponsors
    |inhalt|inhaltsverzeichnis|literatur|literaturverzeichnis|danksagung|lizenz|impressum|目录|参考文献|致谢
"""


def _titles(names: str) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:[\dIVX]+(?:\.\d+)*[.)]?\s+)?(?:{''.join(names.split(chr(10)))})\W*", re.IGNORECASE)


_OWN_SUMMARY, _FRAME = (
    _titles("|".join(name.strip() for name in names.split("|"))) for names in (_OWN_SUMMARY_LIST, _FRAME_LIST)
)


class SectionRole(Enum):
    """What a section is to the document."""

    OWN_SUMMARY = -1
    BODY = 0
    FRAME = 1


def says_nothing(text: str) -> bool:
    """Tells whether a text is a badge, an entry of a table of contents, layout, or a call to the reader of a page."""
    stripped = text.strip()
    return any(pattern.fullmatch(stripped) for pattern in (_BADGES, _TO_OWN_SECTION, _LAYOUT, _CALL))


def stands_beside(text: str) -> bool:
    """Tells whether a sentence belongs to a picture, or only says where something else stands."""
    return bool(_CAPTION.match(text) or _POINTER.match(text))


def role_of(excerpts: Sequence[Excerpt], section: int) -> SectionRole:
    """Returns the role of a section, by its title or that of one above it; the first title of a text says nothing.

    Args:
        section: position of its heading; -1 without one.
    """
    while section > 0:
        title, above = excerpts[section].text, excerpts[section].section
        if _FRAME.fullmatch(title):
            return SectionRole.FRAME
        if above <= 0 and _OWN_SUMMARY.fullmatch(title):  # of the document, not of one of its chapters
            return SectionRole.OWN_SUMMARY
        section = above
    return SectionRole.BODY
