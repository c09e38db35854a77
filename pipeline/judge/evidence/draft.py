"""Reads both texts and cuts them, and chooses what the embedder reads. First step, before any model runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from pipeline.judge.evidence.claims import ClaimSpan, SegmentSpan, find_claims, find_segments, most_consequential
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.text.closeness import WordIndex
from pipeline.judge.evidence.text.names import SourceValues, known_names
from pipeline.judge.evidence.text.overlap import SourceSequences
from pipeline.judge.evidence.text.passages import PassageFinder
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.subject import word_centrality
from pipeline.protocols import Tokenizer

SOURCE, SUMMARY = "source", "summary"
"""Text ids of evidence."""

_SENTENCES_PER_CLAIM = 24  # of a long text, embedded because they share words with a claim


class EvidencePart(StrEnum):
    """What of a table is made only for those who read it; else it is empty.

    INTENT: of the source. TWIN_KEY_POINTS: Twin-Lock's. JUDGE_KEY_POINTS: Judge-Lock's. QUESTIONS: both kinds.
    SUBJECT: cosines of segments, and the salient share.
    """

    INTENT = "intent"
    TWIN_KEY_POINTS = "twin_key_points"
    JUDGE_KEY_POINTS = "judge_key_points"
    QUESTIONS = "questions"
    SUBJECT = "subject"


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """What a table is asked for.

    Attributes:
        source: the whole article; not blank.
        summary: not blank.
        parts: that somebody will read.
    """

    source: str
    summary: str
    parts: frozenset[EvidencePart] = frozenset(EvidencePart)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two texts, ready to be searched.

    Attributes:
        read: the text.
        index: its words.
        passages: finds what it says about a statement.
        embedded: indices of the sentences that the embedder reads, rising.
    """

    read: ReadText
    index: WordIndex
    passages: PassageFinder
    embedded: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ReadTexts:
    """Both texts as read, before embedding.

    Attributes:
        source: the article.
        summary: the summary.
        all_claims: of the summary, in order.
        claims: those that are checked, in order: all, or the most consequential.
        segments: of the summary, in order.
        values: numbers, dates and names of the source.
        sequences: neighbouring words of the source.
        names: casefolded words that stand capitalised inside a sentence somewhere.
        texts: to embed, without repeats.
        parts: of the table that somebody will read.
    """

    source: Side
    summary: Side
    all_claims: tuple[ClaimSpan, ...]
    claims: tuple[ClaimSpan, ...]
    segments: tuple[SegmentSpan, ...]
    values: SourceValues
    sequences: SourceSequences
    names: frozenset[str]
    texts: tuple[str, ...]
    parts: frozenset[EvidencePart]


def read_texts(request: EvidenceRequest, tokenizer: Tokenizer, config: EvidenceConfig) -> ReadTexts:
    """Reads both texts. The CPU-heavy step of a long source: run it off the loop. Linear in both lengths."""
    article = ReadText.of(SOURCE, request.source, config.max_sentence_chars)
    told = ReadText.of_summary(SUMMARY, request.summary, config.max_sentence_chars)
    index, told_index = WordIndex(article), WordIndex(told)
    all_claims = find_claims(told)
    claims = most_consequential(all_claims, told, config.max_claims)
    most = config.max_embedded_sentences
    embedded = _to_embed(article, index, [told.table.content_stems(claim.words) for claim in claims], most)
    told_embedded = tuple(range(min(len(told.sentences), most)))
    texts = [article.passages[place].text for place in embedded]
    texts += [told.passages[place].text for place in told_embedded]
    return ReadTexts(
        source=Side(article, index, PassageFinder(article, index, config.passage_chars), embedded),
        summary=Side(told, told_index, PassageFinder(told, told_index, config.passage_chars), told_embedded),
        all_claims=all_claims,
        claims=claims,
        segments=find_segments(told, tokenizer, config.min_segment_tokens),
        values=SourceValues.of(article, told),
        sequences=SourceSequences(article.table),
        names=known_names((article.table, told.table)),
        texts=tuple(dict.fromkeys(texts)),
        parts=request.parts,
    )


def _to_embed(text: ReadText, index: WordIndex, claims: Sequence[Sequence[str]], most: int) -> tuple[int, ...]:
    """Returns all sentences, or of a long text those that share words with claims, and the most central by words."""
    count = len(text.sentences)
    if count <= most:
        return tuple(range(count))
    chosen: dict[int, None] = {}
    for stems in claims:
        found = index.weighted({stem: index.rarity(stem) for stem in stems})
        chosen.update(dict.fromkeys(np.argsort(-found, kind="stable")[:_SENTENCES_PER_CLAIM].tolist()))
    for place in np.argsort(-word_centrality(text, index), kind="stable").tolist():
        if len(chosen) >= most:
            break
        chosen[place] = None
    return tuple(sorted(list(chosen)[:most]))
