"""Fits what was chosen to a length: single excerpts are added, left out and exchanged until the text has it.

And writes it in a form other than the document's own: paragraphs or one list, where a table's row names its columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pipeline.summarize.extractive.excerpt import (
    LIST_KINDS,
    PROSE,
    STRUCTURE,
    Excerpt,
    ExcerptKind,
    write_markdown,
    written_alone,
)
from pipeline.summarize.extractive.lines import count_words, is_sentence_end
from pipeline.summarize.extractive.selection import Candidates
from pipeline.summarize.steering.wishes import SummaryForm

_MOST_MOVES = 32
_CLOSE = 0.04  # of the length; nearer is not worth a move
_MOST_COMPARED = 600  # excerpts on each side of an exchange
_OTHER_WORTH = 0.1  # of what has no vector: listings and rows
_PARAGRAPH_WORDS = 90
_FEWEST_WORDS = 4  # of a list item that is written as a sentence


def fit(
    candidates: Candidates,
    positions: Sequence[int],
    *,
    amount: int,
    useful: Callable[[Sequence[int]], list[int]],
    size_of: Callable[[Sequence[int]], int],
) -> list[int]:
    """Returns the positions whose text is closest to a length, after a bounded number of moves from the first ones.

    Args:
        amount: the length.
        useful: leaves out what has no use without its neighbours, such as headings with nothing below them.
        size_of: of the text that some positions, rising, are written as, in the unit of the length.
    """
    best = kept = useful(positions)
    size = best_size = size_of(kept)
    chosen, tried = set(positions), set[tuple[int, int]]()
    tolerance = max(1.0, _CLOSE * amount)
    for _ in range(_MOST_MOVES):
        if abs(best_size - amount) <= tolerance:
            break
        move = _best_move(candidates, chosen, amount - size, tolerance, tried)
        if move is None:
            break
        tried.add(move)
        added, removed = move
        chosen = chosen - (set(_dependents(candidates, removed, chosen)) if removed >= 0 else set())
        chosen |= set(candidates.bundle(added, chosen)) if added >= 0 else set()
        kept = useful(sorted(chosen))
        size = size_of(kept)
        is_said = any(candidates.excerpts[each].kind not in STRUCTURE for each in kept)
        if is_said and abs(size - amount) < abs(best_size - amount):
            best, best_size = kept, size
    return best


def _best_move(
    candidates: Candidates, chosen: set[int], gap: int, tolerance: float, tried: set[tuple[int, int]]
) -> tuple[int, int] | None:
    """Returns what to add and what to leave out, -1 for nothing: of all that close the gap, what is worth most.

    Args:
        gap: what the text lacks of its length; less than 0 if it is too long.
    """
    excerpts, worth = candidates.excerpts, _worth_of(candidates)
    free = [each for each in range(len(excerpts)) if each not in chosen and _is_free(candidates, each)]
    leaves = [each for each in chosen if excerpts[each].kind not in STRUCTURE]
    added = [-1, *sorted(free, key=lambda each: -worth[each])[:_MOST_COMPARED]]
    removed = [-1, *sorted(leaves, key=lambda each: worth[each])[:_MOST_COMPARED]]
    more = np.array([0.0, *(candidates.cost(candidates.bundle(each, chosen)) for each in added[1:])])
    less = np.array([0.0, *(candidates.cost(_dependents(candidates, each, chosen)) for each in removed[1:])])
    missed = np.abs(gap - (more[None, :] - less[:, None]))
    for one, other in [(-1, -1), *tried]:
        if one in added and other in removed:
            missed[removed.index(other), added.index(one)] = np.inf
    gained, lost = (np.array([0.0, *(worth[each] for each in side[1:])]) for side in (added, removed))
    score = np.where(missed <= max(tolerance, float(missed.min())), gained[None, :] - lost[:, None], -np.inf)
    row, column = np.unravel_index(int(np.argmax(score)), score.shape)
    return (added[int(column)], removed[int(row)]) if np.isfinite(missed[row, column]) else None


def _worth_of(candidates: Candidates) -> list[float]:
    worth = [_OTHER_WORTH] * len(candidates.excerpts)
    for row, position in enumerate(candidates.sentences):
        worth[position] = float(candidates.centrality[row])
    if candidates.values.are_acted_on:
        worth = [each + bool(flag) for each, flag in zip(worth, candidates.values.flags, strict=True)]
    return worth


def _is_free(candidates: Candidates, position: int) -> bool:
    excerpt = candidates.excerpts[position]
    is_whole = not (excerpt.kind in STRUCTURE or excerpt.dangles or excerpt.is_cut)
    return is_whole and candidates.is_sound(position)


def _dependents(candidates: Candidates, position: int, chosen: set[int]) -> list[int]:
    """Returns a chosen excerpt with all chosen ones that cannot stand without it."""
    found = {position}
    grows = True
    while grows:
        more = {each for each in chosen - found if not found.isdisjoint(candidates.excerpts[each].needs)}
        found |= more
        grows = bool(more)
    return sorted(found)


def writable(excerpts: Sequence[Excerpt], form: SummaryForm) -> set[int]:
    """Returns the positions of what can be written in a form."""
    if form is SummaryForm.MARKDOWN:
        return set(range(len(excerpts)))
    return {position for position, excerpt in enumerate(excerpts) if _is_statement(excerpt, form)}


def _is_statement(excerpt: Excerpt, form: SummaryForm) -> bool:
    if excerpt.kind is ExcerptKind.TABLE_ROW:
        return True
    if excerpt.kind not in PROSE or excerpt.text.endswith(":"):  # the list or listing that it announces is not there
        return False
    is_item = excerpt.kind in LIST_KINDS and form is SummaryForm.PROSE
    return not is_item or is_sentence_end(excerpt.text) or count_words(excerpt.text) >= _FEWEST_WORDS


def resized(excerpts: Sequence[Excerpt], form: SummaryForm, count: Callable[[str], int]) -> list[Excerpt]:
    """Returns excerpts that know how long they are in a form, by some count."""
    if form is SummaryForm.MARKDOWN:
        return [replace(excerpt, token_count=count(written_alone(excerpt))) for excerpt in excerpts]
    return [replace(each, token_count=count(_said(excerpts, at, None))) for at, each in enumerate(excerpts)]


def write_form(excerpts: Sequence[Excerpt], positions: Sequence[int], form: SummaryForm) -> str:
    """Writes some excerpts in their order, in a form.

    Args:
        positions: of those to write, rising.
    """
    if form is SummaryForm.MARKDOWN:
        return write_markdown(excerpts, positions)
    groups: list[list[str]] = []
    before = -1
    for position in positions:
        text = _said(excerpts, position, before if before >= 0 else None)
        if before < 0 or _begins(excerpts, before, position, groups[-1], form):
            groups.append([])
        groups[-1].append(text)
        before = position
    if form is SummaryForm.PROSE:
        return "\n\n".join(" ".join(group) for group in groups)
    return "\n".join(f"- {' '.join(group)}" for group in groups)


def _begins(excerpts: Sequence[Excerpt], before: int, position: int, group: list[str], form: SummaryForm) -> bool:
    """Tells whether a paragraph or list item begins: nothing that points back does."""
    excerpt, previous = excerpts[position], excerpts[before]
    if before in excerpt.needs and previous.kind is ExcerptKind.SENTENCE and excerpt.block == previous.block:
        return False
    is_other = excerpt.block != previous.block
    if form is SummaryForm.BULLETS:
        return True
    return excerpt.section != previous.section or (is_other and sum(map(count_words, group)) >= _PARAGRAPH_WORDS)


def _said(excerpts: Sequence[Excerpt], position: int, before: int | None) -> str:
    """Returns an excerpt as a sentence: a row with its columns, an item with its full stop, each with its label."""
    excerpt = excerpts[position]
    text = _row(excerpts, excerpt) if excerpt.kind is ExcerptKind.TABLE_ROW else excerpt.text
    if excerpt.kind is ExcerptKind.TURN and excerpt.mark:
        text = f"{excerpt.mark} {text}"
    if excerpt.kind in (*LIST_KINDS, ExcerptKind.TABLE_ROW) and not is_sentence_end(text):
        text = f"{text.rstrip(' ;,')}."
    labels = [need for need in excerpt.needs if excerpts[need].kind is ExcerptKind.LABEL]
    is_said = before is not None and any(label in excerpts[before].needs for label in labels)
    if labels and not is_said and not excerpts[labels[-1]].text.startswith("|"):
        text = f"{excerpts[labels[-1]].text.strip('*: ')}: {text}"
    return text


def _row(excerpts: Sequence[Excerpt], row: Excerpt) -> str:
    """Returns the cells of a row, each behind the name of its column."""
    heads = [excerpts[need].text.split("\n")[0] for need in row.needs if excerpts[need].kind is ExcerptKind.TABLE_HEAD]
    names = _cells(heads[0]) if heads else []
    cells = _cells(row.text)
    names += [""] * (len(cells) - len(names))
    pairs = zip(names, cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
