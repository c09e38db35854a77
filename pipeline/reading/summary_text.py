"""Reads a summary without what states nothing of its source."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from pipeline.reading.document import ReadText, read_respaced
from pipeline.reading.headings import statements
from pipeline.reading.instructions import MARKER, instruction_length
from pipeline.reading.lead_ins import with_labels, without_lead_in
from pipeline.reading.markup import without_markup
from pipeline.reading.repeats import without_repeats
from pipeline.reading.sentences import Sentence, claims, split_sentences
from pipeline.reading.unrelated import split_unrelated
from pipeline.reading.word_table import KnownWords

_TURN = re.compile(rf"(?:{MARKER.pattern})\s*", MARKER.flags)


def read_summary(text_id: str, original: str, max_sentence_chars: int, source: KnownWords) -> ReadText:
    """Reads a summary without what states nothing of its source; linear in its length.

    Left out are headings and labels that only name what follows, markup, orders that tell the judge how to grade and
    lead-ins, also those in front of a statement, and what repeats another sentence. What is left out is blank, so that
    places stay. When nothing else is left, it is kept.

    Args:
        source: what the summary is about.
    """
    text = read_respaced(text_id, original, source)
    marked = without_markup(text.text)
    turns = {turn.end(): turn.start() for turn in _TURN.finditer(marked)}
    bare = _TURN.sub(lambda turn: "\n\n".ljust(len(turn.group())), marked)
    split = split_sentences(bare, max_sentence_chars)
    whole = statements(bare, split, source)
    sentences = tuple(_without_left_over(bare, one) for one in split_unrelated(bare, whole, source))
    said = [
        rest
        for sentence in sentences
        if (rest := _without_order(marked, sentence, turns.get(sentence.start, sentence.start), source))
    ]
    stated = [rest for sentence in said if (rest := without_lead_in(bare, sentence, source))]
    if not stated:
        return ReadText.split(text, sentences or claims(split_sentences(text.text, max_sentence_chars)))
    whole_stated = with_labels(bare, stated, max_sentence_chars, source)
    kept = without_repeats(bare, whole_stated, source)
    read = ReadText.split(replace(text, text=_blanked(bare, sentences, kept)), kept)
    return replace(
        read,
        table=replace(read.table, openings=frozenset(words[0] for words in read.ranges if words)),
        instruction_count=len(frozenset(sentences).difference(said)),
        lead_in_count=len(frozenset(said).difference(stated)),
        repeat_count=len(frozenset(whole_stated).difference(kept)),
        heading_count=len(split) - len(whole),
    )


_ENDED = re.compile(r"[.!?][\"'”’)\]]{0,3}$")
_LOOSE_MARK = re.compile(r"[^\w'’”)\]»]+")


def _without_left_over(text: str, sentence: Sentence) -> Sentence:
    """Leaves out marks that stand by themselves behind the end of a sentence: with them a model reads it otherwise."""
    rest, end = text[sentence.start : sentence.end], sentence.end
    while len(parts := rest.rsplit(None, 1)) > 1 and _LOOSE_MARK.fullmatch(parts[1]):
        if '"' in parts[1] and parts[0].count('"') % 2:
            break  # it closes a quotation
        if _ENDED.search(rest):
            end = sentence.start + len(rest)
        rest = parts[0]
    return replace(sentence, end=sentence.start + len(rest) if _ENDED.search(rest) else end)


def _without_order(marked: str, sentence: Sentence, turn: int, source: KnownWords) -> Sentence | None:
    """Returns what a sentence states behind an order to the judge; None when it is an order and nothing else.

    Args:
        turn: where the marks before the sentence begin.
    """
    start = max(sentence.start, turn + instruction_length(marked[turn : sentence.end], source))
    start += len(marked[start : sentence.end]) - len(marked[start : sentence.end].lstrip())
    return replace(sentence, start=start) if start < sentence.end else None


def _blanked(text: str, sentences: Sequence[Sentence], kept: Sequence[Sentence]) -> str:
    """Returns a text of the same length with spaces in place of what is not kept of its sentences.

    Args:
        kept: parts of the sentences, in order; a part may go on to the end of the next sentence.
    """
    pieces, end, left = list[str](), 0, deque(kept)
    for sentence in sentences:
        pieces.append(text[end : sentence.start])
        end = max(end, sentence.start)
        while left and left[0].start < sentence.end:
            part = left.popleft()
            pieces += [" " * (part.start - end), text[part.start : part.end]]
            end = part.end
        pieces.append(" " * (sentence.end - end))
        end = max(end, sentence.end)
    return "".join([*pieces, text[end:]])
