"""Keeps a warning with what it tells people to do: "The seal is destroyed in 30 seconds" needs "Never run a pump dry".

What stands behind CAUTION, WARNING, DANGER or NOTE without ordering or forbidding anything needs the sentence beside
it that does.
"""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from pipeline.reading.function_words import FUNCTION_WORDS
from pipeline.summarize.extractive.excerpt import PROSE, Excerpt, ExcerptKind

_SIGNAL_LIST = "caution|warning|danger|note|notice|important|attention|achtung|warnung|vorsicht|gefahr|hinweis|wichtig"
_SIGNAL = re.compile(
    rf"[\W_]*(?:(?i:{_SIGNAL_LIST})s?[*_\s]*(?:[:!.：！]|$)|(?:{_SIGNAL_LIST.upper()})S?\b"
    r"|(?:注意|警告|危险|小心)\W)[\W_]*"
)
_CLAUSE = r"(?:^|[,;:–—]\s+(?:and\s|or\s|please\s)?)(?:please\s)?"
_ORDER = re.compile(
    rf"{_CLAUSE}(?:never|do\snot|don['’]t|always|ensure|make\ssure|be\s(?:sure|careful)|take\scare|avoid|must)\b"
    r"|\b(?:must|shall|should|may|can)\s(?:not|never)\b|\bmust\b|\b(?:is|are)\s(?:prohibited|forbidden|not\sallowed)\b"
    r"|\b(?:nie|niemals|keinesfalls|stets|auf\skeinen\sfall|muss|müssen|verboten|untersagt|unbedingt)\b"
    r"|\bd[aü]rf(?:en)?\b[^.]{0,80}\b(?:nicht|kein\w{0,2}|nur)\b|\bnicht\s\w+en[.!]?$|^\w+en\ssie\b"
    r"|请勿|切勿|不得|不要|禁止|严禁|必须|务必",
    re.IGNORECASE,
)
# "Stop the pump.", "If it leaks, close all valves."
_IMPERATIVE = re.compile(
    r"(?:(?:if|when|before|after|once|in\scase|whenever)\b[^,]{1,200},\s+)?(?:please\s|immediately\s|then\s|first,?\s)?"
    r"(?P<verb>[^\W\d_]+)\s(?:the|all|any|your|each|every|both)\b",
    re.IGNORECASE,
)
_NO_VERBS = (FUNCTION_WORDS - {"let", "make", "get"}) | frozenset(
    ["inside", "outside", "behind", "near", "beyond", "not"]
)
_NO_IMPERATIVE = re.compile(r"(?:(?<!br)ing|(?<!e)ed|(?<!s)s)$")  # "Replacing the seal", "Opens the valve"
_FARTHEST = 4  # sentences of a block


def with_directives(excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """Adds to each warning's consequence the need of its command, and to a command what it brings where there is room.

    Args:
        excerpts: in the order of the document, with their other needs.
    """
    placed = list(excerpts)
    for consequence, commands in _pairs(excerpts):
        needs = {*placed[consequence].needs, *commands}
        placed[consequence] = replace(placed[consequence], needs=tuple(sorted(needs)))
        for command in commands:
            placed[command] = replace(placed[command], brings=(*placed[command].brings, consequence))
    return placed


def gives_directive(text: str) -> bool:
    """Tells whether a sentence orders or forbids something, perhaps behind "CAUTION:"."""
    said = text[signal.end() :] if (signal := _SIGNAL.match(text)) else text
    if _ORDER.search(said):
        return True
    match = _IMPERATIVE.match(said)
    verb = match["verb"].lower() if match else ""
    return bool(verb) and verb not in _NO_VERBS and not _NO_IMPERATIVE.search(verb)


def _pairs(excerpts: Sequence[Excerpt]) -> Iterator[tuple[int, list[int]]]:
    """Yields the consequences that signal words announce, each with the commands beside it."""
    for _, group in groupby(range(len(excerpts)), key=lambda position: excerpts[position].block):
        block = [position for position in group if excerpts[position].kind in PROSE]
        signalled = block if block and _is_below_signal(excerpts, block[0]) else _from_signal(excerpts, block)
        if not signalled:
            continue
        commands = {position for position in block if gives_directive(excerpts[position].text)}
        commands = commands or set(_outside(excerpts, block))
        for position in sorted(set(signalled) - commands):
            if beside := _nearest(position, commands):
                yield position, beside
            if _SIGNAL.fullmatch(excerpts[position].text) and position < block[-1]:  # "WARNING!" and what it warns of
                yield position, [position + 1]
                yield position + 1, [position]


def _nearest(position: int, commands: Container[int]) -> list[int]:
    """Returns the nearest command, or those on both sides; none if all are far away."""
    sides = ([position - away, position + away] for away in range(1, _FARTHEST + 1))
    near = ([each for each in pair if each in commands] for pair in sides)
    return next(filter(None, near), [])


def _outside(excerpts: Sequence[Excerpt], block: Sequence[int]) -> list[int]:
    """Returns the sentences just before and behind a block that give orders; its own label stands between."""
    before, behind = block[0] - 1, block[-1] + 1
    if before >= 0 and excerpts[before].kind is ExcerptKind.LABEL:
        before -= 1
    kinds = PROSE - {ExcerptKind.STEP}  # would bring the whole procedure; its own step a warning needs already
    beside = [each for each in (before, behind) if 0 <= each < len(excerpts)]
    return [
        each
        for each in beside
        if excerpts[each].kind in kinds
        and excerpts[each].section == excerpts[block[0]].section
        and gives_directive(excerpts[each].text)
    ]


def _is_below_signal(excerpts: Sequence[Excerpt], first: int) -> bool:
    labels = (excerpts[need].text for need in excerpts[first].needs if excerpts[need].kind is ExcerptKind.LABEL)
    return any(_SIGNAL.match(text) for text in labels)


def _from_signal(excerpts: Sequence[Excerpt], block: Sequence[int]) -> Sequence[int]:
    """Returns the sentences of a block from the one on that begins with a signal word."""
    starts = (place for place, position in enumerate(block) if _SIGNAL.match(excerpts[position].text))
    return block[next(starts, len(block)) :]
