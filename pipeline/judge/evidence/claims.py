"""Cuts a summary into claims and segments.

A claim is a sentence, or a clause of one: a sentence is cut where a conjunction begins a clause with a subject of its
own. A segment is a sentence, cut at semicolons and at line ends too, those of wrapped prose among them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.judge.evidence.text.names import find_names, known_names
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.values import Values
from pipeline.protocols import Tokenizer
from pipeline.text.passage import TextSpan

_BOUNDARY = re.compile(
    r"(?:,\s+|\s+)(?:and|but|while|whereas|although|though|yet|so)\s+(?=\w)|;\s+(?=\w)", re.IGNORECASE
)
_SUBJECT_LIST = """
    he she it they we i you this that these those there the a an his her its their our my your another some many most
    both each several all no one two three four five
"""
_SUBJECTS = frozenset(_SUBJECT_LIST.split())
_VERB_LIST = """
    is are was were be been am has have had do does did will would can could may might must shall should says said say
    won lost took went came made got gave found left told saw became began ran fell rose grew kept held brought thought
    felt met paid sold sent spent stood understood wrote spoke led hit cut put set beat shot died lives plays faces
    wants needs plans believes hopes claims remains includes became makes takes goes comes gives finds leaves tells sees
    becomes begins runs falls rises grows keeps holds brings thinks feels means shows seems looks appears works
    isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't can't couldn't
"""
_VERBS = frozenset(_VERB_LIST.split())
_VERB_WITHIN_WORDS = 8
_FEWEST_WORDS = 4
_SHORTEST_PARTICIPLE = 5
_VALUE_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class ClaimSpan:
    """A claim before anything is known about it.

    Attributes:
        passage: where it stands in the summary.
        sentence_index: of the sentence it stands in.
        content_count: content words, repeats included.
    """

    passage: TextSpan
    words: range
    sentence_index: int
    content_count: int


def find_claims(summary: ReadText) -> tuple[ClaimSpan, ...]:
    """Returns all claims in order. Every content word of the summary's statements is in exactly one of them."""
    return tuple(
        ClaimSpan(
            passage=summary.text.passage(start, end),
            words=words,
            sentence_index=index,
            content_count=sum(summary.table.content[word] for word in words),
        )
        for index, sentence in enumerate(summary.sentences)
        for start, end in _clauses(summary, sentence.start, sentence.end)
        if len(words := summary.table.between(start, end))
    )


def most_consequential(claims: Sequence[ClaimSpan], summary: ReadText, most: int) -> tuple[ClaimSpan, ...]:
    """Returns the claims that say most, in order: content words, and numbers, dates and names twice."""
    if len(claims) <= most:
        return tuple(claims)
    known = known_names(summary.table)

    def weight(claim: ClaimSpan) -> float:
        values = Values.of(claim.passage.text)
        names = find_names(summary.table, claim.words, known)
        return claim.content_count + _VALUE_WEIGHT * (len(values.quantities) + len(values.date_parts) + len(names))

    ranked = sorted(range(len(claims)), key=lambda index: (-weight(claims[index]), index))
    return tuple(claims[index] for index in sorted(ranked[:most]))


def _clauses(summary: ReadText, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cuts a sentence; neither inside quotation marks nor where a part would be no statement."""
    text = summary.text.text
    first = start
    for boundary in _BOUNDARY.finditer(text, start, end):
        before = text[first : boundary.start()]
        is_quoted = before.count('"') % 2 == 1 or before.count("“") > before.count("”")
        if is_quoted or not _is_statement(summary, first, boundary.start(), needs_subject=False):
            continue
        if _is_statement(summary, boundary.end(), end, needs_subject=True):
            yield first, boundary.start()
            first = boundary.end()
    yield first, end


def _is_statement(summary: ReadText, start: int, end: int, *, needs_subject: bool) -> bool:
    """Tells whether some words can stand alone: enough of them, a verb, and a subject in front if asked for."""
    words = summary.table.between(start, end)
    if len(words) < _FEWEST_WORDS:
        return False
    table = summary.table
    looked_at = words[1 : 1 + _VERB_WITHIN_WORDS] if needs_subject else words[1:]
    if not any(_is_verb(table.words[index]) for index in looked_at):
        return False
    return not needs_subject or table.words[words[0]] in _SUBJECTS or table.raw(words[0])[0].isupper()


def _is_verb(word: str) -> bool:
    return word in _VERBS or (word.endswith("ed") and len(word) >= _SHORTEST_PARTICIPLE)


_SEGMENT_END = re.compile(r"[;；\n\v\f\r\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class SegmentSpan:
    """A segment before anything is known about its meaning.

    Attributes:
        passage: where it stands in the summary.
        sentences: of the summary that it is a part of, or made of.
        token_count: by the request's tokenizer.
        stems: distinct stems of its content words.
    """

    passage: TextSpan
    sentences: range
    token_count: int
    stems: frozenset[str]

    def containment(self, article: frozenset[str]) -> float:
        """Returns the share of its stems that the article has, in [0, 1]; 1 without content words."""
        return len(self.stems & article) / len(self.stems) if self.stems else 1.0

    def jaccard(self, article: frozenset[str]) -> float:
        """Returns shared stems of all stems of both, in [0, 1]."""
        union = self.stems | article
        return len(self.stems & article) / len(union) if union else 0.0


def find_segments(summary: ReadText, tokenizer: Tokenizer, min_tokens: int) -> tuple[SegmentSpan, ...]:
    """Returns the segments of at least `min_tokens` tokens; the whole summary as one when all are shorter."""
    segments = [
        _segment(summary, start, end, range(index, index + 1), tokenizer)
        for index, sentence in enumerate(summary.sentences)
        for start, end in _parts(summary.text.text, sentence.start, sentence.end)
    ]
    long_enough = [segment for segment in segments if segment.token_count >= min_tokens]
    if long_enough:
        return tuple(long_enough)
    return (_segment(summary, 0, len(summary.text.text), range(len(summary.sentences)), tokenizer),)


def _segment(summary: ReadText, start: int, end: int, sentences: range, tokenizer: Tokenizer) -> SegmentSpan:
    passage = summary.text.passage(start, end)
    stems = summary.table.content_stems(summary.table.between(start, end))
    return SegmentSpan(passage, sentences, len(tokenizer.offsets(passage.text)), frozenset(stems))


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cuts a sentence at semicolons and line ends, and leaves out the spaces around the parts."""
    cuts = [(cut.start(), cut.end()) for cut in _SEGMENT_END.finditer(text, start, end)]
    for first, last in zip((start, *(cut[1] for cut in cuts)), (*(cut[0] for cut in cuts), end), strict=True):
        part = text[first:last]
        if part.strip():
            yield first + len(part) - len(part.lstrip()), first + len(part.rstrip())
