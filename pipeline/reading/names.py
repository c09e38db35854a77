"""Names, by their capital letters, and negations.

Text in capitals or in CJK script has no names. A capital at the start of a sentence says nothing. The first word is a
name with a capitalised word behind it, or where it stands capitalised inside a sentence elsewhere. In a text in lower
case the words are names that stand capitalised in the other text.
"""

import re
from dataclasses import dataclass, replace

from pipeline.off_loop import stoppable
from pipeline.reading.document import ReadText
from pipeline.reading.values import Values
from pipeline.reading.word_lists import FUNCTION_WORDS, phrase_list, word_list
from pipeline.reading.word_table import WordTable

_NO_NAMES = FUNCTION_WORDS | word_list("no_names")
_MOST_CAPITALS = 0.5  # a headline capitalises most of its words; its capitals say nothing
_FEW_WORDS = 6
_BEFORE_WORD = 6  # characters that show whether a sentence begins
_SENTENCE_END = re.compile(r"""[.!?:;…。！？][\s"'”’)\]]*$|^\W*$|[\n•|“"]\s*$""")
_GAP = re.compile(r"[\s'’&.-]{1,3}")


def find_names(table: WordTable, indices: range, known: frozenset[str]) -> list[range]:
    """Returns the names among some words of a text, in order: runs of words, capitalised where the text has capitals.

    Args:
        known: casefolded words that stand capitalised inside a sentence somewhere.
    """
    capitals = [
        index
        for index in indices
        if (_is_capitalised(table.raw(index)) or (not table.is_cased and table.words[index] in known))
        and table.words[index] not in _NO_NAMES
    ]
    if len(indices) > _FEW_WORDS and len(capitals) > _MOST_CAPITALS * len(indices):
        return []
    names: list[range] = []
    for index in capitals:
        if names and _GAP.fullmatch(table.text, table.ends[names[-1][-1]], table.starts[index]):
            names[-1] = range(names[-1][0], index + 1)
        else:
            names.append(range(index, index + 1))
    return [
        name for name in names if len(name) > 1 or table.words[name[0]] in known or not _starts_sentence(table, name[0])
    ]


def known_names(table: WordTable) -> frozenset[str]:
    """Returns the casefolded words that stand capitalised inside a sentence somewhere; "THE SHIP SANK" has none."""
    return frozenset(
        table.words[index]
        for index in stoppable(range(len(table)))
        if _is_capitalised(table.raw(index))
        and not _starts_sentence(table, index)
        and not (table.raw(index).isupper() and table.raw(index - 1).isupper())
    )


def _is_capitalised(word: str) -> bool:
    return word[:1].isupper() and len(word) > 1


def _starts_sentence(table: WordTable, index: int) -> bool:
    return index in table.openings or starts_sentence(table.text, table.starts[index])


def starts_sentence(text: str, start: int) -> bool:
    """Tells whether a word begins a sentence or line, by what stands before it."""
    before = start
    while before and text[before - 1].isspace():  # long where a sentence was left out
        before -= 1
    return bool(_SENTENCE_END.search(text, max(0, before - _BEFORE_WORD), start))


DIRECT_CUES = word_list("negations")
"""Cues that negate and mean nothing else."""
CUES = DIRECT_CUES | word_list("weak_negations")

_NO_NEGATIONS = frozenset(phrase_list("no_negations"))


def cues(table: WordTable, indices: range, vocabulary: frozenset[str] = CUES) -> list[int]:
    """Returns the indices of negations among some words; "not only" is none."""
    found = ((at, table.words[at], "".join(table.words[at + 1 : at + 2])) for at in indices)
    return [
        at
        for at, word, following in found
        if word in vocabulary
        and f"{word} {following}" not in _NO_NEGATIONS
        and not (word == "no" and following[:1].isdigit())  # no 1
    ]


_MOST_UNMATCHED_NAME = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class SourceValues:
    """The values of a source, which claims are compared with."""

    text: ReadText  # the source
    values: Values
    stems: frozenset[str]
    joined: str  # all words in order, with a space before and after each
    # that stand capitalised inside a sentence of the source, or of a summary that was added
    known_names: frozenset[str]

    @classmethod
    def of(cls, source: ReadText) -> "SourceValues":
        """Reads a source. Linear in its length."""
        table, joined = source.table, f" {' '.join(source.table.words)} "
        return cls(source, Values(source.text.text), frozenset(table.stems), joined, known_names(table))

    def with_names_of(self, summary: WordTable) -> "SourceValues":
        """Returns the same with the names of a summary among those known."""
        return replace(self, known_names=self.known_names | known_names(summary))

    def has_words(self, table: WordTable, words: range) -> bool:
        """Tells whether the source has some words next to each other in the same order."""
        return f" {' '.join(table.words[at] for at in words)} " in self.joined

    def has_name(self, table: WordTable, name: range) -> bool:
        """Tells whether the source has most words of a name, in some form."""
        indices = [index for index in name if table.content[index]]
        missing = sum(table.stems[index] not in self.stems for index in indices)
        return missing < len(indices) * _MOST_UNMATCHED_NAME or (missing == 0)
