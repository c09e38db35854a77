"""Proposes a golden reference from the checked claims of a text: a summary, facts, outline and entities.

Claims are ranked by greedy facility location: each next one is closest to most of what those before it leave unsaid.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pipeline.evaluate.datum import MIN_KEY_FACTS, GoldStandardSummary
from pipeline.reading.document import ReadText
from pipeline.reading.names import find_names, known_names
from pipeline.reading.passage import Span
from pipeline.reading.sentences import points_back, split_sentences
from pipeline.reading.word_lists import POINTING_WORDS
from pipeline.reading.words import fold_case

Float64 = npt.NDArray[np.float64]

FACT_COUNT = 15
POINT_COUNT = 7
ENTITY_COUNT = 12
_FACT_WORDS = range(5, 41)
_COST_POWER = 0.5
_NO_FACT = frozenset('"“”?!')  # speech, or no statement
_POINTING_COST = 2.0
_MOST_RANKED = 200
_FEWEST_LETTERS = 3  # of a name
_LONGEST_LABEL = 80
_MAX_SENTENCE_CHARS = 700
_PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True)
class CheckedClaim(Span):
    """A claim of the text that the reference is made from."""

    text: str  # as models read it
    token_count: int  # its length
    is_supported: bool  # whether the document supports it


@dataclass(frozen=True, slots=True)
class WrittenText:
    """What the reference is made from, and the document that it was written from."""

    text: str
    document: str
    theme: str


def fact_candidates(claims: Sequence[CheckedClaim], document: str) -> list[CheckedClaim]:
    """Returns the claims that may be facts, written as sentences of their own.

    Those are supported, and one statement that is understood alone; no speech.
    """
    source = " ".join(document.split())
    found = (replace(claim, text=_as_sentence(claim.text, source)) for claim in claims if claim.is_supported)
    return [claim for claim in found if _may_be_fact(claim.text)]


def _may_be_fact(text: str) -> bool:
    is_one = len(text.split()) in _FACT_WORDS and len(split_sentences(text, _MAX_SENTENCE_CHARS)) == 1
    return is_one and not points_back(text) and _NO_FACT.isdisjoint(text)


def rank_by_coverage(vectors: Float64, costs: Float64) -> list[int]:
    """Ranks up to 200 texts by greedy facility location: how much closer all texts come to a chosen one, for its cost.

    Vectors have shape (texts, dimension) and rows of length 1.
    """
    similarity = np.clip(vectors @ vectors.T, 0.0, None)
    closest = np.zeros(len(vectors))
    order: list[int] = []
    for _ in range(min(len(vectors), _MOST_RANKED)):
        gains = np.maximum(similarity - closest[:, np.newaxis], 0.0).sum(axis=0) / costs
        gains[order] = -1.0
        order.append(int(np.argmax(gains)))
        closest = np.maximum(closest, similarity[:, order[-1]])
    return order


def propose_reference(
    written: WrittenText, candidates: Sequence[CheckedClaim], vectors: Float64, target_tokens: int
) -> GoldStandardSummary:
    """Proposes a golden reference; without key facts when there are fewer than a reference must have.

    Args:
        candidates: of `fact_candidates`, in the order of the text; at least one.
        vectors: of their texts, as `rank_by_coverage` takes them.
        target_tokens: length of the summary, which is longer when the facts need more.
    """
    order = rank_by_coverage(vectors, np.array([_cost_of(claim.text) for claim in candidates]))
    source = " ".join(written.document.split())
    summary = _summary_of(written, [candidates[index] for index in order], target_tokens, source)
    ranks = {index: rank for rank, index in enumerate(order)}
    parts = np.array_split(np.arange(len(candidates)), POINT_COUNT)
    points = [min(part.tolist(), key=lambda index: ranks.get(index, len(ranks))) for part in parts if len(part)]
    facts = sorted(order[:FACT_COUNT]) if len(order) >= MIN_KEY_FACTS else []
    return GoldStandardSummary(
        main_theme=written.theme,
        summary=summary,
        key_facts=tuple(candidates[index].text for index in facts),
        logical_outline=tuple(candidates[index].text for index in points),
        entity_list=tuple(find_entities(written.document, summary)),
    )


def _cost_of(text: str) -> float:
    """Returns what a fact costs: less when it is short, more when it points to what may stand elsewhere."""
    words = text.split()
    cost: float = len(words) ** _COST_POWER
    return cost if POINTING_WORDS.isdisjoint(words) else cost * _POINTING_COST


def find_entities(document: str, summary: str) -> list[str]:
    """Returns the names of a summary that its document repeats most, without those that another one contains."""
    counts = _count_names(document)
    named = sorted(_count_names(summary), key=lambda name: -counts[name])
    kept: list[str] = []
    for name in named:
        words = set(fold_case(name).split())
        is_known = any(words <= set(fold_case(other).split()) or fold_case(other) in fold_case(name) for other in kept)
        if counts[name] and not is_known and sum(map(str.isalpha, name)) >= _FEWEST_LETTERS:
            kept.append(name)
    return kept[:ENTITY_COUNT]


def _count_names(text: str) -> Counter[str]:
    read = ReadText.of("text", text, _MAX_SENTENCE_CHARS)
    known = known_names(read.table)
    found = (name for words in read.ranges for name in find_names(read.table, words, known))
    return Counter(read.words_passage(name).text for name in found)


def _summary_of(written: WrittenText, ranked: Sequence[CheckedClaim], target_tokens: int, source: str) -> str:
    """Joins the best claims, in the order of the text, until the facts and the length are there."""
    tokens, chosen = 0, list[CheckedClaim]()
    for claim in ranked:
        if len(chosen) >= FACT_COUNT and tokens >= target_tokens:
            break
        tokens += claim.token_count
        chosen.append(claim)
    pieces: list[str] = []
    end = 0
    for claim in sorted(chosen, key=lambda claim: claim.start):
        if pieces:
            pieces.append(_PARAGRAPH if _PARAGRAPH in written.text[end : claim.start] else " ")
        end = claim.end
        pieces.append(_as_sentence(" ".join(written.text[claim.start : end].split()), source))
    return "".join(pieces)


def _as_sentence(text: str, source: str) -> str:
    """Writes a claim as a sentence of its own; a heading that was put in front of it goes."""
    label, colon, rest = text.partition(": ")
    if colon and len(label) <= _LONGEST_LABEL and text not in source and rest in source:
        text = rest
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "”", '"', ")")) else text.rstrip(",;:") + "."
