"""What says nothing new: sentences that were said before word for word, and near duplicates, which another one entails.

Only what is safe to say once is removed: sentences of prose, and list items under the same heading. Headings, table
rows, code and steps stay where they are, however often they come. The second procedure needs its own "# apt update".

Of near duplicates the embedder proposes close pairs, such as "must" and "must not". The NLI model tells whether one
says all that the other says. It is asked about chosen sentences alone, so that its cost follows the length of the
summary.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np

from pipeline.protocols import ENTAILMENT, Entailment
from pipeline.reading.blocks import BlockKind, is_sentence_end, read_blocks
from pipeline.reading.rules import Rule
from pipeline.reading.sentences import points_back, split_sentences
from pipeline.reading.terms import fold_words
from pipeline.reading.words import count_words, fold
from pipeline.summarize.extractive.excerpt import STATEMENTS, Excerpt
from pipeline.summarize.extractive.selection import VALUE_KINDS, Material
from pipeline.summarize.writer import Extraction, RemovedDuplicate

_FEWEST_WORDS = 4  # "See below." and "Press Enter." belong to what stands around them


@dataclass(slots=True)
class DuplicateFilter:
    """Goes through texts in the order of the document and keeps every sentence where it first stands."""

    removed: list[RemovedDuplicate] = field(default_factory=list)
    _seen: dict[str, tuple[int, int]] = field(default_factory=dict)

    def clean(self, extraction: Extraction) -> str:
        """Returns the text without what this filter has seen before. Linear in its length."""
        text, chunks = extraction.text, extraction.chunk_indexes
        kept: list[str] = []
        heading, done = "", 0
        for block in read_blocks(text):
            said = text[block.start : block.end]
            if block.kind in (BlockKind.HEADING, BlockKind.LABEL):
                heading = fold(said)
                continue
            if block.kind is BlockKind.BULLET:
                left = "" if self._is_repeated(said, heading, chunks) else said
            else:
                left = self._unsaid(said, chunks) if block.kind is BlockKind.PROSE else said
            if left != said:
                start = block.start if left else text.rfind("\n", 0, block.start) + 1  # with its mark
                kept += [text[done:start], left]
                done = block.end + (not left)  # and its line break
        return "".join([*kept, text[done:]]).strip()

    def _unsaid(self, said: str, chunks: tuple[int, int]) -> str:
        """Returns the sentences of a paragraph that were not said before."""
        kept: list[str] = []
        end = 0
        for sentence in split_sentences(said, 2_000):
            if not self._is_repeated(said[sentence.start : sentence.end], None, chunks):
                kept.append(said[end : sentence.end])
            end = sentence.end
        return "".join(kept).lstrip() + (said[end:] if kept else "")

    def _is_repeated(self, sentence: str, heading: str | None, chunks: tuple[int, int]) -> bool:
        """Remembers a sentence; tells whether it was seen before."""
        if not (key := _key(sentence, heading)):
            return False
        if key not in self._seen:
            self._seen[key] = chunks
            return False
        self.removed.append(RemovedDuplicate(sentence, self._seen[key], chunks))
        return True


def _key(sentence: str, heading: str | None) -> str:
    """Returns what two sentences share if they say the same; nothing of one that is too short, or none.

    Args:
        heading: above a list item, which says it of that; None for prose, whose lines may be entries of a reference.
    """
    is_whole = heading is not None or is_sentence_end(sentence)
    return f"{heading}\n{fold(sentence)}" if is_whole and count_words(sentence) >= _FEWEST_WORDS else ""


_MIN_COSINE = 0.6  # closer pairs are candidates for the NLI model
_MIN_ENTAILMENT = 0.85


def find_repeats(excerpts: Sequence[Excerpt]) -> dict[int, int]:
    """Returns the positions of repeated sentences, with the position where each was first said."""
    first: dict[str, int] = {}
    said: dict[int, int] = {}
    for position, excerpt in enumerate(excerpts):
        above = excerpts[excerpt.section].text if excerpt.section >= 0 else ""
        key = _key(excerpt.text, above if excerpt.kind is BlockKind.BULLET else None)
        if excerpt.kind in STATEMENTS and key:
            said[position] = first.setdefault(key, position)
    return {position: kept for position, kept in said.items() if kept != position}


ENTAILED = Rule(
    "entailed",
    "extractive",
    "A sentence of the summary that another one entails is left out.",
    "The pump moves cold water. Cold water is moved by the pump.",
    "The pump moves cold water.",
)


async def find_entailed(
    material: Material, chosen: AbstractSet[int], entailment: Entailment, *, max_pairs: int, keeps_needed: bool
) -> dict[int, int]:
    """Returns the positions of chosen sentences to drop, with the position of the one that says all of it.

    Args:
        entailment: asked once, about at most twice `max_pairs` pairs, the closest ones.
        keeps_needed: a sentence that another needs is not dropped, since that one stays.
    """
    if not ENTAILED.is_on:
        return {}
    excerpts = material.excerpts
    free = [position for position in material.sentences if position in chosen]
    needed = {need for position in chosen for need in excerpts[position].needs} if keeps_needed else set()
    candidates = [
        (dropped, kept)
        for first, second in _close_pairs(material, free)[:max_pairs]
        for kept, dropped in ((first, second), (second, first))  # rather the later one
        if dropped not in needed and _values(excerpts[dropped]) <= _values(excerpts[kept])
    ]
    if not candidates:
        return {}
    asked = [(excerpts[kept].text, excerpts[dropped].text) for dropped, kept in candidates]
    scores = (await entailment.entail(asked))[:, ENTAILMENT]
    duplicates: dict[int, int] = {}
    for (dropped, kept), score in zip(candidates, scores, strict=True):
        keeps_others = dropped in duplicates.values()
        if score >= _MIN_ENTAILMENT and not keeps_others and duplicates.keys().isdisjoint((dropped, kept)):
            duplicates[dropped] = kept
    return duplicates


def _close_pairs(material: Material, free: Sequence[int]) -> list[tuple[int, int]]:
    """Returns pairs of positions whose sentences are close, the closest first."""
    excerpts = material.excerpts
    # What says the same wherever it stands, unlike "Beware!" and "This is the default.".
    compared = [
        position
        for position in free
        if (one := excerpts[position]).kind in STATEMENTS and not (one.is_cut or points_back(one.text))
        if count_words(one.text) >= _FEWEST_WORDS
    ]
    row_of = {position: row for row, position in enumerate(material.sentences)}
    longest_first = sorted(compared, key=lambda each: (-len(excerpts[each].text), each))
    positions = sorted(longest_first[:2_000])  # bounds the memory of the cosines
    vectors = material.vectors[[row_of[position] for position in positions]]
    cosines = np.triu(vectors @ vectors.T, k=1)
    lefts, rights = np.nonzero(cosines >= _MIN_COSINE)
    closest_first = np.argsort(-cosines[lefts, rights], kind="stable")
    return [(positions[lefts[pair]], positions[rights[pair]]) for pair in closest_first]


def _values(excerpt: Excerpt) -> set[str]:
    """Returns the values, and names such as "HashGrow"."""
    names = fold_words(" ".join(word for word in excerpt.text.split() if word[1:] != word[1:].lower()))
    return set(names) | {term.text for term in excerpt.terms if term.kind in VALUE_KINDS}
