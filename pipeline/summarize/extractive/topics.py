"""Chooses the topics of a summary: phrases of headings, and phrases that come again, by maximal marginal relevance.

A phrase is a run of words between punctuation and stop words; in a script without spaces it is a string that comes
twice. Only counts decide, not grammar.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePath

import numpy as np

from pipeline.reading.blocks import BlockKind
from pipeline.reading.sentences import is_german
from pipeline.reading.values import find_values
from pipeline.reading.word_lists import FINITE_VERBS, STOP_WORDS, is_verb, phrase_list
from pipeline.reading.word_table import stem
from pipeline.summarize.extractive.excerpt import TEXT_KINDS, Excerpt
from pipeline.summarize.extractive.selection import Float64

_MOST_WORDS, _LONGEST_WORD = 4, 40
_TERM_CHARS = range(3, 11)  # of a script without spaces
_FIRST_UNSPACED = "\u3040"  # Japanese and Chinese begin here
_MOST_PHRASES = 160  # that are embedded
_MOST_HEADING_WORDS = 5
_RELEVANCE_WEIGHT = 0.6  # of MMR; the rest goes to difference
_CLOSENESS_WEIGHT, _FREQUENCY_WEIGHT, _HEADING_WEIGHT = 0.5, 0.2, 0.3
_WEAK_PENALTY = 0.35  # "Package" says less than "package management" or "IPsec", and what is said once than both
_SHORTEST_NAME = 10  # "Jahresarbeitszahl" names a subject by itself
_BREAK = re.compile(r"[.,;:!?()\[\]{}\"“”«»|<>=*`…—–、。，；：！？「」（）]+|\s-\s")
_NUMBERING = re.compile(r"§|§?\d[\d.]*[.:)]?|[A-Z]{1,3}(?:\.\d+)*[.:)]|[–—-]")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A candidate."""

    text: str  # as it most often stands there
    count: int  # of its words
    heading_weight: float  # 1 for a heading of the highest level, less for lower ones, 0 if it is none


def find_phrases(excerpts: Sequence[Excerpt]) -> list[Phrase]:
    """Returns candidates, the most promising first, at most a bounded number. Linear in the length of the text."""
    counts: Counter[str] = Counter()
    written: dict[str, Counter[str]] = defaultdict(Counter)
    whole: dict[str, None] = {}  # what is said once is a phrase only as a whole
    for gram, is_whole in _grams([excerpt.text for excerpt in excerpts if excerpt.kind in TEXT_KINDS]):
        key = _fold(gram)
        counts[key] += 1
        written[key][" ".join(gram)] += 1
        whole |= {key: None} if is_whole else {}
    weights: dict[str, float] = {}
    for words, weight in _headings(excerpts):
        key = _fold(words)
        weights[key] = max(weight, weights.get(key, 0.0))
        written[key][" ".join(words)] += 1
    headings = sorted(weights, key=lambda key: -weights[key])
    repeated = [key for key, count in counts.most_common() if count > 1]
    ranked = sorted(repeated, key=lambda key: -counts[key] * len(key.split()))
    chosen = list(dict.fromkeys([*headings, *ranked, *whole]))[:_MOST_PHRASES]
    return [Phrase(written[key].most_common(1)[0][0], counts[key], weights.get(key, 0.0)) for key in chosen]


def choose_topics(
    phrases: Sequence[Phrase], phrase_vectors: Float64, sentence_vectors: Float64, *, fewest: int, most: int
) -> tuple[str, ...]:
    """Returns the best phrases, none of which says what another says already.

    Args:
        fewest: weak ones that head nothing are topics only until there are so many.
        phrase_vectors: shape (phrases, dimension), rows of length 1.
        sentence_vectors: of sentences that say what the text is about; shape (sentences, dimension), may be empty.
    """
    if not phrases:
        return ()
    about = (sentence_vectors if len(sentence_vectors) else phrase_vectors).mean(axis=0)
    closeness = phrase_vectors @ (about / max(np.linalg.norm(about), np.finfo(np.float64).tiny))
    frequency = np.log1p([phrase.count for phrase in phrases])
    relevance = (
        _CLOSENESS_WEIGHT * closeness
        + _FREQUENCY_WEIGHT * frequency / max(1e-9, frequency.max())
        + _HEADING_WEIGHT * np.array([phrase.heading_weight for phrase in phrases])
        - _WEAK_PENALTY * np.array([_is_weak(phrase) for phrase in phrases])
    )
    likeness, is_open = np.zeros(len(phrases)), np.ones(len(phrases), dtype=bool)
    topics: list[str] = []
    while is_open.any() and len(topics) < most:
        scores = _RELEVANCE_WEIGHT * relevance - (1 - _RELEVANCE_WEIGHT) * likeness
        best = int(np.argmax(np.where(is_open, scores, -np.inf)))
        phrase, is_open[best] = phrases[best], False
        is_needed = len(topics) < fewest or not _is_weak(phrase) or bool(phrase.heading_weight)
        if is_needed and not any(_overlaps(phrase.text, topic) for topic in topics):
            topics.append(phrase.text)
            likeness = np.maximum(likeness, phrase_vectors @ phrase_vectors[best])
    return tuple(topic[:1].upper() + topic[1:] for topic in topics)


