"""Entities: are the key names there, and do they mean the same thing?

A name is found by fuzzy matching, and counts only if the words around it are about what the words around some mention
in the gold are about: "Washington" the president is not Washington the state.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.embeddings import Embeddings
from pipeline.evaluate.fuzzy_search import FoldedWords, FuzzyMatch
from pipeline.evaluate.result import EntitiesResult, EntityEvidence, EntityStatus
from pipeline.text.normalize import NormalizedText
from pipeline.text.passage import Passage
from pipeline.text.words import Words, split_words


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where an entity is named: the name itself, its fuzzy ratio, and the text around and including it."""

    passage: Passage
    ratio: float
    context: str


@dataclass(frozen=True, slots=True)
class EntitySearch:
    """What the texts say about one entity, before any context is compared.

    Attributes:
        entity: as listed in the gold.
        matches: in the generated summary, best first, above the threshold.
        nearest: the most similar words of the summary; None when it has no words.
        mentions: in the gold summary, then in the source.
    """

    entity: Passage
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
