"""Entities: are the key names there, and do they mean the same thing?

A name is found by fuzzy matching. It counts only if the words around it are about what those around some mention in the
gold are about. "Washington" the president is not Washington the state.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rapidfuzz import fuzz, process

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.result import EntitiesResult, EntityEvidence, EntityStatus
from pipeline.model_answers import Embeddings, small_letters
from pipeline.reading.characters import NormalizedText
from pipeline.reading.passage import TextSpan
from pipeline.reading.words import split_words

_BLOCK_WORDS = 8_192  # bounds memory: windows of one block are strings of their own
_PERCENT = 100.0  # rapidfuzz counts ratios up to 100
_SPACES = dict.fromkeys(map(ord, "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"), " ")

FoldedName = tuple[str, int]
"""A name without case, and its number of words."""


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """Words `first` up to, not including, `last` of a text, and their fuzzy ratio to the name, in [0, 1]."""

    first: int
    last: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where an entity is named: the name itself, its fuzzy ratio, and the text around and including it."""

    passage: TextSpan
    ratio: float
    context: str


class SearchedText:
    """A text whose n-grams are compared with names, in folded spelling."""

    def __init__(self, source: NormalizedText) -> None:
        self.source = source
        self.words = split_words(source.text)

    @cached_property
    def _folded(self) -> str:
        return fold(self.source.text)

    def find(self, name: FoldedName, threshold: float, limit: int) -> list[FuzzyMatch]:
        """Returns n-grams with ratio > `threshold` that do not overlap, best first.

        n is the name's word count, one less and one more. Reading stops once `limit` are found, at the end of a block
        of 8,192 words. The text may be a book, and its first mentions suffice.
        """
        found: list[FuzzyMatch] = []
        for start in range(0, len(self.words), _BLOCK_WORDS):
            found = _without_overlaps([*found, *self._matches(name, start, threshold)])
            if len(found) >= limit:
                break
        return found[:limit]

    def most_similar(self, name: FoldedName) -> FuzzyMatch | None:
        """Returns the best n-gram whatever its ratio, the first one on a tie; None when the text has no words."""
        starts = range(0, len(self.words), _BLOCK_WORDS)
        matches = (match for start in starts for match in self._matches(name, start, -1.0))
        return max(matches, key=lambda match: match.ratio, default=None)

    def mention(self, match: FuzzyMatch, context_tokens: int) -> Mention:
        """Returns where a match stands, with so many words on either side."""
        start, end = self.words.span(match.first - context_tokens, match.last + context_tokens)
        context = " ".join(self.source.text[start:end].split())
        return Mention(self.source.passage(*self.words.span(match.first, match.last)), match.ratio, context)

    def _matches(self, name: FoldedName, start: int, threshold: float) -> Iterator[FuzzyMatch]:
        """Yields the n-grams that begin in a block of words and have a ratio above the threshold."""
        needle, word_count = name
        for size in range(max(1, word_count - 1), word_count + 2):
            firsts = np.arange(start, max(start, min(start + _BLOCK_WORDS, len(self.words) - size + 1)))
            spans = np.stack([self.words.starts[firsts], self.words.ends[firsts + size - 1]], axis=1)
            # ratio = 2 * common / (both lengths) can exceed the threshold only between these lengths
            lengths = spans[:, 1] - spans[:, 0]
            reach = (2 - threshold) / threshold if threshold > 0 else np.inf
            near = (lengths * reach > len(needle)) & (lengths < len(needle) * reach)
            spelled = [self._folded[begin:end] for begin, end in spans[near].tolist()]
            cutoff = max(0.0, threshold * _PERCENT)
            hits = process.extract(needle, spelled, scorer=fuzz.ratio, score_cutoff=cutoff, limit=None)
            for _, score, index in hits:
                if score / _PERCENT > threshold:
                    place = int(firsts[near][index])
                    yield FuzzyMatch(place, place + size, score / _PERCENT)


def fold(text: str) -> str:
    """Returns the text without case and with plain spaces, every character in its place."""
    return small_letters(text).translate(_SPACES)


def fold_name(name: str) -> FoldedName:
    """Returns a name as it is searched for; one of punctuation alone is a word as it stands."""
    words, folded = split_words(name), fold(name)
    return (folded[slice(*words.span(0, len(words)))], len(words)) if len(words) else (folded, 1)


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
class EntitySearch:
    """What the texts say about one entity, before any context is compared."""

    entity: TextSpan
    matches: tuple[Mention, ...]  # in the generated summary, best first, above the threshold
    nearest: Mention | None  # the most similar words of the summary; None when it has no words
    mentions: tuple[Mention, ...]  # in the gold summary, then in the source


def search_entities(
    entities: Sequence[NormalizedText], summary: NormalizedText, gold: Sequence[NormalizedText], config: EvaluateConfig
) -> tuple[EntitySearch, ...]:
    """Looks for every entity in the summary and, if it is there, in the gold texts. Splits each text once."""
    searched = SearchedText(summary)
    golds = [SearchedText(text) for text in gold] if entities else []
    return tuple(_search(entity, searched, golds, config) for entity in entities)


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


def _search(
    entity: NormalizedText, summary: SearchedText, gold: Sequence[SearchedText], config: EvaluateConfig
) -> EntitySearch:
    name, threshold, tokens = fold_name(entity.text), config.entity_fuzzy_threshold, config.entity_context_tokens
    matches = tuple(
        summary.mention(match, tokens) for match in summary.find(name, threshold, config.entity_max_matches)
    )
    if not matches:
        nearest = summary.most_similar(name)
        return EntitySearch(entity.whole(), (), summary.mention(nearest, tokens) if nearest else None, ())
    mentions: list[Mention] = []
    for text in gold:
        if limit := config.entity_max_mentions - len(mentions):
            mentions += [text.mention(match, tokens) for match in text.find(name, threshold, limit)]
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
