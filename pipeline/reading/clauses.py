"""Cuts a text into claims: sentences, or clauses of them.

Each claim is checked alone, by a model that reads whole sentences, so that a sentence is cut rarely: at a semicolon, or
at a comma with a conjunction, in a run-on sentence at any comma, before a clause with a noun as its subject and a verb
of its own. A clause that begins with a pronoun stays with what the pronoun means, and one that may stand within "he
said", "if" or "because" stays there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.reading.document import ReadText
from pipeline.reading.passage import TextSpan
from pipeline.reading.rules import Rule
from pipeline.reading.word_lists import FINITE_VERBS, is_verb, word_list
from pipeline.reading.word_table import WordTable

_BOUNDARY = re.compile(r"(?:[;,]\s+(?:and|but|while|whereas|although|though|yet|so)|;)\s+(?=\w)", re.IGNORECASE)
_RUN_ON_BOUNDARY = re.compile(rf"{_BOUNDARY.pattern}|,\s+(?=\w)", re.IGNORECASE)
_RUN_ON_WORDS = 40  # of longer sentences any comma may end a statement
_BREAK = re.compile(r'[,;:()"“”–—]')
_PRONOUNS = frozenset(["he", "she", "it", "they", "we", "i", "you", "there"])
_DETERMINERS = word_list("determiners")
_NO_SUBJECTS = _DETERMINERS | frozenset(["and", "or", "but", "nor"])
_BEFORE_PARTICIPLES = frozenset(["be", "been", "being", "is", "are", "was", "were", "to", "not"])
_OBJECTS = _DETERMINERS | word_list("objects")
_RELATIVES = frozenset(["who", "whom", "whose", "which", "that", "where", "when", "if", "because", "than", "as"])
_SCOPES = word_list("scopes")  # what they govern may reach over the next conjunction
_OPENERS = frozenset(
    ["after", "before", "since", "as", "once", "while", "although", "though", "even", "neither", "either"]
)
_VERB_WITHIN_WORDS = 8
_FEWEST_WORDS = 4

CLAUSES = Rule(
    "clauses",
    "judge",
    "A clause with a subject and a verb of its own is a claim.",
    "The bridge closed, and the council resigned.",
    "two claims",
)


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


def _clauses(summary: ReadText, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cuts a sentence before clauses that are statements of their own; not inside quotation marks and brackets."""
    if not CLAUSES.is_on:
        yield start, end
        return
    first, table = start, summary.table
    pattern = _RUN_ON_BOUNDARY if len(table.between(start, end)) > _RUN_ON_WORDS else _BOUNDARY
    for boundary in pattern.finditer(summary.text.text, start, end):
        at_semicolon = boundary.group().startswith(";")
        before, after = (first, boundary.start()), (boundary.end(), end)
        if boundary.group().strip() == "," and any(table.words[word] in _OPENERS for word in table.between(*before)):
            continue
        if _stands_alone(summary, *before, at_semicolon=at_semicolon) and _has_subject(
            summary, *after, at_semicolon=at_semicolon
        ):
            yield before
            first = boundary.end()
    yield first, end


def _stands_alone(summary: ReadText, start: int, end: int, *, at_semicolon: bool) -> bool:
    """Tells whether words end a statement: nothing is open, no list is under way, nothing governs what follows."""
    text, table, words = summary.text.text[start:end], summary.table, summary.table.between(start, end)
    is_open = text.count('"') % 2 == 1 or text.count("“") > text.count("”") or text.count("(") > text.count(")")
    if is_open or len(words) < _FEWEST_WORDS or not any(is_verb(table.words[index]) for index in words[1:]):
        return False
    if at_semicolon:
        return True
    if table.words[words[0]] in _OPENERS or any(table.words[index] in _SCOPES for index in words):
        return False
    last = table.between(start + text.rfind(",") + 1, end)  # an item of a list has no verb
    return any(is_verb(table.words[index]) for index in last)


def _has_subject(summary: ReadText, start: int, end: int, *, at_semicolon: bool) -> bool:
    """Tells whether words begin with a subject and its verb."""
    table, words = summary.table, summary.table.between(start, end)
    if len(words) < _FEWEST_WORDS:
        return False
    if table.words[words[0]] in _PRONOUNS:
        return at_semicolon and _is_finite(table, words[1])
    if table.words[words[0]] not in _DETERMINERS and not table.raw(words[0])[0].isupper():
        return False
    for index in words[1 : 1 + _VERB_WITHIN_WORDS]:
        is_broken = _BREAK.search(table.text, table.ends[index - 1], table.starts[index])
        if is_broken or table.words[index] in _RELATIVES:
            return False
        if _is_finite(table, index):
            return table.words[index - 1] not in _NO_SUBJECTS
    return False


def _is_finite(table: WordTable, index: int) -> bool:
    """Tells whether a word is a finite verb; one that may be a participle or a noun is, in front of an object."""
    word = table.words[index]
    if word in FINITE_VERBS or not is_verb(word):
        return word in FINITE_VERBS
    following = table.words[index + 1] if index + 1 < len(table) else ""
    return table.words[index - 1] not in _BEFORE_PARTICIPLES and (following in _OBJECTS or following[:1].isdigit())
