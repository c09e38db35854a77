"""Entities: are the key names there, and do they mean the same thing?

A name is found by fuzzy matching, and counts only if the words around it are about what the words around some mention
in the gold are about: "Washington" the president is not Washington the state.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.result import EntitiesResult, EntityEvidence, EntityStatus
from pipeline.model_answers import Embeddings
from pipeline.reading.characters import NormalizedText
from pipeline.reading.passage import TextSpan
from pipeline.reading.words import Words, split_words

_BLOCK_WORDS = 8_192  # bounds memory: windows of one block are strings of their own
_OTHER_SPACE = re.compile(r"[^\S ]")
_PERCENT = 100.0  # rapidfuzz counts ratios up to 100


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """Words `first` up to, not including, `last` of a text, and their fuzzy ratio to the name, in [0, 1]."""

    first: int
    last: int
    ratio: float


class FoldedWords:
    """The words of a text in folded spelling, whose n-grams can be compared with names."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self._folded = fold(words.text)

    def find(self, name: Words, threshold: float, limit: int) -> list[FuzzyMatch]:
        """Returns n-grams with ratio > `threshold` that do not overlap, best first.

        n is the name's word count, one less and one more. Reading stops, at the end of a block of 8,192 words, once
        `limit` are found: the text may be a book, and the first mentions do.
        """
        needle = _joined(name)
        found: list[FuzzyMatch] = []
        for start in range(0, len(self.words), _BLOCK_WORDS):
            candidates = [
                match
                for size in _sizes(name)
                for match in self._search(needle, (start, start + _BLOCK_WORDS), size, threshold)
            ]
            found = _without_overlaps(found + candidates)
            if len(found) >= limit:
                break
        return found[:limit]

    def most_similar(self, name: Words) -> FuzzyMatch | None:
        """Returns the best n-gram whatever its ratio, the first one on a tie; None when the text has no words."""
        needle = _joined(name)
        best: FuzzyMatch | None = None
        for start in range(0, len(self.words), _BLOCK_WORDS):
            for size in _sizes(name):
                firsts, spans = self._windows((start, start + _BLOCK_WORDS), size)
                hit = process.extractOne(needle, self._spell(spans), scorer=fuzz.ratio)
                if len(firsts) and (best is None or hit[1] / _PERCENT > best.ratio):
                    best = FuzzyMatch(int(firsts[hit[2]]), int(firsts[hit[2]]) + size, hit[1] / _PERCENT)
        return best

    def _search(self, needle: str, block: tuple[int, int], size: int, threshold: float) -> Iterator[FuzzyMatch]:
        firsts, spans = self._windows(block, size)
        # ratio = 2 * common / (both lengths) can exceed the threshold only between these lengths
        lengths = spans[:, 1] - spans[:, 0]
        reach = (2 - threshold) / threshold if threshold else np.inf
        near = (lengths * reach > len(needle)) & (lengths < len(needle) * reach)
        firsts, spans = firsts[near], spans[near]
        hits = process.extract(
            needle, self._spell(spans), scorer=fuzz.ratio, score_cutoff=threshold * _PERCENT, limit=None
        )
        for _, score, index in hits:
            if score / _PERCENT > threshold:
                yield FuzzyMatch(int(firsts[index]), int(firsts[index]) + size, score / _PERCENT)

    def _windows(self, block: tuple[int, int], size: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the n-grams that start in a block: first words, shape (n,), and character spans, shape (n, 2)."""
        firsts = np.arange(block[0], max(block[0], min(block[1], len(self.words) - size + 1)))
        spans = np.stack([self.words.starts[firsts], self.words.ends[firsts + size - 1]], axis=1)
        return firsts, spans

    def _spell(self, spans: np.ndarray) -> list[str]:
        return [self._folded[start:end] for start, end in spans.tolist()]


def fold(text: str) -> str:
    """Returns the text without case and with plain spaces, every character in its place.

    str.casefold makes two letters of some ("ß"); these keep their lower case, so that positions stay the same.
    """
    folded = text.casefold()
    if len(folded) != len(text):
        folded = "".join(one if len(one := char.casefold()) == 1 else char for char in text)
    return _OTHER_SPACE.sub(" ", folded)


def _joined(name: Words) -> str:
    start, end = name.span(0, len(name))
    return fold(name.text)[start:end]


def _sizes(name: Words) -> range:
    return range(max(1, len(name) - 1), len(name) + 2)


def _without_overlaps(matches: list[FuzzyMatch]) -> list[FuzzyMatch]:
    """Keeps the best of those that share a word. Best first; of equal ratio the first in the text, then the shorter."""
    kept: list[FuzzyMatch] = []
    taken: set[int] = set()
    for match in sorted(matches, key=lambda match: (-match.ratio, match.first, match.last)):
        if taken.isdisjoint(range(match.first, match.last)):
            taken.update(range(match.first, match.last))
            kept.append(match)
    return kept


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where an entity is named: the name itself, its fuzzy ratio, and the text around and including it."""

    passage: TextSpan
    ratio: float
    context: str


@dataclass(frozen=True, slots=True)
class EntitySearch:
    """What the texts say about one entity, before any context is compared.

    Attributes:
        matches: in the generated summary, best first, above the threshold.
        nearest: the most similar words of the summary; None when it has no words.
        mentions: in the gold summary, then in the source.
    """

    entity: TextSpan
    matches: tuple[Mention, ...]
    nearest: Mention | None
    mentions: tuple[Mention, ...]


def search_entities(
    entities: Sequence[NormalizedText], summary: NormalizedText, gold: Sequence[NormalizedText], config: EvaluateConfig
) -> tuple[EntitySearch, ...]:
    """Looks for every entity in the summary and, if it is there, in the gold texts. Splits each text once."""
    summary_words = _Searched.of(summary)
    gold_words = [_Searched.of(text) for text in gold] if entities else []
    return tuple(_search(entity, summary_words, gold_words, config) for entity in entities)


def contexts(searches: Iterable[EntitySearch]) -> list[str]:
    """Returns what must be embedded: contexts of matches and mentions, where there are both."""
    return [
        mention.context
        for search in searches
        if search.matches and search.mentions
        for mention in (*search.matches, *search.mentions)
    ]


def score_entities(
    searches: Sequence[EntitySearch], embeddings: Embeddings, context_threshold: float
) -> EntitiesResult:
    """Computes the share of valid entities; there is at least one."""
    evidence = tuple(_judge(search, embeddings, context_threshold) for search in searches)
    valid_count = sum(entity.is_valid for entity in evidence)
    return EntitiesResult(valid_count / len(evidence), valid_count, evidence)


@dataclass(frozen=True, slots=True)
class _Searched:
    """A text with its words."""

    source: NormalizedText
    words: Words
    folded: FoldedWords

    @classmethod
    def of(cls, source: NormalizedText) -> "_Searched":
        words = split_words(source.text)
        return cls(source, words, FoldedWords(words))

    def mention(self, match: FuzzyMatch, context_tokens: int) -> Mention:
        start, end = self.words.span(match.first - context_tokens, match.last + context_tokens)
        context = " ".join(self.source.text[start:end].split())
        return Mention(self.source.passage(*self.words.span(match.first, match.last)), match.ratio, context)


def _search(
    entity: NormalizedText, summary: _Searched, gold: Sequence[_Searched], config: EvaluateConfig
) -> EntitySearch:
    name = split_words(entity.text)
    if not len(name):  # punctuation only: one word as it stands
        name = Words(entity.text, np.array([0], dtype=np.int32), np.array([len(entity.text)], dtype=np.int32))
    threshold, tokens = config.entity_fuzzy_threshold, config.entity_context_tokens
    found = summary.folded.find(name, threshold, config.entity_max_matches)
    matches = tuple(summary.mention(match, tokens) for match in found)
    if not matches:
        nearest = summary.folded.most_similar(name)
        return EntitySearch(entity.whole(), (), summary.mention(nearest, tokens) if nearest else None, ())
    mentions: list[Mention] = []
    for text in gold:
        limit = config.entity_max_mentions - len(mentions)
        if limit:
            mentions += [text.mention(match, tokens) for match in text.folded.find(name, threshold, limit)]
    return EntitySearch(entity.whole(), matches, matches[0], tuple(mentions))


def _judge(search: EntitySearch, embeddings: Embeddings, context_threshold: float) -> EntityEvidence:
    if not search.matches or not search.mentions:
        status = EntityStatus.VALID_WITHOUT_CONTEXT if search.matches else EntityStatus.NOT_FOUND
        nearest = search.nearest
        passage, ratio = (nearest.passage, nearest.ratio) if nearest else (None, 0.0)
        return EntityEvidence(search.entity, status, passage, ratio, None, None)
    cosines = embeddings.cosines(
        [match.context for match in search.matches], [mention.context for mention in search.mentions]
    )
    closest = cosines.max(axis=1)
    valid = closest >= context_threshold
    chosen = int(valid.argmax() if valid.any() else closest.argmax())  # the best-spelled valid match, else the closest
    mention = int(cosines[chosen].argmax())
    return EntityEvidence(
        entity=search.entity,
        status=EntityStatus.VALID if valid.any() else EntityStatus.CONTEXT_MISMATCH,
        match=search.matches[chosen].passage,
        fuzzy_ratio=search.matches[chosen].ratio,
        mention=search.mentions[mention].passage,
        context_cosine=float(cosines[chosen, mention]),
    )
