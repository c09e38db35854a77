"""Repeats: sentences of a summary, or parts of them, that say in the same words what another sentence says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from pipeline.reading.sentences import Sentence
from pipeline.reading.word_table import KnownWords, WordTable

_MARK = re.compile(r"[^\w\s'’-]+\s*|\s[-–—]+\s*")
# Letters, digits, and the marks that tell -5 from 5, 4.2 from 42, 5% from $5, < 5 from > 5, C++ from C#.
_KEPT = re.compile(
    r"[^\W_]|(?<=\d)(?:[.:/–-]|,(?!\d{3}(?!\d)))(?=\d)|(?<=\d)\s(?=\d)|(?<![^\W_])[+.−–-](?=[$€£¥]?\d)"
    r"|[$€£¥](?=\s?\d)|[%‰°$€£¥](?:(?<=\d.)|(?<=\d\s.))"
    r"|[<>≤≥≠=~±×^](?=\s?\d)|(?<=\d)[⁄^×](?=\d)|(?<=[A-Za-z+#])[+#]|(?<=\b[A-Z])-(?!\w)"
)
_DENIAL = re.compile(
    r"\b(?:not|no|never|nor|false(?:ly)?|untrue|wrong(?:ly)?|incorrect|lies?|contrary|unlike)\b|n['’]t\b", re.IGNORECASE
)
_STOP_BEFORE, _STOP_BEHIND = re.compile(r"[.!?][^\w.!?]*$"), re.compile(r"\W*?[.!?]")
_WORD = re.compile(r"[^\W_]")
_MOST_MARKS = 12  # from either end, at which the repeated part may begin or end
_FEWEST_LETTERS = 8  # of a part; a shorter one may be said again by chance


def without_repeats(text: str, sentences: Sequence[Sentence], source: KnownWords) -> list[Sentence]:
    """Returns the sentences in order, each said once. Linear in the length of the text.

    A sentence that is another one with an announcement, such as "To repeat:", keeps the announcement alone, and nothing
    of one that says nothing, such as "However,": no statement is left out that the other one does not make. What says
    something of the source besides stays whole, unless a full stop stands between.

    Args:
        text: normalised.
        source: what the text is about.
    """
    once = _first_of_each(text, sentences)
    others = frozenset(_letters(text[sentence.start : sentence.end]) for sentence in once)
    return _first_of_each(text, [rest for sentence in once for rest in _announcement(text, sentence, others, source)])


def _first_of_each(text: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    first = {_letters(text[sentence.start : sentence.end]): sentence for sentence in reversed(sentences)}
    return sorted(first.values(), key=lambda sentence: sentence.start)


def _announcement(text: str, sentence: Sentence, others: frozenset[str], source: KnownWords) -> Iterator[Sentence]:
    """Yields what is left of a sentence: all of it, or what stands before and behind the one that it repeats."""
    found = next(_repeated(text, sentence, others), None)
    if found is None:
        yield sentence
        return
    before, behind = text[sentence.start : found[0]], text[found[1] : sentence.end]
    is_apart = (not before or _STOP_BEFORE.search(before)) and (not behind or _STOP_BEHIND.match(behind))
    if not is_apart and source.is_about([*_stems(before), *_stems(behind)]):
        yield sentence
        return
    if _says(before):
        yield replace(sentence, end=sentence.start + len(before.rstrip()))
    if _says(behind) and (words := _WORD.search(behind)):
        yield replace(sentence, start=found[1] + words.start())


def _repeated(text: str, sentence: Sentence, others: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yields the parts between marks that are other sentences."""
    letters = [""] * (sentence.end - sentence.start)
    for kept in _KEPT.finditer(text[sentence.start : sentence.end]):
        letters[kept.start()] = _folded(kept)
    written, counts = "".join(letters), [0, *accumulate(map(len, letters))]
    marks = [
        (start, end)
        for start, end in (mark.span() for mark in _MARK.finditer(text, sentence.start, sentence.end))
        if not any(letters[start - sentence.start : end - sentence.start])
    ]
    for start in [sentence.start, *(end for _, end in marks[:_MOST_MARKS])]:
        for end in [sentence.end, *(start for start, _ in marks[-_MOST_MARKS:])]:
            part = written[counts[start - sentence.start] : counts[max(start, end) - sentence.start]]
            if _FEWEST_LETTERS <= len(part) < len(written) and part in others:
                yield start, end


def _says(text: str) -> bool:
    return bool(_stems(text)) or denies(text)


def denies(text: str) -> bool:
    """Tells whether words may deny what stands beside them: "False:", "Contrary to rumours,"."""
    return bool(_DENIAL.search(text))


def _stems(text: str) -> list[str]:
    table = WordTable.of(text)
    return table.content_stems(range(len(table)))


def _letters(sentence: str) -> str:
    """Returns what a sentence is recognised by when it comes again: its letters and its numbers."""
    return "".join(map(_folded, _KEPT.finditer(sentence)))


def _folded(kept: re.Match[str]) -> str:
    return kept.group().casefold() if kept.group().strip() else " "
