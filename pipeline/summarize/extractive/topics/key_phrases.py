"""Key phrases of a summary, by maximal marginal relevance: words of headings, and runs of words that come again."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.reading.function_words import STOP_WORDS
from pipeline.summarize.extractive.centrality import Float64
from pipeline.summarize.extractive.excerpt import PROSE, Excerpt, ExcerptKind
from pipeline.summarize.extractive.topics.noun_phrases import noun_runs
from pipeline.summarize.extractive.topics.other_languages import (
    chinese_terms,
    german_phrases,
    is_chinese,
    is_compound,
    is_german,
)

_MOST_WORDS = 4
_MOST_PHRASES = 160  # that are embedded
_MOST_HEADINGS = 60
_RELEVANCE_WEIGHT = 0.6
_CLOSENESS_WEIGHT, _FREQUENCY_WEIGHT, _HEADING_WEIGHT = 0.5, 0.2, 0.3
_WORD_PENALTY = 0.35  # "Package" says less than "package management" or "IPsec"
_MOST_HEADING_WORDS = 5
_NO_TOPIC_LIST = """
    introduction preface foreword conclusion contents abstract overview note tip example summary appendix index
    license acknowledgements references contributing einleitung zusammenfassung inhalt vorwort fazit 摘要 概述 目录
"""
_NO_TITLE = frozenset(_NO_TOPIC_LIST.split()) | STOP_WORDS
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|part|article|clause|appendix|annex|kapitel|abschnitt|artikel|chapitre)\s+[\dA-Z.]+|§\s?\d+|"
    r"[\dA-Z]{1,3}(?:\.\d{1,3})*\.(?=\s)|"
    r"\d{1,3}(?=\s+[A-Z])|\d+(?:\.\d+)+)[\s:.–—-]*",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r".*\S\.(?:pdf|docx?|epub|pptx?|x?html?|md|markdown|te?xt|rst|adoc)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A candidate.

    Attributes:
        text: as it most often stands in the text.
        count: how often its words come.
        is_compound: one word that names a subject by itself, as German and Chinese words do.
        heading_weight: 1 for a heading of the highest level, less for lower ones, 0 if it is none.
    """

    text: str
    count: int
    heading_weight: float
    is_compound: bool = False


def find_phrases(excerpts: Sequence[Excerpt]) -> list[Phrase]:
    """Returns candidates, the most promising first, at most a bounded number. Linear in the length of the text."""
    counts: Counter[str] = Counter()
    written: dict[str, Counter[str]] = defaultdict(Counter)
    whole: dict[str, None] = {}  # what is said once is a phrase only as a whole
    texts = [excerpt.text for excerpt in excerpts if excerpt.kind in PROSE]
    is_other = is_german(texts) or is_chinese(texts)
    for gram, is_whole in _grams(texts):
        counts[_fold(gram)] += 1
        whole |= {_fold(gram): None} if is_whole else {}
        written[_fold(gram)][" ".join(gram)] += 1
    weights: dict[str, float] = {}
    for words, weight in _headings(excerpts):
        weights[_fold(words)] = max(weight, weights.get(_fold(words), 0.0))
        written[_fold(words)][" ".join(words)] += 1
    headings = sorted(weights, key=lambda key: -weights[key])[:_MOST_HEADINGS]
    repeated = [key for key, count in counts.most_common() if count > 1]
    ranked = sorted(repeated, key=lambda key: -counts[key] * len(key.split()))
    chosen = list(dict.fromkeys([*headings, *ranked, *whole]))[:_MOST_PHRASES]
    best = {key: written[key].most_common(1)[0][0] for key in chosen}
    return [
        Phrase(best[key], counts[key], weights.get(key, 0.0), is_other and is_compound(best[key])) for key in chosen
    ]


