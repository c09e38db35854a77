"""Inspects one answer without a model: which of its parts stand in the input, which cannot, which must be read.

Then repairs it by place: a faulty sentence is replaced by the input's own, or dropped.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from pipeline.reading.parts import TextPart, split_parts
from pipeline.reading.sentences import BlockKind
from pipeline.reading.words import fold
from pipeline.summarize.gate.findings import FaultKind, Remedy, TrustFinding, finding
from pipeline.summarize.gate.shape import (
    is_refusal,
    other_language,
    runs_in_circles,
    speaks_to_a_model,
    unwrap,
)
from pipeline.summarize.gate.source import SourceText

_FEWEST_WORDS = 4  # of a sentence that is not to be said twice; shorter ones belong to what stands around them
_FEWEST_ORDERED = 2  # words of a wish; a single one may be a subject
_LEAST_CLAIM = 3  # words; less is a label
_ENDED = re.compile(r"[.!?:;。！？…)\]\"'”’|*_`]\s*$")
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Inspection:
    """What is known of an answer.

    Attributes:
        text: without what was put around it.
        removed: what was.
        parts: of the text.
        faults: by part, the first that was found.
        to_read: parts that a model should compare with a passage: all else of them is right.
        verbatim_count: parts that stand in the input word for word.
        whole: what is wrong with the answer as a whole; None if nothing is.
    """

    text: str
    removed: list[TrustFinding]
    parts: list[TextPart] = field(default_factory=list)
    faults: dict[int, tuple[FaultKind, str]] = field(default_factory=dict)
    to_read: list[int] = field(default_factory=list)
    verbatim_count: int = 0
    whole: FaultKind | None = None

    def words_of(self, part: int) -> str:
        """Returns a part's text."""
        return self.text[self.parts[part].start : self.parts[part].end]


def inspect(answer: str, source: SourceText) -> Inspection:
    """Inspects an answer. Linear in its length once the source is read."""
    text, removed = unwrap(answer, source)
    found = Inspection(text, [finding(kind, Remedy.REMOVED, words) for kind, words in removed])
    if not any(map(str.isalnum, text)):
        found.whole = FaultKind.EMPTY
        return found
    found.parts = split_parts(text)
    said: Counter[str] = Counter()
    for number, part in enumerate(found.parts):
        _inspect_part(found, number, part, source, said)
    _find_cut(found, source)
    if found.faults and all(kind is FaultKind.REFUSAL for kind, _ in found.faults.values()) and not _is_text(found):
        found.whole = FaultKind.REFUSAL
    elif other_language(text, source):
        found.whole = FaultKind.LANGUAGE
    elif runs_in_circles(text, source):
        found.whole = FaultKind.REPETITION
    return found


_RISKY = re.compile(r"\d|\b(?:not|no|never|none|without|only|except|unless|\w+n['’]t)\b", re.IGNORECASE)


def riskiest(sentences: Sequence[str], limit: int) -> list[int]:
    """Returns the indices of the sentences that a model reads: of too many, those with values and negations first."""
    ranked = sorted(range(len(sentences)), key=lambda at: not _RISKY.search(sentences[at]))
    return sorted(ranked[:limit])


def _is_text(found: Inspection) -> bool:
    """Tells whether something stands there beside the faults that is the input's."""
    return bool(found.verbatim_count)


def _inspect_part(found: Inspection, number: int, part: TextPart, source: SourceText, said: Counter[str]) -> None:
    words = found.words_of(number)
    folded = fold(words)
    count = source.count(folded) or source.has_lines(words)
    said[folded] += 1
    found.verbatim_count += bool(count)
    if speaks_to_a_model(words):
        found.faults[number] = FaultKind.ORDER, words
    elif not count and (fault := _fault(words, folded, part, source)):
        found.faults[number] = fault, words
    elif part.is_prose and len(folded.split()) >= _FEWEST_WORDS and said[folded] > max(1, count):
        found.faults[number] = FaultKind.REPETITION, words
    elif not count and is_claim(part, words):
        found.to_read.append(number)


def is_claim(part: TextPart, words: str) -> bool:
    """Tells whether a part states something that a model can compare with a passage."""
    return (part.is_prose or part.kind is BlockKind.TABLE_ROW) and len(_WORD.findall(words)) >= _LEAST_CLAIM


_OUTLINE_NUMBER = re.compile(r"[*_]*(?:(?:\d{1,2}\.){0,3}\d{1,2}[.):]|(?:\d{1,2}\.){1,3}\d{1,2})(?=\s|$)\s*")


