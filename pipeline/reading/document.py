"""Reads a text into sentences and words as a person sees it, and finds its capitals.

What nobody sees is left out, as soft hyphens and marks on letters that have none. Letters of other scripts that look
Latin are read as Latin in words of nothing else. What decorates a sentence goes too: emoji behind a word, targets of
links, references such as "[1]" behind a full stop. Positions still lead back to what was sent.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import digits
from typing import Self

import numpy as np

from pipeline.off_loop import stoppable
from pipeline.reading.characters import NormalizedText, OffsetMap, nfkc, normalize_decoded
from pipeline.reading.framing import is_citation
from pipeline.reading.passage import TextSpan
from pipeline.reading.rules import Rule
from pipeline.reading.sentences import Sentence, split_sentences, statements
from pipeline.reading.word_table import WordTable


@dataclass(frozen=True, slots=True, eq=False)
class ReadText:
    """A normalised text, split once."""

    text: NormalizedText  # the way back to what the caller sent
    sentences: tuple[Sentence, ...]  # that state something: other headings are left out unless there is nothing else
    passages: tuple[TextSpan, ...]  # the same as evidence
    table: WordTable  # all words, those of headings included
    ranges: tuple[range, ...]  # words of each sentence, as indices into `table`
    framing_count: int = 0  # sentences that were left out because they announce, offer or praise, and state nothing
    heading_count: int = 0  # headings that were left out because they only name what follows

    @classmethod
    def of(cls, text_id: str, original: str, max_sentence_chars: int) -> "ReadText":
        """Reads a text as the caller sent it. About 1 ms for 1,000 words once the words are known."""
        text = read_shown(text_id, original)
        table = WordTable.of(text.text)
        return cls.split(text, statements(table, split_sentences(text.text, max_sentence_chars)), table)

    @classmethod
    def split(cls, text: NormalizedText, sentences: Sequence[Sentence], table: WordTable | None = None) -> "ReadText":
        """Reads the sentences of a text, whose words may be read already."""
        table = table or WordTable.of(text.text)
        ranges = tuple(table.between(sentence.start, sentence.end) for sentence in stoppable(sentences))
        passages = tuple(text.passage(sentence.start, sentence.end) for sentence in stoppable(sentences))
        return cls(text, tuple(sentences), passages, table, ranges)

    @property
    def claims(self) -> tuple[int, ...]:
        """The sentences that have a word: of a summary each is one statement that is checked."""
        return tuple(at for at, words in enumerate(self.ranges) if words)

    def content_stems(self, words: Iterable[int] | None = None) -> list[str]:
        """Returns the stems of the content words among some words of `table`, or all."""
        return self.table.content_stems(range(len(self.table)) if words is None else words)

    def passage(self, start: int, end: int, text: str | None = None) -> TextSpan:
        """Returns a part of the text as evidence; models read it, or `text` in its place."""
        return self.text.passage(start, end, text)

    def words_passage(self, words: range) -> TextSpan:
        """Returns a run of words as evidence; there is at least one."""
        return self.passage(self.table.starts[words[0]], self.table.ends[words[-1]])


_LEAST_CAPITALS = 0.01  # of the words inside sentences
_HEADLINE = 0.5  # likewise
_FEWEST_OTHERS = 2  # of the summary's words inside sentences that the source has there too


@dataclass(frozen=True, slots=True)
class Capitals:
    """How a source writes its words.

    A name without its capitals, or a headline full of them, reads to a model like another name. Where the two texts
    differ, or the source has lost its capitals, both are compared in small letters; elsewhere capitals tell names.
    """

    spellings: frozenset[str]  # all of its words, as they stand
    inside: frozenset[str]  # its casefolded words that do not begin a sentence
    are_kept: bool  # whether enough of those are capitalised, as names are

    @classmethod
    def of(cls, source: ReadText) -> Self:
        """Reads a source. Linear in its length."""
        table = source.table
        inside = list(_inside(source))
        capitals = sum(table.raw(index)[0].isupper() for index in stoppable(inside))
        return cls(
            frozenset(map(table.raw, range(len(table)))),
            frozenset(table.words[index] for index in inside),
            capitals >= _LEAST_CAPITALS * len(inside),
        )

    def differ_from(self, summary: ReadText) -> bool:
        """Tells whether the texts have to be compared without capitals. Linear in the length of the summary."""
        if not self.are_kept:
            return True
        inside = list(_inside(summary))
        capitals = sum(summary.table.raw(index)[0].isupper() for index in inside)
        if 0 < capitals < _HEADLINE * len(inside):  # it has its names, and "turkey" beside them is a bird
            return False
        table = summary.table
        others = {table.words[index] for index in inside if table.raw(index) not in self.spellings}
        return len(others & self.inside) >= _FEWEST_OTHERS


def _inside(read: ReadText) -> Iterator[int]:
    """Yields the words that do not begin a sentence."""
    for words in stoppable(read.ranges):
        yield from (index for index in words[1:] if index not in read.table.openings)


_LATIN = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_MARKS = r"\u0300-\u036f\u20d0-\u20e2\u20e4-\u20ff"  # combining; NFKC leaves those that make no letter
_IGNORABLE = (  # by default (Unicode); without those that turn the direction of a text, which is seen
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a\u2060-\u2066\u206a-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(  # begins with one class, for which a search is fast
    rf"[{_IGNORABLE}{_MARKS}](?:(?<=[0-9{_LATIN}].)[{_IGNORABLE}{_MARKS}]*+"
    rf"|(?<=\w[{_IGNORABLE}])[{_IGNORABLE}]*+"
    rf"|(?<=[{_IGNORABLE}])(?<![{_IGNORABLE}]{{2}})[{_IGNORABLE}]*+(?=\w))"
)
_CYRILLIC_AND_GREEK = "аеорсухіјѕһԁԛԝӏАВЕКМНОРСТХУІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"
_LOOKALIKES = str.maketrans(_CYRILLIC_AND_GREEK, "aeopcyxijshdqwlABEKMHOPCTXYIJSABEZHIKMNOPTYXo")
_MAY_BE_DISGUISED = re.compile(f"[{_CYRILLIC_AND_GREEK}]")
_DISGUISED = re.compile(
    rf"(?<![^\W\d_])(?=[{_LATIN}]*[{_CYRILLIC_AND_GREEK}])[{_LATIN}{_CYRILLIC_AND_GREEK}]++(?![^\W\d_])"
)
# Without stars, check marks, and letters and digits in boxes, flags among them, which say something.
_EMOJI = r"[\U0001f000-\U0001f0ff\U0001f300-\U0001f51e\U0001f520-\U0001faff☀-☄☎-✄✆-✒✙-❋❍-❵➔-➿⬀-⭏⭑-⯿]"
_TARGET = r"(?:https?://|www\.|mailto:|/|\#|\.)[^\s()<>]{1,500}(?:\([^\s()<>]{0,100}\)[^\s()<>]{0,100})?"
_REFERENCES = r"(?:\[\d{1,3}(?:[,–-][ ]?\d{1,3}){0,9}\])++(?!\(|[ ]?[a-z])"  # "[42] people died" is none
_RAISED, _ENDS, _NOTED_LETTERS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹"), ".!?,;:)”", 4
_NEAR = 20  # characters
_DECORATION = re.compile(
    rf"""
    (?=(?:(?<=\S)[ \t]*+|[ ]?)[\[\](<!【{{^{_EMOJI[1:-1]}])
    (?:(?<=\S)[ \t]*{_EMOJI}(?:{_EMOJI}|[\ufe0f\u200d\u20e3])*+     # people 🏭.
    |[ ]?\(\[[^\[\]\n]{{1,300}}\]\({_TARGET}\)\)
    |!?\[(?=[^\[\]\n]{{1,300}}\]\({_TARGET}\))|(?<=\])\({_TARGET}\)   # [Ana](https://x.org)
    |(?<=\w)\](?=\({_TARGET}\))
    |[ ]?[(<]https?://[^\s()<>]{{1,500}}[)>]                        # (https://x.org)
    |(?:(?<=[.!?])|(?<=[.!?][”"'’)]))[ ]?{_REFERENCES}                 # fell.” [1, 2]
    |[ ]?([\[(【{{^]{{1,2}})([^\[\]()【】{{}}<>^\n]{{1,60}})[\])】}}^]{{1,2}})  # (p. 2)
    """,
    re.VERBOSE,
)


SHOWN = Rule(
    "shown",
    "reading",
    "Invisible characters, disguised letters, emoji and targets of links are not read.",
    "The m\u00adayor left [Ana](https://x.org) 👋.",
    "The mayor left Ana.",
)


def read_shown(text_id: str, original: str) -> NormalizedText:
    """Normalises a text as a person sees it. Linear in its length."""
    text, offsets = nfkc(original)
    if not SHOWN.is_on:
        return normalize_decoded(text_id, original, text, offsets)
    if any(digit in original for digit in _RAISED):
        text, offsets = _without(text, offsets, _note_marks(text, normalize_decoded(text_id, original, text, offsets)))
    text, offsets = _without(text, offsets, (mark.span() for mark in stoppable(_UNSEEN.finditer(text))))
    marks, counted = stoppable(_DECORATION.finditer(text)), {opening for opening in "[^" if f"{opening}1" in text}
    cited = (mark.span() for mark in marks if mark[2] is None or _cites(mark, counted))
    text, offsets = _without(text, offsets, cited)
    if _MAY_BE_DISGUISED.search(text):
        text = _DISGUISED.sub(lambda word: word.group().translate(_LOOKALIKES), text)
    return normalize_decoded(text_id, original, text, offsets)


def _cites(mark: re.Match[str], counted: Container[str]) -> bool:
    """Tells whether brackets hold a citation; bare numbers are one in square brackets that count from 1."""
    text, opening, cited, (start, end) = mark.string, mark[1], mark[2], mark.span()
    if not is_citation(cited):
        return False
    if any(map(str.isalpha, cited)) or not {"¶", "†", "#"}.isdisjoint(cited) or "【" in opening or "{" in opening:
        return True
    is_behind = text[max(0, start - 1) : start].isalnum() or not text[end : end + _NEAR].lstrip(" ")[:1].islower()
    return is_behind and "[" in opening and opening[-1] in counted


def _note_marks(text: str, shown: NormalizedText) -> Iterator[tuple[int, int]]:
    """Yields raised digits behind a word of four letters or a full stop: "closed.¹", and neither "m²" nor "10⁶"."""
    for at, one in enumerate(text):
        if one.isdigit() and shown.original[shown.offsets.to_original(at, at + 1)[0]] in _RAISED:
            word = text[max(0, at - _NEAR) : at].rstrip(digits)[-_NOTED_LETTERS:]
            if word[-1:] in tuple(_ENDS) or (len(word) == _NOTED_LETTERS and word.isalpha()):
                yield at, at + 1


def _without(text: str, offsets: OffsetMap, spans: Iterable[tuple[int, int]]) -> tuple[str, OffsetMap]:
    """Leaves out some stretches, in order, unless nothing is left."""
    gaps = [place for span in spans for place in range(*span)]
    rest = "".join(text[start + 1 : end] for start, end in pairwise([-1, *gaps, len(text)]))
    if not gaps or not rest.strip():
        return text, offsets
    kept = np.delete(np.arange(len(text), dtype=np.int32), gaps)
    return rest, offsets.then(OffsetMap(kept, kept + 1))
