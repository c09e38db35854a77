"""Lays a claim beside a passage word by word, and shows what one says in place of the other."""

from dataclasses import dataclass
from difflib import SequenceMatcher

from pipeline.judge.evidence.word_table import WordTable

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
    """The longest common runs of a claim and a passage, and what is between them.

    Attributes:
        replacements: short stretches after common words, in order.
        matched: indices of the claim's words that the passage has in the same order.
    """

    replacements: tuple[Replacement, ...]
    matched: frozenset[int]


def align(claim: WordTable, claim_words: range, source: WordTable, source_words: range) -> Alignment:
    """Aligns stems. Quadratic in the number of words at worst: meant for sentences."""
    left = [claim.stems[index] for index in claim_words]
    right = [source.stems[index] for index in source_words]
    opcodes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    replacements: list[Replacement] = []
    matched: set[int] = set()
    for position, (tag, first, last, other_first, other_last) in enumerate(opcodes):
        if tag == "equal":
            matched.update(claim_words[first:last])
            continue
        is_inside = 0 < position < len(opcodes) - 1
        at_end = position == len(opcodes) - 1 and position > 0 and last == len(left)
        if (is_inside or at_end) and max(last - first, other_last - other_first) <= _MOST_REPLACED_WORDS:
            replacements.append(Replacement(claim_words[first:last], source_words[other_first:other_last], is_inside))
    return Alignment(tuple(replacements), frozenset(matched))
