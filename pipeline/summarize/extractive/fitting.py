"""Chooses what a shorter text keeps: it fits a budget or a length as it is written, and no heading heads nothing."""

from collections.abc import Callable, Sequence
from functools import partial

from pipeline.summarize.extractive.excerpt import STRUCTURE, Excerpt, ExcerptKind
from pipeline.summarize.extractive.selection import Budget, Candidates, Material, select

_MOST_ATTEMPTS = 8
_MOST_HEADINGS_SHARE = 0.25  # of a budget, for headings under which the next text goes on
_MOST_MOVES = 32
_CLOSE = 0.04  # of the length; nearer is not worth a move
_OTHER_WORTH = 0.1  # of what has no vector: listings and rows


def keep_all(material: Material, *, ends_document: bool) -> list[int]:
    """Returns the positions of everything but duplicates, and headings with nothing below them."""
    everything = [position for position in range(len(material.excerpts)) if position not in material.dropped]
    return _with_use(material.excerpts, everything, ends_document=ends_document)


def shorten(
    candidates: Candidates,
    budget: Budget,
    size_of: Callable[[Sequence[int]], int],
    *,
    ends_document: bool,
    amount: int | None = None,
) -> list[int]:
    """Returns the positions of what is worth most within the budget; at least one, whatever the budget.

    Args:
        candidates: with at least one excerpt that is no duplicate.
        size_of: of the text that some positions are written as; what is kept is never longer than the budget's
            ceiling by this count if an excerpt is that short, except where the amount is closer beyond it.
        ends_document: nothing follows, so that a heading at the end has nothing below it.
        amount: a length to be met; None: anything within the budget will do.
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
        tried = tried.scaled(0.98 / excess)  # some tokenizers see more tokens in the whole than in its excerpts
    else:
        positions = []
    if all(excerpts[position].kind in STRUCTURE for position in positions):  # no sentence fits
        positions = _shortest(candidates)
    return positions if amount is None else _fit(candidates, positions, amount, useful=useful, size_of=size_of)


def _shortest(material: Material) -> list[int]:
    """Returns the shortest excerpt that says something, by itself if any does, for budgets below one sentence."""
    excerpts = material.excerpts
    free = [position for position in range(len(excerpts)) if position not in material.dropped]
    said = [position for position in free if excerpts[position].kind not in STRUCTURE] or free
    alone = [
        position for position in said if all(excerpts[need].kind in STRUCTURE for need in excerpts[position].needs)
    ]
    return [min(alone or said, key=lambda each: excerpts[each].token_count)]


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
    for position in reversed(positions):  # what stands below comes first
        if position in useful or excerpts[position].kind not in STRUCTURE or _is_value(excerpts, position):
            useful |= {position, *excerpts[position].needs}
    return [position for position in positions if position in useful]


def _is_value(excerpts: Sequence[Excerpt], position: int) -> bool:
    """Tells whether a label labels nothing, and has a term to be kept for."""
    excerpt, following = excerpts[position], excerpts[position + 1 : position + 2]
    is_label = excerpt.kind is ExcerptKind.LABEL and not any(position in each.needs for each in following)
    return is_label and bool(excerpt.terms)


def _fit(
    candidates: Candidates,
    positions: Sequence[int],
    amount: int,
    *,
    useful: Callable[[Sequence[int]], list[int]],
    size_of: Callable[[Sequence[int]], int],
) -> list[int]:
    """Returns the positions whose text is closest to a length, after a bounded number of moves from the first ones.

    Args:
        useful: leaves out what has no use without its neighbours, such as headings with nothing below them.
        size_of: of the text that some positions, rising, are written as, in the unit of the length.
    """
    worth = _worth_of(candidates)
    best = kept = useful(positions)
    size = best_size = size_of(kept)
    chosen, moved = set(positions), set[tuple[int, bool]]()
    tolerance = max(1.0, _CLOSE * amount)
    while abs(best_size - amount) > tolerance and len(moved) < _MOST_MOVES:
        takes_out = size > amount
        moves = _moves(candidates, chosen, moved, takes_out=takes_out)
        if not moves:
            break
        gap = abs(size - amount)
        least = max(tolerance, min(abs(gap - cost) for cost in moves.values()))
        close = [position for position, cost in moves.items() if abs(gap - cost) <= least]
        position = min(close, key=lambda each: worth[each] if each in chosen else -worth[each])
        moved.add((position, takes_out))
        if takes_out:
            chosen -= _dependents(candidates, position, chosen)
        else:
            chosen |= set(candidates.bundle(position, chosen))
        kept = useful(sorted(chosen))
        size = size_of(kept)
        is_said = any(candidates.excerpts[each].kind not in STRUCTURE for each in kept)
        if is_said and abs(size - amount) < abs(best_size - amount):
            best, best_size = kept, size
    return best


def _moves(
    candidates: Candidates, chosen: set[int], moved: set[tuple[int, bool]], *, takes_out: bool
) -> dict[int, int]:
    """Returns what may be left out, or added, with the tokens that go or come with it; no move is made twice."""
    found: dict[int, int] = {}
    for position, excerpt in enumerate(candidates.excerpts):
        if excerpt.kind in STRUCTURE or (position, takes_out) in moved or (position in chosen) != takes_out:
            continue
        if takes_out:
            found[position] = candidates.cost(_dependents(candidates, position, chosen))
        elif candidates.is_free(position):
            found[position] = candidates.cost(candidates.bundle(position, chosen))
    return found


def _worth_of(candidates: Candidates) -> list[float]:
    worth = [_OTHER_WORTH] * len(candidates.excerpts)
    for row, position in enumerate(candidates.sentences):
        worth[position] = float(candidates.centrality[row])
    if candidates.has_acts_first:
        for position in candidates.acts:
            worth[position] += 1
    return worth


def _dependents(candidates: Candidates, position: int, chosen: set[int]) -> set[int]:
    """Returns a chosen excerpt with all chosen ones that cannot stand without it."""
    found, more = set[int](), {position}
    while more:
        found |= more
        more = {each for each in chosen - found if not found.isdisjoint(candidates.excerpts[each].needs)}
    return found
