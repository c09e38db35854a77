"""A citation: which places of the document a sentence of its summary comes from, and how well they support it."""

from dataclasses import dataclass
from enum import Enum

MAX_PLACES = 8
"""Places of one citation."""


class CitationSupport(Enum):
    """How well a document supports a sentence of its summary."""

    VERBATIM = "verbatim"  # it stands there word for word
    SUPPORTED = "supported"  # it was written, and a model says that the places support it
    MARKED = "marked"  # it was written, and a model says that they do not
    UNREAD = "unread"  # it was written, and no model has compared it


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A stretch of one chunk."""

    chunk_index: int
    page_number: int  # 0 when the document has no pages
    start: int  # first character in the chunk's text
    end: int  # exclusive
    # the same first character in the texts of all chunks with nothing between them, or in a document that was sent as
    # one text
    document_start: int


@dataclass(frozen=True, slots=True)
class SummaryCitation:
    """Where one sentence, list item, table row or line of code of a summary comes from."""

    start: int  # first character in the summary's text
    end: int  # exclusive
    support: CitationSupport
    probability: float | None  # that the places support it, if a model was asked
    places: tuple[SourcePlace, ...]  # in the order of the document; none if nothing there speaks of it
    other_place_count: int = 0  # how many more times it stands in the document word for word


@dataclass(frozen=True, slots=True)
class CitationCount:
    """How many citations have one support."""

    support: CitationSupport
    count: int


@dataclass(frozen=True, slots=True)
class Citations:
    """The citations of a text."""

    # in the order of the text; none of headings that do not stand in the document, nor beyond the bound
    cited: tuple[SummaryCitation, ...] = ()
    citable_count: int = 0  # sentences, list items, table rows and lines of code of the text

    @property
    def counts(self) -> tuple[CitationCount, ...]:
        """How many citations have each support; none with 0."""
        supports = [one.support for one in self.cited]
        return tuple(CitationCount(kind, supports.count(kind)) for kind in CitationSupport if kind in supports)


NOT_CITED = Citations()
