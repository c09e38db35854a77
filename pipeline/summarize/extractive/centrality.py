"""Scores sentences by position and centrality: how much each says of what its stretch of the document is about.

An author opens a section with what it is about, so that the first sentences count more, and what is close to them. The
prior fades within a dozen sentences: it never reaches far into a long text, and a text that begins in the middle of a
section or whose parts are turns of a talk has none. Linear in the number of sentences.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipeline.reading.word_table import is_content, stem
from pipeline.summarize.extractive.excerpt import STRUCTURE, Excerpt, ExcerptKind
from pipeline.summarize.extractive.lines import count_words
from pipeline.summarize.extractive.section_roles import SectionRole, role_of

Float64 = npt.NDArray[np.float64]

_WORD = re.compile(r"\w+(?:[-.]\w+)*")

# Chosen by ROUGE on every other one of 160 articles (REALSumm, Newsroom).
_POSITION_WEIGHT, _CLOSENESS_WEIGHT = 2 / 3, 1 / 3
_FADING_SENTENCES = 8.0
_OPENING_WEIGHT = 5.0  # of a section's first sentence in the middle that others are compared with; else 1
_FRAME_WORTH = 0.3  # of a license or a list of references
_FULL_LENGTH_WORDS = 10  # shorter sentences say less, whatever they are close to: "I hope you like it."


def score_sentences(
    excerpts: Sequence[Excerpt], positions: Sequence[int], vectors: Float64, *, starts_document: bool
) -> Float64:
    """Scores sentences: early in their section, close to the middle of the whole and of the section, not too short.

    Args:
        positions: of the sentences, rising; at least one.
        vectors: shape (sentences, dimension), rows of length 1.
        starts_document: what stands above the first heading is where the document begins, not the rest of a section.

    Returns:
        Shape (sentences,), in [0, 1].
    """
    sections = np.array([excerpts[position].section for position in positions])
    role = {section: role_of(excerpts, section).value for section in set(sections.tolist())}
    roles = np.array([role[section] for section in sections.tolist()])
    early = _earliness(excerpts, positions, sections, starts_document=starts_document)
    early = np.where(roles == SectionRole.OWN_SUMMARY.value, 1.0, early)
    weights = 1 + _OPENING_WEIGHT * early
    everything = np.zeros_like(sections)
    closeness = (_closeness(vectors, everything, weights) + _closeness(vectors, sections, weights)) / 2
    score = _POSITION_WEIGHT * early + _CLOSENESS_WEIGHT * closeness if early.any() else closeness
    score = np.where(roles == SectionRole.FRAME.value, _FRAME_WORTH * score, score)
    words = np.array([count_words(excerpts[position].text) for position in positions], dtype=np.float64)
    return np.asarray(score * np.minimum(words / _FULL_LENGTH_WORDS, 1))


# Chosen on half of 80 parameters of a manual ("What is the default of work_mem?") and of 60 headings of two manuals.
_FOCUS_WEIGHT = 0.75
_WORDS_WEIGHT = 0.7  # of the focus: its own words; an embedder knows no part numbers


def score_focus(excerpts: Sequence[Excerpt], positions: Sequence[int], likeness: Float64, focus: str) -> Float64:
    """Scores sentences by a subject or question: close to it, or with its words in them or above them.

    Args:
        likeness: cosine of each sentence with the focus; shape (sentences,), at least one.

    Returns:
        Shape (sentences,), in [0, 1].
    """
    wanted = _stems(focus)
    known: dict[int, frozenset[str]] = {}
    said = [len(_said_by(excerpts, position, wanted, known)) for position in positions]
    return (1 - _WORDS_WEIGHT) * _scaled(likeness) + _WORDS_WEIGHT * np.array(said) / max(1, len(wanted))


def blend_focus(score: Float64, focus: Float64) -> Float64:
    """Returns what sentences are worth to somebody who asks for a focus."""
    return np.asarray(_FOCUS_WEIGHT * focus + (1 - _FOCUS_WEIGHT) * score)


def _said_by(
    excerpts: Sequence[Excerpt], position: int, wanted: frozenset[str], known: dict[int, frozenset[str]]
) -> frozenset[str]:
    """Returns the words of a focus that an excerpt says, or the headings and names of entries that it stands under.

    Args:
        known: answers for what others stand under as well; extended here.
    """
    if position not in known:
        excerpt = excerpts[position]
        above = [need for need in excerpt.needs if excerpts[need].kind in STRUCTURE and need < position]
        above += [excerpt.section] if excerpt.section >= 0 else []
        inherited = [_said_by(excerpts, each, wanted, known) for each in above]
        known[position] = (wanted & _stems(excerpt.text)).union(*inherited)
    return known[position]


def _stems(text: str) -> frozenset[str]:
    """Returns content words; of a name such as "max_connections" the whole and its parts."""
    words = [part for word in _WORD.findall(text.casefold()) for part in {word, *word.split("_")}]
    return frozenset(stem(word) for word in words if is_content(word))


def _earliness(
    excerpts: Sequence[Excerpt], positions: Sequence[int], sections: npt.NDArray[np.int_], *, starts_document: bool
) -> Float64:
    """Returns 1 for the first sentence of a section, less for each after it; 0 where the start is not known."""
    seen: dict[int, int] = {}
    early = np.zeros(len(positions))
    for row, (position, section) in enumerate(zip(positions, sections.tolist(), strict=True)):
        rank = seen.get(section, 0)
        seen[section] = rank + 1
        if excerpts[position].kind is not ExcerptKind.TURN and (section >= 0 or starts_document):
            early[row] = np.exp(-rank / _FADING_SENTENCES)
    return early


def _closeness(vectors: Float64, groups: npt.NDArray[np.int_], weights: Float64) -> Float64:
    """Returns the cosine of each vector with the weighted middle of its group, on a scale from 0 to 1."""
    names, rows = np.unique(groups, return_inverse=True)
    middles = np.zeros((len(names), vectors.shape[1]))
    np.add.at(middles, rows, vectors * weights[:, None])
    middles /= np.maximum(np.linalg.norm(middles, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return _scaled(np.einsum("ij,ij->i", vectors, middles[rows]))


def _scaled(values: Float64) -> Float64:
    """Returns the values on a scale from 0 (the smallest) to 1; all 1 if they are equal."""
    width = values.max() - values.min()
    return np.ones_like(values) if width <= 0 else np.asarray((values - values.min()) / width)
