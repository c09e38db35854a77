"""Values with their subject, and sentences that point at nothing: what a short text of a manual is worth to its reader.

A sentence points back by its first words, by a rule wider than the writer's. Or it belongs to an entry of a reference
whose name it does not say. It dangles where neither the sentence before it nor its entry's name is kept.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pipeline.reading.blocks import BlockKind, is_entry
from pipeline.reading.terms import Term
from pipeline.summarize.extractive.excerpt import TEXT_KINDS, Excerpt, read_excerpts
from pipeline.summarize.extractive.selection import VALUE_KINDS

_POINTS_BACK = re.compile(
    r"""\W*(?:(?:if|when|once|while|after|before|unless|since|because|although|by|for|in|on|to|with|of|as|at|from)\s
    (?:do(?:ing)?\s|using\s|setting\s)?)?
    (?:it|its|they|their|them|th[ei]se|this(?!\s(?:chapter|section|part|book|appendix))|those(?!\s(?:who|which|that))
    |that|he|she|his|her|him|such|then|also|however|therefore|thus|hence|instead|otherwise|furthermore|moreover
    |additionally|similarly|likewise|consequently|another|neither|but|and|or|so|yet|in\ addition|for\ example
    |for\ instance|as\ a\ result|the\ (?:default|value|option|setting|parameter|result|reason)s?
    |the\ (?:latter|former|same|second|third|other))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_FEW_WORDS = 3  # a label or a scrap, no sentence


@dataclass(frozen=True)
class Manual:
    """A document as excerpts.

    Attributes:
        entries: by position, that of the name of the reference's entry it belongs to; -1 outside of entries.
    """

    excerpts: Sequence[Excerpt]
    entries: Sequence[int]

    @classmethod
    def read(cls, text: str) -> "Manual":
        """Reads a text."""
        excerpts = read_excerpts([text], len)
        entries, entry = [], -1
        for position, excerpt in enumerate(excerpts):
            if excerpt.kind in (BlockKind.HEADING, BlockKind.LABEL):
                entry = position if excerpt.kind is BlockKind.LABEL and is_entry(excerpt.text) else -1
            entries.append(entry)
        return cls(excerpts, entries)

    def locate(self, summary: str) -> list[int]:
        """Returns the positions of a summary's excerpts in order; what does not stand in the document is left out."""
        places: dict[str, list[int]] = {}
        for position, excerpt in enumerate(self.excerpts):
            places.setdefault(excerpt.text, []).append(position)
        found: list[int] = []
        for excerpt in read_excerpts([summary], len):
            later = [place for place in places.get(excerpt.text, ()) if not found or place > found[-1]]
            found += later[:1]
        return found

    def dangles(self, position: int, kept: Collection[int]) -> bool:
        """Tells whether a sentence was kept without what it points back to."""
        excerpt, entry = self.excerpts[position], self.entries[position]
        if excerpt.kind not in TEXT_KINDS or position == 0:
            return False
        name = self.excerpts[entry].text.split()[0] if entry >= 0 else ""
        needs_entry = entry >= 0 and entry not in kept and name not in excerpt.text
        points = bool(_POINTS_BACK.match(excerpt.text)) and entry not in kept
        return needs_entry or (points and position - 1 not in kept and not self._follows_heading(position))

    def _follows_heading(self, position: int) -> bool:
        return self.excerpts[position - 1].kind in (BlockKind.HEADING, BlockKind.LABEL)

    def dangling(self, kept: Sequence[int]) -> list[str]:
        """Returns the sentences that dangle."""
        chosen = set(kept)
        return [self.excerpts[position].text for position in kept if self.dangles(position, chosen)]

    def sentence_count(self, kept: Sequence[int]) -> int:
        """Returns how many sentences, list items and steps there are."""
        return sum(self.excerpts[position].kind in TEXT_KINDS for position in kept)

    def values(self, kept: Sequence[int]) -> set[Term]:
        """Returns the values that stand in whole sentences with their subject."""
        chosen = set(kept)
        return {
            term
            for position in kept
            if self.excerpts[position].kind in TEXT_KINDS and not self.dangles(position, chosen)
            for term in self.excerpts[position].terms
            if term.kind in VALUE_KINDS
        }

    def sentences(self) -> list[int]:
        """Returns the positions of what a ranker of sentences chooses from."""
        return [
            position
            for position, excerpt in enumerate(self.excerpts)
            if excerpt.kind in TEXT_KINDS and len(excerpt.text.split()) > _FEW_WORDS
        ]
