"""Splits texts into sentences, for the whole project.

nupunkt (MIT, typed, no dependencies) decides where prose ends a sentence. On 3,200 paragraphs of manuals and news it
kept abbreviations and brackets apart better than sentencex. It needs about 0.4 s for 1 MB, whatever the text, unlike
pysbd (quadratic) and syntok (1.2 s). Around it stand five rules of ours. Blocks and CJK full stops end sentences,
German ones are known, a function word opens one, and an overlong sentence is cut.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise
from string import digits

from nupunkt import sent_spans

from pipeline.off_loop import stop_if_nobody_waits, stoppable
from pipeline.reading.blocks import LIST_KINDS, TABLE_KINDS, Block, BlockKind, read_blocks
from pipeline.reading.passage import Span
from pipeline.reading.rules import Rule
from pipeline.reading.word_lists import FUNCTION_WORDS, PROSE_WORDS, any_of, phrase_list, word_list
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import fold_case

MAX_SENTENCE_CHARS = 2_000
"""Of a sentence that no model need read whole."""
_ENDS_OPEN = tuple(",;:-–—(")
_ENDS_SENTENCE = tuple(".!?…")
_QUOTES = "`\"'“‘"
_NARROWEST = 40  # characters, to which text is wrapped
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_OPENERS = "「『《〈【“‘"
_CLOSERS = r"[”’」』】》〉)\]\"']*+"
# NFKC has turned the full-width ！ and ？ into ASCII, which ends a CJK sentence only where CJK text goes on.
# A quotation that the sentence goes on from ("「止めて。」と言った") ends none.
_CJK_END = re.compile(
    rf"[。!?](?:(?<=。)(?<!。。)。*+(?![」』]と){_CLOSERS}|(?<=[!?])(?<![!?]{{2}})[!?]*+{_CLOSERS}(?=[{_CJK}{_CJK_OPENERS}]))"
)
_FOOTNOTES = re.compile(r"(?:\[\^?\w{1,4}\])+\s*")
# nupunkt's time grows with the square of a word's length: "!)" a million times would take hours.
_OVERLONG_WORD = re.compile(r"\S{200,}(?=\S)")
_PART_CHARS = 100_000
_OPEN_SENTENCES = 2  # at the end of a part: what follows may change where they end


@dataclass(frozen=True, slots=True)
class Sentence(Span):
    """A sentence, a list item, a row of a table or a line of code: what is compared one by one."""

    kind: BlockKind  # of the block it stands in; that of prose for a turn, a listing without a fence and a line alone
    speaker: str = ""  # who says it, with a colon, unless it begins with that; empty for what is no speech
    said: int = 0  # where it goes on behind who speaks, and when; its start if it does not begin with that

    @property
    def is_prose(self) -> bool:
        """Whether it is a sentence or a list item: what a model can compare with a passage."""
        return self.kind is BlockKind.PROSE or self.kind in LIST_KINDS


def split_sentences(text: str, max_chars: int = MAX_SENTENCE_CHARS) -> list[Sentence]:
    """Returns the sentences of a normalised text in order, without white space around them.

    Parts without any letter or digit (rules, table separators) are left out.

    Args:
        max_chars: a longer sentence is cut at white space, or in the middle of a word if there is none.
    """
    ends = sorted(_prose_ends(text) | {match.end() for match in _CJK_END.finditer(text)})
    return [
        Sentence(
            *(start, end, block.sentence_kind),
            speaker=block.mark if is_said and start >= block.start else "",
            said=max(start, min(block.start, end)),
        )
        for block in read_blocks(text)
        for is_said in [block.kind is BlockKind.TURN]
        for stretch in _stretches(text, block, block.first if is_said else block.start)
        for piece in stoppable(pairwise(_bounds(stretch, ends)) if block.kind is not BlockKind.CODE else [stretch])
        for start, end in _cut_overlong(text, *piece, max_chars)
        if any(map(str.isalnum, text[start:end]))
    ]


def _stretches(text: str, block: Block, start: int) -> Sequence[tuple[int, int]]:
    """Returns what no sentence of a block crosses: all of it, or its lines."""
    lines = [(start + first, start + last) for first, last in split_lines(text[start : block.end])]
    if block.kind in (BlockKind.CODE, *TABLE_KINDS) or _are_items(text, lines):
        return lines
    cuts = speech_cuts(text[block.start : block.end]) if block.kind in (BlockKind.TURN, BlockKind.PROSE) else []
    return list(pairwise([start, *(block.start + cut for cut in cuts), block.end]))


_LONGEST_UNSTOPPED, _LONGEST_SPOKEN, _SHORTEST_SPOKEN = 60, 24, 8


def speech_cuts(said: str) -> list[int]:
    """Returns where 60 words or more without stops are cut: at line ends, capitals and conjunctions, or at a bound."""
    words = said.split()
    most_stops = len(words) // _LONGEST_UNSTOPPED
    if not most_stops or sum(not word[-1].isalnum() for word in words) > most_stops:
        return []
    cuts, position, count = list[int](), 0, 0
    for word in stoppable(words):
        start = said.index(word, position)
        is_break = "\n" in said[position:start] or word[0].isupper() or word in word_list("connectives")
        if count >= _LONGEST_SPOKEN or (is_break and count >= _SHORTEST_SPOKEN):
            cuts.append(start)
            count = 0
        position, count = start + len(word), count + 1
    return cuts


def _are_items(text: str, lines: Sequence[tuple[int, int]]) -> bool:
    """Tells whether each line is one of its own, without a mark in front or behind, and no wrapped prose.

    Each begins with a capital, a digit or a quotation, none leaves something open, and one ends although the next one's
    first word has room.
    """
    firsts = [text[start] for start, _ in lines]
    if not lines[1:] or not all(one.isupper() or one.isdigit() or one in _QUOTES for one in firsts):
        return False
    width = max(_NARROWEST, *(end - start for start, end in lines))
    has_room = False
    for (start, end), (following, last) in pairwise(lines):
        if text.endswith(_ENDS_OPEN, start, end) or text[start:end].rsplit(None, 1)[-1] in FUNCTION_WORDS:
            return False
        word = text[following:last].split(None, 1)[0]
        has_room |= end - start + 1 + len(word) <= width and not text.endswith(_ENDS_SENTENCE, start, end)
    return has_room


def split_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yields the lines of a text that have a letter or digit, without white space around them."""
    position = 0
    for line in text.splitlines(keepends=True):
        words = line.strip()
        if any(map(str.isalnum, words)):
            first = position + line.index(words)
            yield first, first + len(words)
        position += len(line)


