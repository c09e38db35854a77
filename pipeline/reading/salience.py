"""The subject of a text: its central sentences, its salient words, and its theme in one short quote.

Central sentences are close to the mean vector, early, long enough, and different from each other. A long text is
embedded in part; frequent words then stand in for the vectors.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from math import log1p
from typing import NamedTuple

import numpy as np

from pipeline.protocols import Tokenizer
from pipeline.reading.document import ReadText
from pipeline.reading.index import Closeness, Float64, WordIndex
from pipeline.reading.passage import TextSpan
from pipeline.reading.rules import Rule
from pipeline.reading.word_lists import word_list

_MIDDLE_WEIGHT, _WORDS_WEIGHT, _LEAD_WEIGHT = 0.5, 0.3, 0.2
_LEAD_SENTENCES, _LEAD_SHARE = 10.0, 0.1  # after so many, or this share of all, 63% of the lead bonus is gone
_FULL_LENGTH_WORDS = 10
_RELEVANCE_WEIGHT = 0.7  # of MMR; the rest goes to difference
_MOST_SHARED_STEMS = 0.6  # mutually exclusive: of the shorter sentence's words
_MOST_COSINE = 0.8


def word_centrality(text: ReadText, index: WordIndex) -> Float64:
    """Scores sentences by how frequent their words are in the text, shape (sentences,), in [0, 1]."""
    means = []
    for words in text.ranges:
        stems = dict.fromkeys(text.content_stems(words))
        frequencies = [np.log1p(index.sentence_count(stem) - 1) for stem in stems]
        means.append(sum(frequencies) / max(len(frequencies), 5))
    return scaled(np.array(means, dtype=np.float64))


def rank_centrality(text: ReadText, index: WordIndex, closeness: Closeness) -> Float64:
    """Scores sentences, shape (sentences,), in [0, 1]."""
    count = len(text.sentences)
    if not count:
        return np.zeros(0)
    total = closeness.vectors.sum(axis=0)
    middle = total / max(np.linalg.norm(total), np.finfo(np.float64).tiny)
    content = np.array([sum(text.table.content[word] for word in words) for words in text.ranges], dtype=np.float64)
    score = (
        _MIDDLE_WEIGHT * scaled(closeness.cosines(middle))
        + _WORDS_WEIGHT * word_centrality(text, index)
        + _LEAD_WEIGHT * np.exp(-np.arange(count) / max(_LEAD_SENTENCES, _LEAD_SHARE * count))
    )
    return np.asarray(score * np.minimum(content / _FULL_LENGTH_WORDS, 1))


def choose_distinct(text: ReadText, centrality: Float64, closeness: Closeness, most: int) -> list[int]:
    """Chooses sentences by maximal marginal relevance of their centrality, best first; none repeats another."""
    stems = [frozenset(text.content_stems(words)) for words in text.ranges]
    open_ones = [index for index, words in enumerate(stems) if words]
    likeness = np.zeros(len(stems))
    chosen: list[int] = []
    while open_ones and len(chosen) < most:
        scores = [_RELEVANCE_WEIGHT * centrality[i] - (1 - _RELEVANCE_WEIGHT) * likeness[i] for i in open_ones]
        best = open_ones[int(np.argmax(scores))]
        chosen.append(best)
        cosines = closeness.cosines(closeness.vectors[best])
        likeness = np.maximum(likeness, cosines)
        open_ones = [
            index
            for index in open_ones
            if index != best
            and cosines[index] < _MOST_COSINE
            and len(stems[index] & stems[best]) <= _MOST_SHARED_STEMS * min(len(stems[index]), len(stems[best]))
        ]
    return chosen


def scaled(values: Float64) -> Float64:
    """Returns the values on a scale from 0 (the smallest) to 1; all 1 if they are equal."""
    width = np.ptp(values) if len(values) else 0.0
    return np.ones_like(values) if width <= 0 else np.asarray((values - values.min()) / width)


_SPEAKS_OF = 0.3
"""Part of what a statement shares with the closest sentence of the source, from which it speaks of another one too."""

_TELLS = 0.5
"""Share of a point's words from which a statement tells it; what has less says what it is about, and no more."""


def told_shares(
    source: WordIndex, points: Mapping[int, tuple[Sequence[str], Sequence[str]]], said: Sequence[Sequence[str]]
) -> dict[int, float]:
    """Returns how much of some points statements tell between them, in [0, 1].

    A statement tells a point when it has half of its words, and half of those of its predicate. A subject and a verb
    tell nothing. It must speak of the point, too: of its rare words it shares most with it. Words count by ln(1 +
    sentences that have them): what the source comes back to is the core, the rest detail.

    Args:
        points: stems of all content words of each, and those of its predicate, by the sentence of the source.
        said: those of each statement.
    """
    told = {at: set[str]() for at in points}
    counts = source.sentence_count
    parts = {at: [{stem: log1p(counts(stem)) for stem in stems} for stems in both] for at, both in points.items()}
    for stems in said if points else ():
        shared = source.weighted({stem: source.rarity(stem) for stem in stems})
        least = _SPEAKS_OF * shared.max(initial=0.0)
        for at in points:
            if shared[at] >= least and all(_share(part, stems) >= _TELLS for part in parts[at]):
                told[at].update(stems)
    return {at: _share(whole, told[at]) for at, (whole, _) in parts.items()}


