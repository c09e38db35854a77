"""Reads both texts and cuts them, and chooses what the embedder reads. First step, before any model runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from pipeline.judge.config import EvidenceConfig
from pipeline.judge.evidence.claims import ClaimSpan, SegmentSpan, find_claims, find_segments, most_consequential
from pipeline.off_loop import stop_if_nobody_waits
from pipeline.protocols import Tokenizer
from pipeline.reading.document import Capitals, ReadText
from pipeline.reading.index import Float64, WordIndex
from pipeline.reading.names import SourceValues
from pipeline.reading.overlap import SourceSequences
from pipeline.reading.passages import PassageFinder
from pipeline.reading.rules import Rule
from pipeline.reading.salience import word_centrality
from pipeline.reading.summary_text import read_summary
from pipeline.support.claim_support import MAX_SENTENCE_CHARS, PASSAGE_CHARS

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


FOLDING = Rule(
    "case-folding",
    "judge",
    "Texts that differ in their capitals are compared in small letters.",
    "MAYOR RESIGNS OVER BRIDGE",
    "mayor resigns over bridge",
)


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
    """

    read: ReadText
    index: WordIndex
    passages: PassageFinder

    @classmethod
    def of(cls, read: ReadText, *, has_turns: bool) -> Self:
        """Indexes a text. Linear in its length."""
        index = WordIndex(read)
        return cls(read, index, PassageFinder(read, index, PASSAGE_CHARS, has_turns=has_turns))


@dataclass(frozen=True, slots=True, eq=False)
class ReadSource:
    """A source as read, the same for all of its summaries.

    Attributes:
        side: the article.
        values: its numbers, dates and names.
        sequences: its neighbouring words.
        capitals: of its words.
        centrality: of its sentences by their words, shape (sentences,).
    """

    side: Side
    values: SourceValues
    sequences: SourceSequences
    capitals: Capitals
    centrality: Float64


def read_source(text: str) -> ReadSource:
    """Reads a source. The CPU-heavy step of a judgement: run it off the loop. Linear in the length of the text."""
    side = Side.of(ReadText.of(SOURCE, text, MAX_SENTENCE_CHARS), has_turns=True)
    values = SourceValues.of(side.read)
    stop_if_nobody_waits()
    sequences, capitals = SourceSequences(side.read.table), Capitals.of(side.read)
    return ReadSource(side, values, sequences, capitals, word_centrality(side.read, side.index))


@dataclass(frozen=True, slots=True, eq=False)
class ReadTexts:
    """Both texts as read, before embedding.

    Attributes:
        source: the article.
        summary: the summary.
        all_claims: of the summary, in order.
        claims: those that are checked, in order: all, or the most consequential.
        segments: of the summary, in order.
        worded: sentences of the summary of whose words the source has enough in one place.
        embedded: indices of the source's sentences that the embedder reads, rising.
        told_embedded: likewise, of the summary.
        values: numbers, dates and names of the source, with the names of the summary.
        sequences: neighbouring words of the source.
        folds_case: whether they are compared in small letters.
        texts: to embed, without repeats.
        parts: of the table that somebody will read.
    """

    source: Side
    summary: Side
    all_claims: tuple[ClaimSpan, ...]
    claims: tuple[ClaimSpan, ...]
    segments: tuple[SegmentSpan, ...]
    worded: frozenset[int]
    embedded: tuple[int, ...]
    told_embedded: tuple[int, ...]
    values: SourceValues
    sequences: SourceSequences
    folds_case: bool
    texts: tuple[str, ...]
    parts: frozenset[EvidencePart]

    @property
    def names(self) -> frozenset[str]:
        """Casefolded words that stand capitalised inside a sentence of either text."""
        return self.values.known_names


def read_texts(request: EvidenceRequest, source: ReadSource, tokenizer: Tokenizer, config: EvidenceConfig) -> ReadTexts:
    """Reads the summary beside its source. Linear in the length of the summary."""
    told = read_summary(SUMMARY, request.summary, MAX_SENTENCE_CHARS, source.side.index)
    all_claims = find_claims(told)
    claims = most_consequential(all_claims, told, config.max_claims)
    worded = _worded(told, source.side.index)
    most = config.max_embedded_sentences
    stems = [told.table.content_stems(claim.words) for claim in claims if claim.sentence_index in worded]
    embedded = _to_embed(source, stems, most)
    told_embedded = tuple(range(min(len(told.sentences), most)))
    texts = [source.side.read.passages[place].text for place in embedded]
    texts += [told.passages[place].text for place in told_embedded]
    return ReadTexts(
        source=source.side,
        summary=Side.of(told, has_turns=False),  # a colon in it would put words before other sentences
        all_claims=all_claims,
        claims=claims,
        segments=find_segments(told, tokenizer),
        worded=worded,
        embedded=embedded,
        told_embedded=told_embedded,
        values=source.values.with_names_of(told.table),
        sequences=source.sequences,
        folds_case=FOLDING.is_on and source.capitals.differ_from(told),
        texts=tuple(dict.fromkeys(texts)),
        parts=request.parts,
    )


def _worded(told: ReadText, source: WordIndex) -> frozenset[int]:
    found = set[int]()
    for index, words in enumerate(told.ranges):
        stop_if_nobody_waits()
        if source.have_together(told.table.content_stems(words)):
            found.add(index)
    return frozenset(found)


def _to_embed(source: ReadSource, claims: Sequence[Sequence[str]], most: int) -> tuple[int, ...]:
    """Returns all sentences, or of a long text those that share words with claims, and the most central by words."""
    index, count = source.side.index, len(source.side.read.sentences)
    if count <= most:
        return tuple(range(count))
    chosen: dict[int, None] = {}
    for stems in claims:
        stop_if_nobody_waits()
        found = index.weighted({stem: index.rarity(stem) for stem in stems})
        chosen.update(dict.fromkeys(np.argsort(-found, kind="stable")[:_SENTENCES_PER_CLAIM].tolist()))
        if len(chosen) >= most:
            break
    for place in np.argsort(-source.centrality, kind="stable").tolist():
        if len(chosen) >= most:
            break
        chosen[place] = None
    return tuple(sorted(list(chosen)[:most]))