def _headings(excerpts: Sequence[Excerpt]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yields the words of short headings, without their numbers, and how high they stand; no names of files."""
    titles = (excerpt for excerpt in excerpts if excerpt.kind is BlockKind.HEADING)
    headings = [title for title in titles if not PurePath(title.text).suffix[1:].isalpha()]
    ranks = {level: rank for rank, level in enumerate(sorted({heading.level for heading in headings}))}
    for heading in headings:
        words = _title(heading.text)
        is_named = words and words[0].lower() not in STOP_WORDS
        is_part = " ".join(words).lower() in phrase_list("titles_of_parts")
        if is_named and len(words) <= _MOST_HEADING_WORDS and _is_phrase(words) and not is_part:
            yield words, 1 / (1 + ranks[heading.level])


def _title(heading: str) -> tuple[str, ...]:
    """Returns the words of a heading behind its number, "Chapter 1." or "2.1", up to a colon."""
    words = heading.split()
    while words:
        is_part = words[0].lower() in phrase_list("titles_of_parts") and len(words) > 1
        if not _NUMBERING.fullmatch(words[is_part]):
            break
        words = words[1 + is_part :]
    return tuple(" ".join(words).split(":")[0].split())


def _grams(texts: Sequence[str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yields runs of one to four words, and whether they name something where they are said once: whole, and no act."""
    is_noun_capital = is_german("\n".join(texts))
    parts = (part.split() for text in texts for part in _BREAK.split(text))
    runs = [tuple(run) for part in parts for is_named, run in groupby(part, key=_is_named) if is_named]
    for run in runs:
        for size in range(1, _MOST_WORDS + 1):
            for start in range(len(run) - size + 1):
                gram = run[start : start + size]
                if _is_phrase(gram) and not (is_noun_capital and gram[-1].islower()):
                    yield gram, gram == run and not any(map(_may_act, gram))
    for term in _unspaced_terms(word for run in runs for word in run if word >= _FIRST_UNSPACED):
        yield (term,), True


def _is_named(word: str) -> bool:
    is_word = word[0].isalpha() and word[-1].isalnum() and len(word) <= _LONGEST_WORD
    says_nothing = word.lower().replace("’", "'") in STOP_WORDS or word in FINITE_VERBS
    counted = f"1 {word}"  # words that belong to a number or a date name nothing: "million", "minutes", "March"
    return is_word and not says_nothing and find_values(counted)[-1].unit_end < len(counted)


def _unspaced_terms(words: Iterable[str]) -> Iterator[str]:
    """Yields strings as often as they come, which is twice or more, without parts of longer ones that come as often."""
    spans = [(start, start + size) for size in _TERM_CHARS for start in range(_LONGEST_WORD + 1 - size)]
    parts = (word[start:end] for word in words for start, end in spans if end <= len(word))
    counts = {term: count for term, count in Counter(parts).items() if count > 1}
    inner = {part for term, count in counts.items() for part in (term[1:], term[:-1]) if counts.get(part) == count}
    for term, count in counts.items():
        yield from [term] * (count if term not in inner else 0)


def _is_phrase(words: tuple[str, ...]) -> bool:
    """Tells whether words may name something: none is a verb, but as in "distributed systems"."""
    has_verb = any(word.islower() and is_verb(word) for word in words[1:])
    is_short = len("".join(words)) <= 2  # noqa: PLR2004
    return not (is_short or has_verb or (len(words) == 1 and (_may_act(words[0]) or "'" in words[0])))


def _may_act(word: str) -> bool:
    return word.lower().endswith(("ing", "ed"))


def _is_weak(phrase: Phrase) -> bool:
    """Tells whether a phrase is said once or is one common word, and no title: neither a chapter nor "IPsec"."""
    text = phrase.text
    is_cased = text.lower() != text.upper()
    is_common = text.islower() or (text[1:].islower() and len(text) < _SHORTEST_NAME)
    is_plain_word = is_cased and is_common and " " not in text and phrase.heading_weight < 1
    is_name = " " in text and text.istitle()
    return is_plain_word or not (phrase.heading_weight or phrase.count > 1 or is_name)


def _fold(words: Sequence[str]) -> str:
    """Returns the stems of a phrase."""
    return " ".join(stem(word.lower()) for word in words)


def _overlaps(phrase: str, topic: str) -> bool:
    """Tells whether one phrase has all words of the other, or without spaces all characters."""
    left, right = (set(_fold(text.split()).split()) for text in (phrase, topic))
    if not (phrase.isascii() or " " in phrase + topic) and (phrase in topic or topic in phrase):
        return True
    return left <= right or right <= left
