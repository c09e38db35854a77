"""Reads a text into sentences and words, after detokenization, and finds its quotations.

Detokenization puts together "235, 000", "31. 8 per cent", "71 - year - old", "U. S.", as corpora and extraction tools
often write them. Sentences would else end inside a number, and "1, 600" and "1,600" would be two numbers. Only texts
that show signs of it are touched; positions still lead back to what was sent.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pipeline.judge.evidence.text.instructions import is_instruction
from pipeline.judge.evidence.text.words import WordTable
from pipeline.text.meta_commentary import lead_in_length
from pipeline.text.normalize import NormalizedText, OffsetMap, nfkc, normalize_decoded
from pipeline.text.passage import TextSpan
from pipeline.text.sentences import Sentence, claims, split_sentences
from pipeline.text.windows import sentence_passages


@dataclass(frozen=True, slots=True, eq=False)
class ReadText:
    """A normalised text, split once.

    Attributes:
        text: the way back to what the caller sent.
        sentences: that state something: headings are left out unless there is nothing else.
        passages: the same as evidence.
        table: all words, those of headings included.
        ranges: words of each sentence, as indices into `table`.
        instruction_count: sentences that were left out because they speak to the judge.
        lead_in_count: sentences that were left out because they announce, offer or praise, and state nothing.
        repeat_count: sentences that were left out because an earlier one says the same in the same words.
    """

    text: NormalizedText
    sentences: tuple[Sentence, ...]
    passages: tuple[TextSpan, ...]
    table: WordTable
    ranges: tuple[range, ...]
    instruction_count: int
    lead_in_count: int
    repeat_count: int

    @classmethod
    def of(cls, text_id: str, original: str, max_sentence_chars: int) -> "ReadText":
        """Reads a text as the caller sent it. About 1 ms for 1,000 words once the words are known."""
        text = read_respaced(text_id, original)
        return cls._split(text, claims(split_sentences(text.text, max_sentence_chars)))

    @classmethod
    def of_summary(cls, text_id: str, original: str, max_sentence_chars: int) -> "ReadText":
        """Reads a summary without what states nothing of its source; linear in its length.

        Left out are sentences that tell the judge how to grade, lead-ins, also those in front of a statement, and
        sentences that repeat another. What is left out is blank, so that places stay. When nothing else is left, it is
        kept.
        """
        text = read_respaced(text_id, original)
        sentences = claims(split_sentences(text.text, max_sentence_chars))
        said = [sentence for sentence in sentences if not is_instruction(text.text[sentence.start : sentence.end])]
        stated = [rest for sentence in said if (rest := _without_lead_in(text.text, sentence))]
        if not stated:
            return cls._split(text, sentences)
        first = {_letters(text.text[sentence.start : sentence.end]): sentence for sentence in reversed(stated)}
        kept = sorted(first.values(), key=lambda sentence: sentence.start)
        return replace(
            cls._split(replace(text, text=_blanked(text.text, sentences, kept)), kept),
            instruction_count=len(sentences) - len(said),
            lead_in_count=len(said) - len(stated),
            repeat_count=len(stated) - len(kept),
        )

    @classmethod
    def _split(cls, text: NormalizedText, sentences: Sequence[Sentence]) -> "ReadText":
        table = WordTable.of(text.text)
        ranges = tuple(table.between(sentence.start, sentence.end) for sentence in sentences)
        passages = sentence_passages(text, sentences)
        return cls(
            text, tuple(sentences), passages, table, ranges, instruction_count=0, lead_in_count=0, repeat_count=0
        )

    def words_passage(self, words: range) -> TextSpan:
        """Returns a run of words as evidence; there is at least one."""
        return self.text.passage(self.table.starts[words[0]], self.table.ends[words[-1]])


def _letters(sentence: str) -> str:
    """Returns what a sentence is recognised by when it comes again: its letters and digits."""
    return "".join(character for character in sentence.casefold() if character.isalnum())


def _without_lead_in(text: str, sentence: Sentence) -> Sentence | None:
    """Returns what a sentence states; None when it is a lead-in and nothing else."""
    start = sentence.start + lead_in_length(text[sentence.start : sentence.end])
    return replace(sentence, start=start) if start < sentence.end else None


def _blanked(text: str, sentences: Sequence[Sentence], kept: Sequence[Sentence]) -> str:
    """Returns a text of the same length with spaces in place of what is not kept of its sentences."""
    starts = {sentence.end: sentence.start for sentence in kept}
    pieces, end = list[str](), 0
    for sentence in sentences:
        start = starts.get(sentence.end, sentence.end)
        pieces += [text[end : sentence.start], " " * (start - sentence.start)]
        end = start
    return "".join([*pieces, text[end:]])


_SIGNS = re.compile(
    r"""
    \w[ ]-[ ]\w+[ ]-[ ]\w          # 71 - year - old
    |\([ ]\w[^()\n]{0,80}\w[ ]\)   # ( left )
    |\w[ ][,.;][ ]\w               # He left , and
    |\w[ ]'[ ]?s[ ]|\w[ ]n't[ ]     # Ann 's, did n't
    |(?<![\d,])\d{1,3},[ ]000\b    # 235, 000
    |(?<!\S)`{1,2}[ ]?\w[^`\n]{0,200}'   # `quoted'
    |\d\.[ ]\d+[ ](?:[mb]illion|per[ ]?cent|percent|miles|points)\b   # 31. 8 per cent
    |\b(?:\d+|pre|post|non|self|ex|co|half|well|anti|multi|mid|two|three)[ ]-[ ]\w
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Each match is white space that goes.
_COUNTED = (
    r"(?:year|month|week|day|hour|minute|second|mile|metre|meter|foot|inch|man|woman|member|point|goal|time|page|"
    r"bedroom|seat|storey|story|strong|match|game|run|piece|star|word)s?\b"
)
_GAPS = re.compile(
    rf"""
    (?<=\d,)[ ](?=\d{{3}}(?!\d))                  # 1, 600
    |(?<=\d\.)[ ](?=\d)                         # 31. 8
    |(?<=\b[A-Za-z]\.)[ ](?=[A-Za-z]\.)         # U. S.
    |(?<=\d)[ ](?=-[ ](?:\d|{_COUNTED}))|(?<=\d[ ]-)[ ](?=\d|{_COUNTED})   # 2 - 0, 71 - year
    |(?<=\byear)[ ](?=-[ ]old)|(?<=\byear[ ]-)[ ](?=old)
    |(?<=\bnon)[ ](?=-[ ]\w)|(?<=\bnon[ ]-)[ ](?=\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def read_respaced(text_id: str, original: str) -> NormalizedText:
    """Normalises a text, with numbers, ages and abbreviations put together. Linear in its length."""
    text, offsets = nfkc(original)
    gaps = [match.start() for match in _GAPS.finditer(text)] if _SIGNS.search(text) else []
    if not gaps:
        return NormalizedText(text_id, original, text, offsets)
    kept = np.delete(np.arange(len(text), dtype=np.int32), gaps)
    bounds = [-1, *gaps, len(text)]
    respaced = "".join(text[start + 1 : end] for start, end in pairwise(bounds))
    return normalize_decoded(text_id, original, respaced, offsets.then(OffsetMap(kept, kept + 1)))


_QUOTATION = re.compile(r'"[^"\n]{1,600}"|“[^”\n]{1,600}”|«[^»\n]{1,600}»|„[^“”\n]{1,600}[“”]|「[^」\n]{1,600}」')


def quotations(text: str) -> list[tuple[int, int]]:
    """Returns start and end of everything in quotation marks. Linear in the length of the text."""
    return [match.span() for match in _QUOTATION.finditer(text)]


def without_quotations(text: str) -> str:
    """Returns a text with spaces in place of what others say."""
    return _QUOTATION.sub(" ", text)
