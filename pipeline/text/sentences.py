"""The one sentence splitter of the project.

nupunkt (MIT, typed, no dependencies) decides where prose ends a sentence: on 3,200 paragraphs of manuals and news it
kept legal and technical abbreviations and brackets apart better than sentencex, and unlike pysbd (quadratic) and
syntok (1.2 s) it needs about 0.4 s for 1 MB, whatever the text. Around it stand three rules of ours: markdown blocks
end sentences, CJK full stops end sentences, and an overlong sentence is cut.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nupunkt import sent_spans

from pipeline.text.blocks import Block, BlockKind, split_blocks

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_OPENERS = "「『《〈【“‘"
_CLOSERS = r"[”’」』】》〉)\]\"']*+"
# NFKC has turned the full-width ！ and ？ into ASCII, which ends a CJK sentence only where CJK text goes on.
_CJK_END = re.compile(rf"。++{_CLOSERS}|(?<![!?])[!?]++{_CLOSERS}(?=[{_CJK}{_CJK_OPENERS}])")
_FOOTNOTES = re.compile(r"(?:\[\^?\w{1,4}\])+\s*")
# nupunkt's time grows with the square of a word's length: "!)" a million times would take hours.
_OVERLONG_WORD = re.compile(r"\S{200,}(?=\S)")
_WORD_CHARACTER = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence's place in the normalised text, and the kind of block it stands in."""

    start: int
    end: int
    kind: BlockKind


def split_sentences(text: str, max_chars: int) -> list[Sentence]:
    """Returns the sentences of a normalised text in order, without white space around them.

    Parts without any letter or digit (rules, table separators) are left out.

    Args:
        text: normalised.
        max_chars: a longer sentence is cut at white space, or in the middle of a word if there is none.
    """
    ends = sorted(_prose_ends(text) | {match.end() for match in _CJK_END.finditer(text)})
    return [
        Sentence(start, end, block.kind)
        for block in split_blocks(text)
        for sentence_start, sentence_end in _cut_at(block, ends)
        for start, end in _cut_overlong(text, sentence_start, sentence_end, max_chars)
        if _WORD_CHARACTER.search(text, start, end)
    ]


def claims(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Leaves out headings, which state nothing; a text of nothing but headings keeps them."""
    return [sentence for sentence in sentences if sentence.kind is not BlockKind.HEADING] or sentences


def _prose_ends(text: str) -> set[int]:
    """Asks nupunkt, and leaves a footnote mark with the sentence before it."""
    bounded = _OVERLONG_WORD.sub(lambda word: "x" * len(word.group()), text)
    ends = {end for _, end in sent_spans(bounded)}
    return {footnotes.end() if (footnotes := _FOOTNOTES.match(text, end)) else end for end in ends}


def _cut_at(block: Block, ends: list[int]) -> Iterator[tuple[int, int]]:
    """Cuts a block at the sentence ends inside it."""
    start = block.start
    for index in range(bisect_right(ends, block.start), len(ends)):
        if ends[index] >= block.end:
            break
        yield start, ends[index]
        start = ends[index]
    yield start, block.end


def _cut_overlong(text: str, start: int, end: int, max_chars: int) -> Iterator[tuple[int, int]]:
    """Strips white space, then cuts what is longer than `max_chars`."""
    start, end = _strip(text, start, end)
    while end - start > max_chars:
        space = max(text.rfind(" ", start + 1, start + max_chars), text.rfind("\n", start + 1, start + max_chars))
        cut = space if space > start else start + max_chars
        yield _strip(text, start, cut)
        start, end = _strip(text, cut, end)
    if start < end:
        yield start, end


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