def _fault(words: str, folded: str, part: TextPart, source: SourceText) -> FaultKind | None:
    """Returns what is wrong with a part that is not the input's own."""
    if part.kind is None:
        return None if source.has_code(words) else FaultKind.CODE
    if part.is_prose and is_refusal(words):
        return FaultKind.REFUSAL
    if part.is_prose and _is_echo(folded, source):
        return FaultKind.ECHO
    is_heading = part.kind is BlockKind.HEADING
    number = _OUTLINE_NUMBER.match(words)
    stated = words[number.end() :] if number and (is_heading or number.end() == len(words)) else words
    faults = source.value_faults(stated, with_names=not is_heading)
    if not faults and not is_heading and source.is_english and source.is_twisted(words):
        return FaultKind.TWISTED
    return faults[0][0] if faults else None


def _is_echo(folded: str, source: SourceText) -> bool:
    """Tells whether a sentence is not of the material, but of what was shown or asked for beside it."""
    count = len(folded.split())
    return (count >= _FEWEST_WORDS and source.is_context(folded)) or (
        count >= _FEWEST_ORDERED and source.is_order(folded)
    )


def _find_cut(found: Inspection, source: SourceText) -> None:
    """Finds a last sentence that is the beginning of one of the input."""
    last = len(found.parts) - 1
    if last in found.to_read and not _ENDED.search(found.text):
        words = found.words_of(last)
        if source.begins_with(fold(words)):
            found.to_read.remove(last)
            found.faults[last] = FaultKind.CUT, words


_STATE_NOTHING = {FaultKind.REPETITION, FaultKind.ECHO, FaultKind.ORDER, FaultKind.REFUSAL, FaultKind.CHATTER}
_LEAST_SHARED = 0.5  # of the weight of a sentence's words, for the input's own to say what it meant to say
_MARK_LINE = re.compile(r"[ \t]*+(?:(?:>|#{1,6}|[-*+•‣◦▪·]|\(?\d{1,3}[.)]|\(?[a-z]\)|\[[ xX]\])[ \t]*+)*+[*_]*+[ \t]*+")
_HEADING_MARKS = re.compile(r"[ \t]*(#{1,6})(?=\s)")
_BELOW_ALL = 7
_BLANK_LINES = re.compile(r"\n{3,}")


def repair(found: Inspection, source: SourceText) -> tuple[str, list[TrustFinding]]:
    """Returns an answer without its faulty parts, and what became of each."""
    if not found.faults:
        return found.text, []
    present = {fold(found.words_of(number)) for number in range(len(found.parts)) if number not in found.faults}
    pieces: list[str] = []
    findings: list[TrustFinding] = []
    end = 0
    for number, (kind, words) in sorted(found.faults.items()):
        part = found.parts[number]
        is_own = part.is_prose and not source.is_translated
        own = None if kind in _STATE_NOTHING or not is_own else source.own_sentence(words, _LEAST_SHARED)
        if own is not None and fold(own) not in present:
            present.add(fold(own))
            pieces += [found.text[end : part.start], own]
            end = part.end
            findings.append(finding(kind, Remedy.CORRECTED, words))
            continue
        start, stop = _whole_line(found.text, part.start, part.end)
        pieces.append(found.text[end : max(start, end)])
        end = stop
        is_empty = kind in _STATE_NOTHING
        findings.append(finding(kind, Remedy.REMOVED if is_empty else Remedy.DROPPED, words))
    pieces.append(found.text[end:])
    were_empty = {found.text[start:end].strip() for start, end in _empty_headings(found.text)}
    repaired = _without_headings("".join(pieces), were_empty)
    return _BLANK_LINES.sub("\n\n", repaired).strip(), findings


def _without_headings(text: str, were_empty: Collection[str]) -> str:
    """Returns a text without the headings that lost all that stood below them."""
    for start, end in reversed(_empty_headings(text)):
        if text[start:end].strip() not in were_empty:
            text = text[:start] + text[end:]
    return text


def _empty_headings(text: str) -> list[tuple[int, int]]:
    """Returns the lines of headings with nothing below them, in order, with their line ends."""
    empty: list[tuple[int, int]] = []
    next_level = 0  # of the heading that follows and stays
    for part in reversed(split_parts(text)):
        start = text.rfind("\n", 0, part.start) + 1
        line_end = text.find("\n", part.end)
        end = len(text) if line_end < 0 else line_end + 1
        marks = _HEADING_MARKS.match(text, start) if part.kind is BlockKind.HEADING else None
        if marks is None:
            next_level = _BELOW_ALL
        elif len(marks[1]) < next_level:
            next_level = len(marks[1])
        else:
            empty.append((start, end))
    return empty[::-1]


def _whole_line(text: str, start: int, end: int) -> tuple[int, int]:
    """Returns a part with the mark in front and the line's end behind it, if nothing else stands in its lines."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end + 1
    before, behind = text[line_start:start], text[end:line_end]
    if _MARK_LINE.fullmatch(before) and not behind.strip(" \t\n*_.;"):
        return line_start, line_end
    space = len(behind) - len(behind.lstrip(" "))
    return start, end + space
