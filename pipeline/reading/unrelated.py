"""Unrelated parts of a sentence: what has nothing to do with the source shares no sentence with what has.

A sentence splitter needs a full stop and a word that it knows before it. Behind a number, a bracket, a quotation or a
line end it often joins what stands there by itself, such as an order to the judge, to the statement beside it, which
is then no longer judged as it would be alone. Parts that say something of the source stay together as they were.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pipeline.reading.sentences import Sentence
from pipeline.reading.word_table import KnownWords, WordTable

_CUT = re.compile(
    r"(?:(?:(?<=\S[^\w\s,;'’&%$€£#/\\(\[{<+–—-])|(?<=\d))\s+(?!\d{3}\b)|(?<!\s)[^\S\n]*+\n\s*+)(?=[^a-z\s])(?!\[\d{1,3}[],])"
)
_FULL_STOPS = (".", "!", "?", ":")
_FEWEST_WORDS, _FEWEST_BEHIND_STOP = 2, 3  # content words of a statement; "Jan." belongs to what follows
_LONGEST_WORD = 30  # what is longer says something in a way of its own


def split_unrelated(text: str, sentences: Sequence[Sentence], source: KnownWords) -> Iterator[Sentence]:
    """Yields the sentences, with parts that are unrelated to the source as sentences of their own.

    Linear in the length of the text.

    Args:
        text: normalised.
        sentences: of it, in order.
        source: what the text is about.
    """
    for sentence in sentences:
        ends = {cut.end(): cut.start() for cut in _CUT.finditer(text, sentence.start, sentence.end)}
        first = sentence.start
        for start in _starts(text, sentence, ends, source):
            if any(map(str.isalnum, text[first:start])):  # else it is a mark that was left over
                yield replace(sentence, start=first, end=ends[start])
            first = start
        yield replace(sentence, start=first)


def _starts(text: str, sentence: Sentence, ends: Mapping[int, int], source: KnownWords) -> Iterator[int]:
    """Yields where parts begin that are unlike those before them; short ones go with an unrelated neighbour.

    Args:
        ends: of the part before each cut.
    """
    is_related: bool | None = None
    loose: list[str] | None = None
    begins = sentence.start  # with the short parts before it
    for start, end in zip((sentence.start, *ends), (*ends.values(), sentence.end), strict=True):
        part = text[start:end]
        table = WordTable.of(part)
        stems = table.content_stems(range(len(table)))
        begins, loose = (start, stems) if loose is None else (begins, [*loose, *stems])
        found = _kind(stems, part, source)
        if found is None:
            found = _kind(loose, part, source)
        if found is None:
            continue
        if is_related is (not found):
            yield start if found else begins
        elif start in ends and not any(map(str.isalnum, text[sentence.start : start])):
            yield start
        is_related, loose = found, None


def _kind(stems: Sequence[str], part: str, source: KnownWords) -> bool | None:
    """Tells whether a part is about the source; None when it is too short to know, and no number of its own."""
    if source.is_about(stems):
        return True
    if len(stems) == 1 and stems[0].isdigit() and not source.sentence_count(stems[0]):
        return False
    fewest = _FEWEST_BEHIND_STOP if part.endswith(_FULL_STOPS) else _FEWEST_WORDS
    return False if len(stems) >= fewest or any(len(stem) > _LONGEST_WORD for stem in stems) else None
