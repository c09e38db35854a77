"""Scores sentences by position and centrality: how much each says of what its stretch of the document is about.

An author opens a section with what it is about, so that its first sentences count more. The prior fades within a dozen
sentences. A text that begins in the middle of a section has none, and no more has a talk. Linear in the number of
sentences.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from pipeline.reading.blocks import STRUCTURE, BlockKind
from pipeline.reading.rules import Rule
from pipeline.reading.turns import EDGES
from pipeline.reading.word_lists import phrase_list, word_list
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import fold_case
from pipeline.summarize.extractive.excerpt import Excerpt

Float64 = npt.NDArray[np.float64]

# Chosen by ROUGE on every other one of 160 articles (REALSumm, Newsroom).
_POSITION_WEIGHT = 2 / 3  # the rest goes to closeness
_FADING_SENTENCES = 8.0
_DECISION_WEIGHT = 2.5  # more than all that closeness may add

POSITION = Rule(
    "position",
    "extractive",
    "A sentence is worth more the earlier it stands in its section.",
    "# Pumps\n\nPumps move water. Some of them are blue.",
    "Pumps move water.",
)


DECISIONS = Rule(
    "decisions",
    "extractive",
    "In a talk a sentence is worth more that decides something, or says who does what by when.",
    "Ann: Did you see the game? Bob: We agreed to ship it on Friday. Ann: It was long.",
    "Bob: We agreed to ship it on Friday.",
)


def score_sentences(
    excerpts: Sequence[Excerpt], positions: Sequence[int], vectors: Float64, *, starts_document: bool
) -> Float64:
    """Scores sentences: early in their section, and close to the middle of all of them.

    Args:
        positions: of the sentences, rising; at least one.
        vectors: shape (sentences, dimension), rows of length 1.
        starts_document: what stands above the first heading is where the document begins, not the rest of a section.

    Returns:
        Shape (sentences,), in [0, 1].
    """
    early = _earliness(excerpts, positions, starts_document=starts_document)
    closeness = _scaled(vectors @ vectors.mean(axis=0))
    is_placed = POSITION.is_on and bool(early.any())
    score = _POSITION_WEIGHT * early + (1 - _POSITION_WEIGHT) * closeness if is_placed else closeness
    said = (excerpts[position] for position in positions)
    settled = [_settles(one.text) if one.kind is BlockKind.TURN and DECISIONS.is_on else 0.0 for one in said]
    return np.asarray((score + _DECISION_WEIGHT * np.array(settled)) / (1 + _DECISION_WEIGHT * max(settled)))


def _settles(said: str) -> float:
    """Returns how much of a decision somebody says, from 0 to 1: no question is one."""
    words = [word.strip(EDGES) for word in fold_case(said).split()]
    days = word_list("weekdays") | word_list("months")
    # "5" and "may" alone are no date: "5 May", "14" and "June" are.
    is_dated = any(
        (word in days and (word not in word_list("months_that_are_words") or before[:1].isdigit()))
        or (word[:1].isdigit() and len(word) > 1)
        for before, word in pairwise(["", *words])
    )
    if said.rstrip(EDGES.replace("?", "")).endswith("?"):
        return 0.0
    line = f" {' '.join(words)} "
    if any(
        f" {phrase} " in line or (not phrase.isascii() and phrase in line) for phrase in phrase_list("decision_phrases")
    ):
        return 1.0
    return is_dated * (0.4 if not word_list("promise_words").isdisjoint(words) else 0.1)


# Chosen on half of 80 questions to two manuals and six other documents (scripts/bench documents).
_WORDS_WEIGHT, _TITLE_WEIGHT = 0.4, 0.5  # the rest goes to likeness; an embedder knows no part numbers
_NEIGHBOUR_WEIGHT, _PROCEDURE_BONUS = 0.4, 0.1


def score_focus(excerpts: Sequence[Excerpt], positions: Sequence[int], likeness: Float64, focus: str) -> Float64:
    """Scores sentences by a subject or question: like it, or with its rare words in them or above them.

    The sentences beside them count too. A procedure is worth as much as its best step.

    Args:
        likeness: cosine of each sentence with the focus; shape (sentences,), at least one.

    Returns:
        Shape (sentences,), at least 0.
    """
    wanted = _stems(focus)
    own = [wanted & _stems(excerpts[position].text) for position in positions]
    counts = Counter(stem for stems in own for stem in stems)
    rarity = {stem: np.log1p(len(own) / max(1, counts[stem])) for stem in wanted}
    above = [wanted & _stems(_titles(excerpts, position)) for position in positions]
    said = [
        sum(rarity[stem] for stem in stems) + _TITLE_WEIGHT * sum(rarity[stem] for stem in titles - stems)
        for stems, titles in zip(own, above, strict=True)
    ]
    score = _WORDS_WEIGHT * np.array(said) / max(1e-9, sum(rarity.values()))
    score = score + (1 - _WORDS_WEIGHT) * _scaled(likeness)
    sections = np.array([excerpts[position].section for position in positions])
    is_near = _NEIGHBOUR_WEIGHT * (sections[1:] == sections[:-1])
    near = score.copy()
    near[1:] += is_near * score[:-1]
    near[:-1] += is_near * score[1:]
    for is_step, group in groupby(range(len(own)), key=lambda row: excerpts[positions[row]].kind is BlockKind.STEP):
        rows = list(group)
        near[rows] = near[rows].max() + _PROCEDURE_BONUS if is_step else near[rows]
    return np.asarray(near)


def _titles(excerpts: Sequence[Excerpt], position: int) -> str:
    """Returns the heading of an excerpt and the name of its entry."""
    above = (need for need in excerpts[position].needs if need < position and excerpts[need].kind in STRUCTURE)
    return "\n".join(excerpts[each].text for each in above)


def _stems(text: str) -> frozenset[str]:
    """Returns the stems of content words; of a name such as "max_connections" those of the whole and its parts."""
    table = WordTable.of(f"{text}\n{text.replace('_', ' ')}")
    return frozenset(table.content_stems(range(len(table))))


def _earliness(excerpts: Sequence[Excerpt], positions: Sequence[int], *, starts_document: bool) -> Float64:
    """Returns 1 for the first sentence of a section, less for each after it; 0 where the start is not known."""
    seen: Counter[int] = Counter()
    early = np.zeros(len(positions))
    for row, excerpt in enumerate(excerpts[position] for position in positions):
        if excerpt.kind is not BlockKind.TURN and (excerpt.section >= 0 or starts_document):
            early[row] = np.exp(-seen[excerpt.section] / _FADING_SENTENCES)
        seen[excerpt.section] += 1
    return early


def _scaled(values: Float64) -> Float64:
    """Returns the values on a scale from 0 (the smallest) to 1; all 1 if they are equal."""
    width = values.max() - values.min()
    return np.ones_like(values) if width <= 0 else np.asarray((values - values.min()) / width)
