"""Keeps a warning with what it tells people to do: "The seal is destroyed in 30 seconds" needs "Never run a pump dry".

What stands behind CAUTION, WARNING, DANGER or NOTE and orders nothing needs the sentence beside it that does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from pipeline.reading.word_lists import FUNCTION_WORDS, phrase_list, word_list
from pipeline.summarize.extractive.excerpt import PROSE, Excerpt, ExcerptKind

_OBJECTS = ("the", "all", "any", "your", "each", "every", "both", "sie")  # behind an imperative: "Stop the pump."
_FARTHEST = 4  # sentences of a block
_EDGES = ".,;:!?()\"'“”’*_"


def with_directives(excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """Adds to each consequence behind a signal word the need of its order.

    Args:
        excerpts: in the order of the document, with their other needs.
    """
    placed = list(excerpts)
    for consequence, order in _pairs(excerpts):
        needs = {*placed[consequence].needs, order}
        placed[consequence] = replace(placed[consequence], needs=tuple(sorted(needs)))
    return placed


def is_signal(text: str) -> bool:
    """Tells whether a text begins with a word that announces a warning or a note: "CAUTION", "Note: ..."."""
    first = text.split(None, 1)[0] if text.strip() else ""
    word = first.strip(_EDGES)
    is_announced = word.isupper() or first.rstrip("*_")[-1:] in (":", "!", ".") or word == text.strip(_EDGES + " ")
    return is_announced and word.lower().removesuffix("s") in word_list("signal_words")


def is_warning(text: str) -> bool:
    """Tells whether a text warns of something or forbids it."""
    return _has_phrase(text, "warning_phrases")


def _has_phrase(text: str, name: str) -> bool:
    """Tells whether a text has a phrase of a list, as whole words."""
    words = " ".join(word.strip(_EDGES) for word in text.lower().replace("’", "'").split())
    return any(f" {phrase} " in f" {words} " for phrase in phrase_list(name))


def gives_order(text: str) -> bool:
    """Tells whether a sentence orders or forbids something, perhaps behind "CAUTION:"."""
    said = text.partition(" ")[2] if is_signal(text) else text
    return _has_phrase(said, "order_phrases") or any(map(_opens_with_order, said.lower().split(", ")))


def _opens_with_order(clause: str) -> bool:
    """Tells whether a clause begins as orders do: "Never run it dry", "Close all valves"."""
    verb, object_ = (*clause.split(), "", "")[:2]
    is_inflected = verb.endswith(("ing", "ed")) or (verb[-1:] == "s" and verb[-2:] != "ss")  # "Opens the valve"
    is_verb = verb.isalpha() and verb not in FUNCTION_WORDS and not is_inflected
    openings = tuple(f"{phrase} " for phrase in phrase_list("order_openings"))
    return (is_verb and object_ in _OBJECTS) or clause.startswith(openings)


def _pairs(excerpts: Sequence[Excerpt]) -> Iterator[tuple[int, int]]:
    """Yields the consequences that signal words announce, each with the order that belongs to it."""
    for _, group in groupby(range(len(excerpts)), key=lambda position: excerpts[position].block):
        block = [position for position in group if excerpts[position].kind in PROSE]
        signalled = _signalled(excerpts, block)
        if not signalled:
            continue
        orders = [position for position in block if gives_order(excerpts[position].text)]
        orders = orders or list(_beside(excerpts, block))
        for position in signalled:
            near = [order for order in orders if abs(order - position) <= _FARTHEST]
            if position not in orders and near:
                yield position, min(near, key=lambda order: abs(order - position))
            if len(excerpts[position].text.split()) == 1 and position < block[-1]:  # "WARNING!" and what it warns of
                yield from ((position, position + 1), (position + 1, position))


def _signalled(excerpts: Sequence[Excerpt], block: Sequence[int]) -> Sequence[int]:
    """Returns the sentences of a block below a label that is a signal, or from one on that begins with one."""
    labels = [need for need in (excerpts[block[0]].needs if block else ()) if excerpts[need].kind is ExcerptKind.LABEL]
    if any(is_signal(excerpts[label].text) for label in labels):
        return block
    starts = (place for place, position in enumerate(block) if is_signal(excerpts[position].text))
    return block[next(starts, len(block)) :]


def _beside(excerpts: Sequence[Excerpt], block: Sequence[int]) -> Iterator[int]:
    """Yields the sentences just before and behind a block that give orders; its own label stands between."""
    before, behind = block[0] - 1, block[-1] + 1
    if before >= 0 and excerpts[before].kind is ExcerptKind.LABEL:
        before -= 1
    for position in (before, behind):
        if 0 <= position < len(excerpts) and excerpts[position].kind in PROSE - {ExcerptKind.STEP}:
            is_near = excerpts[position].section == excerpts[block[0]].section
            if is_near and gives_order(excerpts[position].text):
                yield position
