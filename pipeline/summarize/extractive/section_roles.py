"""Tells what a section is to its document by its title: the author's own summary, the frame, or the body."""

from collections.abc import Sequence
from enum import Enum

from pipeline.reading.word_lists import phrase_list
from pipeline.summarize.extractive.excerpt import Excerpt


class SectionRole(Enum):
    """What a section is to the document. A lower value is read first."""

    OWN_SUMMARY = -1
    BODY = 0
    FRAME = 1  # license, references, thanks


def role_of(excerpts: Sequence[Excerpt], section: int) -> SectionRole:
    """Returns the role of a section, by its title or that of one above it; the first title of a text says nothing.

    Args:
        section: position of its heading; -1 without one.
    """
    while section > 0:
        title, above = _plain(excerpts[section].text), excerpts[section].section
        if title in phrase_list("titles_of_frames"):
            return SectionRole.FRAME
        if above <= 0 and title in phrase_list("titles_of_summaries"):  # of the document, not of one of its chapters
            return SectionRole.OWN_SUMMARY
        section = above
    return SectionRole.BODY


def _plain(title: str) -> str:
    """Returns a title in small letters, without its number and marks."""
    letters = [place for place, character in enumerate(title) if character.isalpha()]
    return title[letters[0] : letters[-1] + 1].lower() if letters else ""
