"""Picks one of several answers from the evidence, without a language model."""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile

from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import Fusion, Level, parse_level
from pipeline.judge.synthesis.evidence import Evidence, Finding, Severity
from pipeline.judge.synthesis.reasoning import worst_findings

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_WORD = re.compile(r"\w+")
_WEIGHTS = {Severity.SEVERE: 4, Severity.MODERATE: 3, Severity.SLIGHT: 2, Severity.UNCERTAIN: 1, Severity.NONE: 0}
_SHORTEST_STEM = 4  # letters that two words must share at their beginning


def choose(
    question: str, choices: Sequence[str], scope: tuple[str, ...], evidence: Evidence, fusion: Fusion | None
) -> int | None:
    """Returns the index of the choice that the evidence names; None when it names none, or several alike.

    Choices that are quality levels are decided by the fused level, choices that are severities by the finding that the
    question names, all others by the most severe finding that they name.
    """
    if fusion is not None and (index := _only(choices, lambda text: _is_level(text, fusion.level))) is not None:
        return index
    findings = [finding for _, finding in worst_findings(scope, evidence)]
    if all(_severity(choice) for choice in choices):
        asked = next((one for one in findings if _names(question, one.kind)), None)
        return None if asked is None else _only(choices, lambda text: _severity(text) is asked.severity)
    weights = [_weight(choice, findings) for choice in choices]
    best = max(weights)
    return weights.index(best) if best > 0 and weights.count(best) == 1 else None


def _only(choices: Sequence[str], is_it: Callable[[str], bool]) -> int | None:
    found = [index for index, choice in enumerate(choices) if is_it(choice)]
    return found[0] if len(found) == 1 else None


def _is_level(text: str, level: Level) -> bool:
    try:
        return len(text.strip()) > 1 and parse_level(text.strip(" .")) is level
    except InvalidInputError:
        return False


def _severity(text: str) -> Severity | None:
    return next((one for one in Severity if one.value == text.strip(" .").casefold()), None)


def _weight(choice: str, findings: Sequence[Finding]) -> int:
    return max((_WEIGHTS[finding.severity] for finding in findings if _names(choice, finding.kind)), default=0)


def _names(text: str, kind: str) -> bool:
    """Tells whether a text has a word of a kind, or one that differs from it in its ending: "blurry", "blurs"."""
    words, wanted = _words(text), _words(kind)
    telling = [word for word in wanted if len(word) >= _SHORTEST_STEM] or wanted  # not the "of" of "loss of detail"
    return any(word == other or _share_stem(word, other) for word in words for other in telling)


def _share_stem(word: str, other: str) -> bool:
    pairs = zip(word, other, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return shared >= max(_SHORTEST_STEM, min(len(word), len(other)) - 1)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