def _headings(excerpts: Sequence[Excerpt]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yields the words of short headings, without their numbers, and how high they stand; no names of files."""
    headings = [one for one in excerpts if one.kind is ExcerptKind.HEADING and not _FILE_NAME.fullmatch(one.text)]
    ranks = {level: rank for rank, level in enumerate(sorted({heading.level for heading in headings}))}
    for heading in headings:
        words = tuple(_NUMBERING.sub("", heading.text).split(":")[0].split())
        if 0 < len(words) <= _MOST_HEADING_WORDS and _is_phrase(words) and words[0].lower() not in _NO_TITLE:
            yield words, 1 / (1 + ranks[heading.level])


def choose_topics(
    phrases: Sequence[Phrase], phrase_vectors: Float64, sentence_vectors: Float64, *, fewest: int, most: int
) -> tuple[str, ...]:
    """Returns the best phrases, none of which says what another says already.

    Args:
        fewest: common words that head nothing are topics only until there are so many.
        phrase_vectors: shape (phrases, dimension), rows of length 1.
        sentence_vectors: of sentences that say what the text is about; shape (sentences, dimension), may be empty.
    """
    if not phrases:
        return ()
    about = (sentence_vectors if len(sentence_vectors) else phrase_vectors).mean(axis=0)
    closeness = phrase_vectors @ (about / max(np.linalg.norm(about), np.finfo(np.float64).tiny))
    frequency = np.log1p([phrase.count for phrase in phrases])
    headings = np.array([phrase.heading_weight for phrase in phrases], dtype=np.float64)
    relevance = (
        _CLOSENESS_WEIGHT * closeness
        + _FREQUENCY_WEIGHT * frequency / max(1e-9, frequency.max())
        + _HEADING_WEIGHT * headings
        - np.array([_WORD_PENALTY * _is_plain_word(phrase) for phrase in phrases])
    )
    likeness = np.zeros(len(phrases))
    is_open = np.ones(len(phrases), dtype=bool)
    topics: list[str] = []
    while is_open.any() and len(topics) < most:
        scores = _RELEVANCE_WEIGHT * relevance - (1 - _RELEVANCE_WEIGHT) * likeness
        best = int(np.argmax(np.where(is_open, scores, -np.inf)))
        is_open[best] = False
        if len(topics) >= fewest and _is_plain_word(phrases[best]) and not phrases[best].heading_weight:
            continue
        if not any(_overlaps(phrases[best].text, topic) for topic in topics):
            topics.append(phrases[best].text)
            likeness = np.maximum(likeness, phrase_vectors @ phrase_vectors[best])
    return tuple(topic[:1].upper() + topic[1:] for topic in topics)


def _grams(texts: Sequence[str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yields runs of one to four words that may be noun phrases, and whether nothing more of the run is there."""
    if is_german(texts) or is_chinese(texts):
        found = german_phrases(texts) if is_german(texts) else chinese_terms(texts)
        yield from ((phrase, True) for phrase in found if _is_phrase(phrase))
        return
    for run in (run for text in texts for run in noun_runs(text)):
        for size in range(1, _MOST_WORDS + 1):
            for start in range(len(run) - size + 1):
                gram = run[start : start + size]
                if _is_phrase(gram):
                    yield gram, gram == run


def _is_phrase(words: tuple[str, ...]) -> bool:
    is_verb = len(words) == 1 and words[0].lower().endswith(("ing", "ed"))
    return len("".join(words)) > 2 and not is_verb  # noqa: PLR2004


def _is_plain_word(phrase: Phrase) -> bool:
    """Tells whether a phrase is one common word: neither a chapter's title nor a name such as "IPsec"."""
    text = phrase.text
    return not phrase.is_compound and " " not in text and phrase.heading_weight < 1 and text[1:] == text[1:].lower()


def _fold(words: Sequence[str]) -> str:
    """Returns a phrase with its words in the singular, roughly."""
    return " ".join(_stem(word) for word in words)


def _stem(word: str) -> str:
    lower = word.lower().removesuffix("'s").removesuffix("’s")
    return lower[:-1] if lower.endswith("s") and not lower.endswith(("ss", "us", "is")) and len(lower) > 3 else lower  # noqa: PLR2004


def _overlaps(phrase: str, topic: str) -> bool:
    """Tells whether one phrase has all words of the other."""
    left, right = set(map(_stem, phrase.split())), set(map(_stem, topic.split()))
    if not (phrase.isascii() or " " in phrase + topic) and (phrase in topic or topic in phrase):
        return True
    return left <= right or right <= left
