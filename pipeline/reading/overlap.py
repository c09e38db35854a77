"""Word overlap of a claim with the source: longest common subsequence, and neighbouring words."""

from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import LCSseq

from pipeline.reading.word_table import WordTable

_MOST_REPLACED_WORDS = 6


@dataclass(frozen=True, slots=True)
class Replacement:
    """Words of the claim and what stands in their place in the passage; either may be empty, not both.

    Attributes:
        claim: indices of words of the summary.
        passage: indices of words of the source.
        is_inside: common words follow; otherwise the claim ends here.
    """

    claim: range
    passage: range
    is_inside: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """The longest common subsequence of a claim and a passage, and what is between its parts.

    Attributes:
        replacements: short stretches after common words, in order; at the beginning of both if they are equally long.
        matched: indices of the claim's words that the passage has in the same order.
    """

    replacements: tuple[Replacement, ...]
    matched: frozenset[int]


def align(claim: WordTable, claim_words: range, source: WordTable, source_words: range) -> Alignment:
    """Aligns stems by their longest common subsequence. Quadratic in the number of words: meant for sentences."""
    left = [claim.stems[index] for index in claim_words]
    right = [source.stems[index] for index in source_words]
    blocks = LCSseq.editops(left, right).as_matching_blocks()  # the last one is empty and marks the ends
    replacements: list[Replacement] = []
    matched: set[int] = set()
    first, other_first = 0, 0
    for position, block in enumerate(blocks):
        gap, other_gap = claim_words[first : block.a], source_words[other_first : block.b]
        is_inside = position < len(blocks) - 1
        is_short = max(len(gap), len(other_gap)) <= _MOST_REPLACED_WORDS
        is_beside = position > 0 or len(gap) == len(other_gap)  # common words before it, or both begin
        if is_beside and is_short and (gap or (is_inside and other_gap)):
            replacements.append(Replacement(gap, other_gap, is_inside))
        matched.update(claim_words[block.a : block.a + block.size])
        first, other_first = block.a + block.size, block.b + block.size
    return Alignment(tuple(replacements), frozenset(matched))


class SourceSequences:
    """The neighbouring stems of a source."""

    def __init__(self, source: WordTable) -> None:
        self._pairs = frozenset(pairwise(source.stems))

    def has_pair(self, left: str, right: str) -> bool:
        """Tells whether two stems stand side by side somewhere."""
        return (left, right) in self._pairs
