"""Headings: those that only name what follows state nothing, and no claim may hide in the others.

A newspaper's heading is a statement ("Mayor arrested for fraud"), and in a summary it has to be checked. English only.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from pipeline.reading.sentences import BlockKind, Sentence
from pipeline.reading.verbs import FINITE_VERBS, is_verb
from pipeline.reading.word_table import KnownWords, WordTable

_WORD = re.compile(r"[\w'’-]+")
_NUMBER = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){0,4}|[IVX]{1,5}|[A-Z])[.:)]?\s+(?=\S)")  # of a section
_TITLE_WORDS = range(4, 9)  # fewer state nothing, more are a statement
_TITLE_OPENINGS = frozenset(["how", "why", "what", "when", "where", "who", "which", "whether"])
_PREDICATES = frozenset(["dead", "guilty", "missing", "bankrupt", "ill"])
_COUNTED = frozenset(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "hundreds", "millions"])
_PAST_LIST = """
    stole broke drove shot caught bought built fought burnt sank drew chose flew hid rode tore threw fled struck died
    lied sued swore won lost paid sold hit beat
"""
_PAST = frozenset(_PAST_LIST.split())  # that `is_verb` does not know, or not as a past tense alone
_ASKED_LIST = "happened changed started worked needed mattered learned learnt expected included used planned called"
_ASKED = frozenset(_ASKED_LIST.split())  # "What happened"
_NO_VERB = ("ss", "us", "is")


def statements(text: str, sentences: Sequence[Sentence], source: KnownWords | None = None) -> list[Sentence]:
    """Returns the sentences without headings that only name what follows; a text of nothing else keeps them.

    Args:
        text: normalised.
        source: what the text is about; None when it is the source.
    """
    stated = [one for one in sentences if one.kind is not BlockKind.HEADING or _states(text, one, source)]
    return stated or list(sentences)


def _states(text: str, heading: Sentence, source: KnownWords | None) -> bool:
    written = text[heading.start : heading.end].strip("*_# ")
    if number := _NUMBER.match(written):
        written = written[number.end() :]
    words = _WORD.findall(written)
    folded = [word.casefold() for word in words]
    if len(words) > 1 and written.endswith((".", "!")):
        return True
    is_question = bool(words) and folded[0] in _TITLE_OPENINGS
    if len(words) < _TITLE_WORDS.start or is_question:
        is_finite = not is_question and any(word in FINITE_VERBS for word in folded[1:])
        return len(words) not in range(_TITLE_WORDS.stop) or is_finite or _tells_news(written, source)
    says = any(is_verb(word) or word in _PREDICATES or word[0].isdigit() for word in folded[1:])
    return says or _has_present(words) or written.endswith("?") or len(words) not in _TITLE_WORDS


def _tells_news(written: str, source: KnownWords | None) -> bool:
    """Tells whether a short heading has a past tense that the source has not: of what it has, counted or asked for."""
    table = WordTable.of(written)
    if source is None or not table.words:  # "6.3 --"
        return False
    is_new = [source.sentence_count(stem) == 0 for stem in table.stems]
    is_about = table.words[0] in _COUNTED | _TITLE_OPENINGS
    return any(
        is_new[index] and _is_past(word) and (is_about or not all(is_new[:index]))
        for index, word in enumerate(table.words)
        if index
    )


def _is_past(word: str) -> bool:
    return (word.endswith("ed") and is_verb(word) and word not in _ASKED) or word in _PAST


def _has_present(words: Sequence[str]) -> bool:
    """Tells whether a verb in its third person stands before a number or a name: "Gate kills four divers"."""
    is_title_case = all(word[0].isupper() for word in words if len(word) > len("with"))
    for word, following in pairwise(words[1:]):
        is_name = following[0].isupper() and not is_title_case
        may_be_verb = word.islower() and word.endswith("s") and not word.endswith(_NO_VERB)
        if may_be_verb and (is_name or following[0].isdigit() or following.casefold() in _COUNTED):
            return True
    return False