def claims(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Leaves out headings, which state nothing; a text of nothing but headings keeps them."""
    return [sentence for sentence in sentences if sentence.kind is not BlockKind.HEADING] or sentences


FEWEST_WORDS = 9  # a heading with more is a statement
HEADINGS = Rule(
    "headings",
    "reading",
    "A heading, or a line above others, without a verb, a full stop and nine words states nothing.",
    "## The old bridge",
    "no statement",
)


def statements(table: WordTable, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Returns the sentences without headings that only name what follows; a text of nothing else keeps them.

    English only: elsewhere no word is a verb.
    """
    if not HEADINGS.is_on:
        return list(sentences)
    stated = [one for one in sentences if one.kind is not BlockKind.HEADING or states(table, one.start, one.end)]
    return stated or list(sentences)


def states(table: WordTable, start: int, end: int) -> bool:
    """Tells whether a heading says what happened: it ends like a sentence, is as long as one, or has a verb."""
    heading = table.text[start:end]
    words = heading.split()
    is_whole = heading.rstrip("*_# ").endswith((".", "!")) or len(words) >= FEWEST_WORDS
    return is_whole or table.has_verb(table.between(start + len("".join(words[:1])), end))


def _prose_ends(text: str) -> set[int]:
    """Asks nupunkt, and leaves a footnote mark with the sentence before it."""
    bounded = _OVERLONG_WORD.sub(lambda word: "x" * len(word.group()), text)
    ends = _spans_by_parts(bounded)
    if is_german(text):  # a sentence alone may be too short to tell its language
        ends = {end for end in ends if not _german_goes_on(text, end)}
    else:
        ends = {end for end in ends if not _is_german_day(text, end)}
    ends.update(_missed(text))
    return {footnotes.end() if (footnotes := _FOOTNOTES.match(text, end)) else end for end in ends}


def _spans_by_parts(text: str) -> set[int]:
    """Asks nupunkt part by part, so that it can be stopped; a part begins with the last whole sentence before it."""
    ends, start, known = set[int](), 0, 0
    while start + _PART_CHARS < len(text):
        stop_if_nobody_waits()
        whole = sent_spans(text[start : start + _PART_CHARS])[:-_OPEN_SENTENCES]
        ends.update(start + end for _, end in whole[known:])
        known = int(len(whole) > 1)  # else a part is nearly one sentence, and the next begins in its midst
        start += whole[-1][0] if known else _PART_CHARS // 2
    return ends.union(start + end for _, end in sent_spans(text[start:])[known:])


def _bounds(stretch: tuple[int, int], ends: list[int]) -> list[int]:
    start, last = stretch
    return [start, *ends[bisect_right(ends, start) : bisect_left(ends, last)], last]


def _cut_overlong(text: str, start: int, end: int, max_chars: int) -> Iterator[tuple[int, int]]:
    """Yields a stretch without white space around it, in pieces if it is longer than `max_chars`."""
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end:
        if text[start].isspace():
            start += 1
            continue
        cut = end
        if end - start > max_chars:
            space = max(text.rfind(space, start + 1, start + max_chars) for space in " \n")
            cut = space if space > start else start + max_chars
        yield start, start + len(text[start:cut].rstrip())
        start = cut


# German writes ordinals with a full stop ("am 3. Mai", "im 2. Stock"), and every noun with a capital letter, so that
# the letter after a full stop says little. What decides is the word before a number, and the first word after it.
_GERMAN_CHARS = 20_000
_FEWEST_GERMAN = 3
_AROUND_WORDS = '.,;:!?()„“”"*_'
_ABBREVIATED = re.compile(rf"(?<![\w-])(?:{any_of('german_abbreviations')}|[A-Za-z]|§§?)\.$")
_ORDINAL = re.compile(r"(?:(?<![\w.,-])([^\W\d_]+)\s+)?(?<![\w.,])\(?\d{1,3}\.$")
_MONTH = re.compile(rf"\s*{any_of('german_months')}\b")
_GERMAN_DAY = re.compile(r"\b(?:am|bis|de[mnr]|seit|vom|zum)\s+\d{1,2}\.$")
_GERMAN_OPENER = re.compile(rf"\s*{any_of('german_openers')}\b")
_MAY_BE_MISSED = re.compile(r"(?<=[a-zäöüß]{4}[.!?])\s++(?=([^\W\d_a-z]\w*)\s)")
_LOOK_BACK = 60


def is_german(text: str) -> bool:
    """Tells whether a text is German, by its first 20,000 characters."""
    words = [word.strip(_AROUND_WORDS) for word in text[:_GERMAN_CHARS].split()]
    german = [word for word in words if word in word_list("german_words")]
    english = sum(word in word_list("english_words") for word in words)
    return len(set(german)) >= _FEWEST_GERMAN and len(german) > 2 * english


def _is_german_day(text: str, end: int) -> bool:
    """Tells whether the day of a date ends here: "am 3. Mai"."""
    before = text[max(0, end - _LOOK_BACK) : end].rstrip()
    return before[-2:-1].isdigit() and bool(_GERMAN_DAY.search(before) and _MONTH.match(text, end))


def _german_goes_on(text: str, end: int) -> bool:
    before = text[max(0, end - _LOOK_BACK) : end].rstrip()
    after = text[end : end + _LOOK_BACK].lstrip()
    if not before.endswith(".") or not after:
        return False
    if after[0].islower():
        return True
    if _GERMAN_OPENER.match(after):
        return False
    ordinal = _ORDINAL.search(before)
    if ordinal is None or _MONTH.match(after):
        return ordinal is not None or _ABBREVIATED.search(before) is not None
    return fold_case(ordinal.group(1) or "") in word_list("german_before_ordinals")


def _missed(text: str) -> Iterator[int]:
    """Yields the ends of sentences that a word of four small letters, no abbreviation, and a function word part.

    nupunkt takes "hall", "wall" and "book" for abbreviations.
    """
    for match in _MAY_BE_MISSED.finditer(text):
        end, word = match.start(), match[1]
        is_opener = word.lower() in FUNCTION_WORDS or word in word_list("german_openers")
        if is_opener and not _ABBREVIATED.search(text, max(0, end - _LOOK_BACK), end):
            yield end


_SAID_BEHIND = ("who", "which", "whose", "whom", "with")  # "Those who ..." says at once who is meant
_MOST_WORDS_BEFORE = 4  # a pronoun
_EDGES = "\"'“”‘’(),;:.!?*_`[]…"


class Antecedent(Enum):
    """What a sentence needs before it: "It is read at start.", "If this is not set, ..." say nothing alone."""

    ENTRY = auto()  # what it is about, such as the parameter: "The default is 8 MB.", "This option is on."
    SENTENCE = auto()  # the one before it


def points_back(text: str) -> Antecedent | None:
    """Returns what a sentence needs to be understood; None if it stands alone."""
    opening = text.lstrip(_EDGES + digits + " ")  # "10.2 It renews for a year."
    words = [word.strip(_EDGES).replace("’", "'").lower() for word in opening.split(None, _MOST_WORDS_BEFORE + 2)]
    words += [""] * 2
    if words[0] == "the":
        return Antecedent.ENTRY if words[1] in word_list("relative_words") else None
    phrases = tuple(f"{phrase} " for phrase in phrase_list("connective_phrases"))
    act = int(words[0] == "to")  # on what it does not name: "To install it", "Store them"
    lacks_object = words[act + 1] in ("it", "them") and words[act] not in FUNCTION_WORDS
    if words[0] in word_list("connectives") or " ".join(words).startswith(phrases) or lacks_object:
        return Antecedent.SENTENCE
    for word, following in pairwise(words):
        if word in word_list("pronouns"):
            is_said = following in word_list("parts_of_texts") or (word == "those" and following in _SAID_BEHIND)
            found = Antecedent.ENTRY if following in word_list("relative_words") else Antecedent.SENTENCE
            return None if is_said else found
        if not (word in PROSE_WORDS or word in word_list("words_before_pronouns") or word.endswith("ing")):
            break
    return None


def starts_inside(text: str) -> bool:
    """Tells whether a text begins in the middle of a sentence: with a small letter or a closing mark."""
    return text[:1] in ",;:)]}" or text.lstrip("([\"'“‘")[:1].islower()
