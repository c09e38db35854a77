"""Picks one of several answers from the evidence, without a language model."""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TypeVar

from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import Fusion, Level, parse_level
from pipeline.judge.synthesis.evidence import Evidence, Finding, Severity
from pipeline.judge.synthesis.reasoning import badness, worst_findings

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_WORD = re.compile(r"[^\W_]+")
_SHORTEST_STEM = 4  # letters that two words must share at their beginning
_STEM_SHARE = 0.75  # of the shorter one: "hallucinates" and "hallucination"

T = TypeVar("T")


def choose(
    question: str, choices: Sequence[str], scope: tuple[str, ...], evidence: Evidence, fusion: Fusion | None
) -> int | None:
    """Returns the index of the choice that the evidence names; None when it names none, or several alike.

    Choices that are quality levels are decided by the fused level, choices that are severities by the finding that the
    question names, all others by the worst finding that they name.
    """
    if fusion is not None and (index := _only(choices, lambda text: _is_level(text, fusion.level))) is not None:
        return index
    findings = [finding for _, finding in worst_findings(scope, evidence)]
    if all(_severity(choice) for choice in choices):
        asked = next((one for one in findings if _names(question, one.kind)), None)
        return None if asked is None else _only(choices, lambda text: _severity(text) is asked.severity)
    wrong = [(part, one) for part, one in worst_findings(scope, evidence) if one.severity is not Severity.NONE]
    return _naming_the_worst(choices, wrong, evidence)


def _naming_the_worst(choices: Sequence[str], wrong: Sequence[tuple[str, Finding]], evidence: Evidence) -> int | None:
    """Returns the choice that names the worst finding that any of them names, if it is alone in that."""
    named = [[badness(part, one, evidence) for part, one in wrong if _names(choice, one.kind)] for choice in choices]
    worst = max((bad for these in named for bad in these), default=None)
    return _only(named, lambda these: worst in these)


def _only(items: Sequence[T], is_it: Callable[[T], bool]) -> int | None:
    found = [index for index, item in enumerate(items) if is_it(item)]
    return found[0] if len(found) == 1 else None


def _is_level(text: str, level: Level) -> bool:
    try:
        return len(text.strip()) > 1 and parse_level(text.strip(" .")) is level
    except InvalidInputError:
        return False


def _severity(text: str) -> Severity | None:
    return next((one for one in Severity if one.value == text.strip(" .").casefold()), None)


def _names(text: str, kind: str) -> bool:
    """Tells whether a text has a word of a kind, or one that differs from it in its ending: "blurry", "blurs"."""
    words, wanted = _words(text), _words(kind)
    telling = [word for word in wanted if len(word) >= _SHORTEST_STEM] or wanted  # not the "of" of "loss of detail"
    return any(word == other or _share_stem(word, other) for word in words for other in telling)


def _share_stem(word: str, other: str) -> bool:
    pairs = zip(word, other, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return shared >= max(_SHORTEST_STEM, _STEM_SHARE * min(len(word), len(other)))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
