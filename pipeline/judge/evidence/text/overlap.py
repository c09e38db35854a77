"""Word overlap of a claim with the source: longest common subsequence, and copied n-grams."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypedDict

from rapidfuzz.distance import LCSseq

from pipeline.judge.evidence.text.words import WordTable

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


_MOST_SKIPPED = 2


class Copying(TypedDict):
    """Shares of a claim's word sequences that the source has; `ClaimFeatures` says what each is."""

    bigram_share: float
    trigram_share: float
    longest_run_share: float
    fragment_share: float
    content_bigram_share: float
    content_skip_share: float


class SourceSequences:
    """The neighbouring stems of a source, looked up by claims."""

    def __init__(self, source: WordTable) -> None:
        stems = source.stems
        self._stems = stems
        self._known = frozenset(stems)
        self._triples = frozenset(zip(stems, stems[1:], stems[2:], strict=False))
        self._source = source
        self._pairs: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for position, pair in enumerate(pairwise(stems)):
            self._pairs[pair].append(position)

    def has_pair(self, left: str, right: str) -> bool:
        """Tells whether two stems stand side by side somewhere."""
        return (left, right) in self._pairs

    def trigram_share(self, claim: WordTable, words: range) -> float:
        """Returns which share of a claim's runs of three words the source has; there is at least one word."""
        stems = [claim.stems[index] for index in words]
        triples = list(zip(stems, stems[1:], stems[2:], strict=False))
        return sum(triple in self._triples for triple in triples) / len(triples) if triples else self._pair_share(stems)

    def copying(self, claim: WordTable, words: range) -> Copying:
        """Measures a claim; there is at least one word."""
        stems = [claim.stems[index] for index in words]
        triple_share, content = self.trigram_share(claim, words), claim.content_stems(words)
        return Copying(
            bigram_share=self._pair_share(stems),
            trigram_share=triple_share,
            longest_run_share=self._longest_run(stems) / len(stems),
            fragment_share=self._fragment_count(stems) / len(stems),
            content_bigram_share=_share_of_neighbours(content, self._content_pairs, triple_share),
            content_skip_share=_share_of_neighbours(content, self._content_skips, triple_share),
        )

    @cached_property
    def _content(self) -> list[str]:
        return self._source.content_stems(range(len(self._source)))

    @cached_property
    def _content_pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset(pairwise(self._content))

    @cached_property
    def _content_skips(self) -> frozenset[tuple[str, str]]:
        gaps = range(1, _MOST_SKIPPED + 2)
        return frozenset(pair for gap in gaps for pair in zip(self._content, self._content[gap:], strict=False))

    def _pair_share(self, stems: list[str]) -> float:
        pairs = list(pairwise(stems))
        if not pairs:
            return sum(stem in self._known for stem in stems) / len(stems)
        return sum(pair in self._pairs for pair in pairs) / len(pairs)

    def _fragment_count(self, stems: list[str]) -> int:
        """Counts runs, each as long as it can be from left to right; a word without a neighbour is one by itself."""
        count, ends = 0, set[int]()  # positions in the source of the last word of the current run
        for previous, stem in pairwise(["", *stems]):
            starts = self._pairs.get((previous, stem), ())
            # A run of one word can go on wherever its pair stands; a longer one only from where it is.
            ends = {start + 1 for start in starts if not ends or start in ends} if count else set()
            if not ends:
                count += 1
        return count

    def _longest_run(self, stems: list[str]) -> int:
        """Returns the words of the longest run. Extends the runs that end at each word, one step at a time."""
        longest = int(any(stem in self._known for stem in stems))
        runs: dict[int, int] = {}  # position in the source of the run's last word -> length
        for pair in pairwise(stems):
            runs = {position + 1: runs.get(position, 1) + 1 for position in self._pairs.get(pair, ())}
            longest = max(longest, *runs.values()) if runs else longest
        return longest


def _share_of_neighbours(stems: list[str], pairs: frozenset[tuple[str, str]], without: float) -> float:
    """Returns the share of neighbouring stems that are among some pairs, or what stands for it without neighbours."""
    neighbours = list(pairwise(stems))
    return sum(pair in pairs for pair in neighbours) / len(neighbours) if neighbours else without
