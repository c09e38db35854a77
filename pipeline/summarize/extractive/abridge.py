"""Makes one shorter text out of texts that follow each other: the step that map and reduce share.

Sentences that were said before, word for word, are found and left out. Steps, listings and rows may repeat: the second
procedure needs its own "# apt update".
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from pipeline.reading.words import fold
from pipeline.summarize.extractive.centrality import Float64, blend_focus, score_sentences
from pipeline.summarize.extractive.excerpt import PROSE, STATEMENTS, STRUCTURE, Excerpt, ExcerptKind
from pipeline.summarize.extractive.fitting import fit
from pipeline.summarize.extractive.lines import count_words
from pipeline.summarize.extractive.selection import Budget, Candidates, Material, select
from pipeline.summarize.extractive.values import ExcerptValues
from pipeline.summarize.steering.wishes import LengthGoal

_MOST_ATTEMPTS = 8
_MOST_HEADINGS_SHARE = 0.25  # of a budget, for headings under which the next text goes on


def comparable(excerpts: Sequence[Excerpt]) -> list[int]:
    """Returns the positions of excerpts that an embedder can compare."""
    return [position for position, excerpt in enumerate(excerpts) if excerpt.kind in PROSE]


def keep_all(material: Material, *, ends_document: bool) -> list[int]:
    """Returns the positions of everything but duplicates, and headings with nothing below them."""
    everything = [position for position in range(len(material.excerpts)) if position not in material.dropped]
    return _with_use(material.excerpts, everything, ends_document=ends_document)


def weigh(
    material: Material, values: ExcerptValues, *, starts_document: bool, focus: Float64 | None = None
) -> Candidates:
    """Returns material with what its sentences are worth.

    Args:
        starts_document: nothing stands before it, so that its first sentences open the document.
        focus: what each sentence says of what the caller asks about; None if he does not.
    """
    excerpts, sentences, vectors = material.excerpts, material.sentences, material.vectors
    score = np.zeros(0)
    if sentences:
        score = score_sentences(excerpts, sentences, vectors, starts_document=starts_document)
        score = score if focus is None else blend_focus(score, focus)
    return Candidates(
        excerpts, sentences, vectors, material.dropped, values=values, centrality=score, has_focus=focus is not None
    )


def shorten(
    candidates: Candidates,
    budget: Budget,
    size_of: Callable[[Sequence[int]], int],
    *,
    ends_document: bool,
    goal: LengthGoal | None = None,
) -> list[int]:
    """Returns the positions of what is worth most within the budget; at least one, whatever the budget.

    Args:
        candidates: with at least one excerpt that is no duplicate.
        size_of: of the text that some positions are written as; what is kept is never longer than the budget's
            ceiling by this count if an excerpt is that short, except where a goal is closer beyond it.
        ends_document: nothing follows, so that a heading at the end has nothing below it.
        goal: a length to be met; None: anything within the budget will do.
    """
    excerpts = candidates.excerpts
    always = [] if ends_document else _open_at_end(excerpts)
    if candidates.cost(always) > _MOST_HEADINGS_SHARE * budget.ceiling:
        always = []
    useful = partial(_with_use, excerpts, ends_document=ends_document)
    tried = budget
    positions: list[int] = []
    for _ in range(_MOST_ATTEMPTS):
        positions = useful(select(candidates, tried, always))
        excess = size_of(positions) / budget.ceiling
        if excess <= 1:
            break
        tried = _scaled(tried, 0.98 / excess)  # some tokenizers see more tokens in the whole than in its excerpts
    else:
        positions = []
    if all(excerpts[position].kind in STRUCTURE for position in positions):  # no sentence fits
        positions = _shortest(candidates)
    return fit(candidates, positions, amount=goal.amount, useful=useful, size_of=size_of) if goal else positions


def _shortest(material: Material) -> list[int]:
    """Returns the shortest excerpt that says something, by itself if any does, for budgets below one sentence."""
    excerpts = material.excerpts
    free = [position for position in range(len(excerpts)) if position not in material.dropped]
    said = [position for position in free if excerpts[position].kind not in STRUCTURE] or free
    alone = [
        position for position in said if all(excerpts[need].kind in STRUCTURE for need in excerpts[position].needs)
    ]
    return [min(alone or said, key=lambda each: excerpts[each].token_count)]


def _scaled(budget: Budget, factor: float) -> Budget:
    return Budget(budget.central * factor, budget.fill * factor, budget.ceiling * factor)


def _open_at_end(excerpts: Sequence[Excerpt]) -> list[int]:
    """Returns the headings under which the next text goes on, innermost last."""
    if not excerpts:
        return []
    last = len(excerpts) - 1
    position = last if excerpts[last].kind is ExcerptKind.HEADING else excerpts[last].section
    chain: list[int] = []
    while position >= 0:
        chain.append(position)
        position = excerpts[position].section
    return chain[::-1]


def _with_use(excerpts: Sequence[Excerpt], positions: Sequence[int], *, ends_document: bool) -> list[int]:
    """Leaves out headings and labels with nothing below them."""
    useful = set() if ends_document else set(_open_at_end(excerpts))
    chosen = set(positions)
    for position in positions:
        if excerpts[position].kind not in STRUCTURE:
            useful.update(_above(excerpts, position))
    return [
        position
        for position in positions
        if excerpts[position].kind not in STRUCTURE
        or position in useful
        or (excerpts[position].kind is ExcerptKind.LABEL and _stands_alone(excerpts, position, chosen))
    ]


def _above(excerpts: Sequence[Excerpt], position: int) -> list[int]:
    found = [need for need in excerpts[position].needs if excerpts[need].kind is ExcerptKind.LABEL]
    heading = excerpts[position].section
    while heading >= 0:
        found.append(heading)
        heading = excerpts[heading].section
    return found


def _stands_alone(excerpts: Sequence[Excerpt], position: int, chosen: set[int]) -> bool:
    """Tells whether a label labels nothing here, and was chosen for a value in it."""
    following = position + 1
    is_labelling = following < len(excerpts) and position in excerpts[following].needs and following not in chosen
    return not is_labelling and bool(excerpts[position].terms)


_MIN_WORDS = 4  # "See below." belongs to what stands around it


def find_repeats(excerpts: Sequence[Excerpt]) -> dict[int, int]:
    """Returns the positions of repeated sentences, with the position where each was first said."""
    first: dict[str, int] = {}
    repeats: dict[int, int] = {}
    for position, excerpt in enumerate(excerpts):
        if key := _key(excerpts, excerpt):
            said = first.setdefault(key, position)
            if said != position:
                repeats[position] = said
    return repeats


def _key(excerpts: Sequence[Excerpt], excerpt: Excerpt) -> str | None:
    """Returns what two sentences share if they say the same; an item of a list says it of its heading."""
    if excerpt.kind not in STATEMENTS or count_words(excerpt.text) < _MIN_WORDS:
        return None
    heading = excerpts[excerpt.section].text if excerpt.kind is ExcerptKind.BULLET and excerpt.section >= 0 else ""
    return f"{heading}\n{fold(excerpt.text)}"
