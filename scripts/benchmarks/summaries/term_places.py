"""Where the terms of a document stand: in sentences, or only in listings, headings and scraps.

A short summary of a manual leaves out most of its sample output on purpose, and half of all distinct numbers of a
manual stand nowhere else.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.reading.values import Term, TermKind
from pipeline.summarize.extractive.excerpt import PROSE
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.retention import Mentions


@dataclass(frozen=True)
class PlaceShares:
    """Share of the distinct terms of one kind that a summary has, in [0, 1]; None where the document has none.

    Attributes:
        prose: of those that stand in a whole sentence, list item or step somewhere.
        elsewhere: of the others.
    """

    prose: float | None
    elsewhere: float | None


def shares_by_place(document: str, summary: str, kinds: Sequence[TermKind]) -> dict[TermKind, PlaceShares]:
    """Measures a summary against what it was made from."""
    excerpts = read_excerpts([document], len)
    prose = {term for one in excerpts if one.kind in PROSE and not one.is_cut for term in one.terms}
    others = {term for one in excerpts for term in one.terms} - prose
    mentions = Mentions.of(summary)
    return {kind: PlaceShares(_share(prose, kind, mentions), _share(others, kind, mentions)) for kind in kinds}


def _share(terms: Iterable[Term], kind: TermKind, mentions: Mentions) -> float | None:
    wanted = [term for term in terms if term.kind is kind]
    kept = sum(term in mentions.terms or mentions.says(term.text) for term in wanted)
    return kept / len(wanted) if wanted else None
