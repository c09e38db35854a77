"""Ranks what may answer a subject or question: passages by retrieval, and the best of them by the NLI model.

A passage is what stands together under one heading, a procedure as a whole. It is worth the likeness of all its
sentences and of the closest one, and the share of the focus's rare words that it has.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from pipeline.protocols import ENTAILMENT, Entailment
from pipeline.reading.blocks import STRUCTURE
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import count_words
from pipeline.summarize.extractive.excerpt import words_of
from pipeline.summarize.extractive.selection import Float64, Material

# Chosen on half of 84 questions about 13 documents, and the same on the other half.
_PASSAGE_WORDS, _READ_AGAIN = 60, 8
_WORDS_WEIGHT, _ENTAILMENT_WEIGHT = 0.4, 0.8


class Passage(NamedTuple):
    """Neighbours under one heading."""

    rows: list[int]  # of the material's sentences, rising
    text: str  # below its label, or its heading


def read_passages(material: Material) -> list[Passage]:
    """Cuts sentences into passages of some words, none between a sentence and the one before it that it needs."""
    excerpts, sentences = material.excerpts, material.sentences
    titles = [tuple(need for need in excerpts[at].needs if excerpts[need].kind in STRUCTURE) for at in sentences]
    passages = []
    for above, neighbours in groupby(range(len(sentences)), key=titles.__getitem__):
        groups, words = list[list[int]](), 0
        for row in neighbours:
            excerpt = excerpts[sentences[row]]
            words += count_words(excerpt.text)
            if groups and (words <= _PASSAGE_WORDS or sentences[row - 1] in excerpt.needs):
                groups[-1].append(row)
            else:
                groups.append([row])
                words = count_words(excerpt.text)
        lines = [excerpts[title].text for title in above[-1:]]
        for rows in groups:
            said = " ".join(words_of(excerpts, excerpts[sentences[row]]) for row in rows)
            passages.append(Passage(rows, "\n".join([*lines, said])))
    return passages


def score_passages(passages: Sequence[Passage], vectors: Float64, focus: str, wanted: Float64) -> Float64:
    """Scores passages by their likeness to a focus, and by its rare words: an embedder knows no part numbers.

    Args:
        vectors: of the sentences, rows of length 1.
        wanted: vector of the focus.
    """
    likeness = vectors @ wanted
    middles = np.array([vectors[passage.rows].sum(axis=0) for passage in passages])
    whole = middles @ wanted / np.maximum(1e-9, np.linalg.norm(middles, axis=1))
    closest = np.array([likeness[passage.rows].max() for passage in passages])
    stems = _stems(focus)
    said = [stems & _stems(passage.text) for passage in passages]
    counts = Counter(stem for each in said for stem in each)
    rarity = {stem: np.log1p(len(said) / max(1, counts[stem])) for stem in stems}
    words = np.array([sum(rarity[stem] for stem in each) for each in said]) / max(1e-9, sum(rarity.values()))
    return np.asarray(whole + closest + _WORDS_WEIGHT * words)


def _stems(text: str) -> frozenset[str]:
    """Returns the stems of content words; of a name such as "max_connections" those of the whole and its parts."""
    table = WordTable.of(f"{text}\n{text.replace('_', ' ')}")
    return frozenset(table.content_stems(range(len(table))))


async def score_answers(
    passages: Sequence[Passage], score: Float64, likeness: Float64, focus: str, entailment: Entailment
) -> Float64:
    """Scores sentences by their passage and their own likeness; all of the best passage are worth more than others.

    Args:
        score: of the passages; the NLI model reads the best of them again.
        likeness: cosine of each sentence with the focus.
    """
    best = np.argsort(-score, kind="stable")[:_READ_AGAIN]
    chances = await entailment.entail([(passages[at].text, focus) for at in best])
    score[best] += _ENTAILMENT_WEIGHT * chances[:, ENTAILMENT]
    worth = likeness.copy()
    for passage, each in zip(passages, score, strict=True):
        worth[passage.rows] += each
    first = passages[int(np.argmax(score))].rows
    worth[first] += worth.max() - worth[first].min()
    return worth