def _share(weights: Mapping[str, float], stems: Collection[str]) -> float:
    total = sum(weights.values())
    return sum(weight for stem, weight in weights.items() if stem in stems) / total if total else 0.0


_CLAUSE_END = re.compile(
    r"(?:[;:—–]|(?<!\d),|,(?!\s\d))(?!\d)|\s(?:who|which|that|because|after|before|while|as|when)\s"
)
_LEAST_PART = 0.5  # better to end at a clause than anywhere, unless half would be lost
_FEWEST_WORDS = 6
_FEWEST_CONTENT = 5  # words: "the mayor said" is no point yet


class MainClause(NamedTuple):
    """What a sentence says in the first place: where it stands, as it is read, and its words in the text's table."""

    passage: TextSpan
    words: Sequence[int]


def main_clause(read: ReadText, sentence: int) -> MainClause:
    """Returns the main clause of a sentence, without what stands before, beside and behind it.

    Kept are the subject and the first part with a verb that no relative word or conjunction opens. As many parts behind
    it follow as it takes to say something. A sentence without such a part is kept whole. So is one whose verb may stand
    in a clause that no comma parts from the subject: "Bees that watched pushed it, said Ann."
    """
    table, place, openers = read.table, read.sentences[sentence], word_list("relatives") | word_list("clause_openers")
    ends = (end.start() for end in _CLAUSE_END.finditer(table.text, place.start, place.end))
    kept, has_verb, content = list[range](), False, 0
    for start, end in pairwise((place.start, *ends, place.end)):
        part = table.between(start, end)
        if not part or (has_verb and content >= _FEWEST_CONTENT):
            continue
        is_stated = any(map(table.is_verb, part))
        is_bound = table.words[part[0]] in openers and table.text[start - 1 : start + 1].rstrip().isalnum()
        if is_bound and is_stated and not has_verb and kept and content and kept[-1].stop == part.start:
            break
        if has_verb or (table.words[part[0]] not in openers and (is_stated or not kept)):
            is_beside = kept and kept[-1].stop == part.start
            kept.append(range(kept.pop().start, part.stop) if is_beside else part)
            has_verb |= is_stated
            content += sum(table.content[at] for at in part)
        if table.text[end : end + 1] == ":" and not has_verb:  # what stood before it is a label
            kept.clear()
    said = [at for part in kept for at in part]
    if not has_verb or len(said) < _FEWEST_WORDS:
        return MainClause(read.passages[sentence], read.ranges[sentence])
    text = " ".join(" ".join(read.words_passage(part).text for part in kept).split())
    return MainClause(read.passage(table.starts[said[0]], table.ends[said[-1]], text), said)


PREDICATES = Rule(
    "predicates",
    "judge",
    "A key point is told by half of what stands behind its verb too, unless that is but its tail.",
    "Point: The council closes the old bridge. Claim: The council closes.",
    "not told",
)


def predicate_stems(read: ReadText, words: Sequence[int]) -> Sequence[str]:
    """Returns the stems behind the first verb of a clause; all where that is a tail: "owns it with cracked walls"."""
    verbs = (at for at, word in enumerate(words) if read.table.is_verb(word))
    stems, behind = (read.content_stems(part) for part in (words, words[next(verbs, len(words)) + 1 :]))
    return behind if PREDICATES.is_on and 2 * len(behind) >= len(stems) else stems


def find_theme(
    source: ReadText, ranked: Sequence[int], tokenizer: Tokenizer, max_tokens: int
) -> tuple[TextSpan, int | None]:
    """Returns the most central sentence that is short enough, of the first three; else the beginning of the first.

    With it comes the index of the sentence, of those ranked, the most central first; None when there is none.
    """
    for index in ranked[:3]:
        if len(tokenizer.offsets(source.passages[index].text)) <= max_tokens:
            return source.passages[index], index
    if ranked:
        sentence = source.sentences[ranked[0]]
        start, end = sentence.start, sentence.end
    else:
        start, end = 0, len(source.text.text)
    theme = source.passage(start, start + _cut(source.text.text[start:end], tokenizer, max_tokens))
    return theme, ranked[0] if ranked else None


def _cut(text: str, tokenizer: Tokenizer, max_tokens: int) -> int:
    """Returns how many characters fit, up to the end of a clause or a word."""
    head = text[: max_tokens * 60]
    offsets = tokenizer.offsets(head)
    if len(offsets) <= max_tokens:
        # Characters that are nobody's token, such as invisible ones, may fill the head.
        return offsets[-1][1] if offsets and len(text) > len(head) else len(head)
    end = offsets[max_tokens - 1][1]
    if text[end : end + 1].isalnum() and " " in text[:end]:  # not inside a word
        end = text.rindex(" ", 0, end)
    clauses = [match.start() for match in _CLAUSE_END.finditer(text, 0, end) if match.start() >= _LEAST_PART * end]
    return clauses[-1] if clauses else end
