"""Edits that make a sentence say what its source does not: numbers, names and negation changed, sentences spliced.

As in FactCC (Kryscinski et al. 2020, arXiv 1910.12840), with two edits more that real summarizers are known for: the
end of one sentence joined to the beginning of another, and two names that change places. Every edit is a function of
the sentence, its document and a random generator, and gives None where it does not apply.

Names are runs of capitalised words; in texts without capitals, words that few documents use.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.text.sentences import split_sentences

MAX_SENTENCE_CHARS = 700
_WORD = re.compile(r"[A-Za-z]{4,}")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w\u2019'-]+(?: [A-Z][\w\u2019'-]+)*")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?=[\s%.,;:)]|$)")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|will|would|can|could|should|did|does)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|never) |n't\b", re.IGNORECASE)
_NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_MONTHS = "january february april june july august september october november december"  # without words of other senses
_ORDERED_WORDS = (_NUMBER_WORDS.split(), _WEEKDAYS.split(), _MONTHS.split())
_JOINT_LIST = "to in of for with on at by and was is has the after from that"
_JOINTS = frozenset(_JOINT_LIST.split())
_RARE_SHARE = 0.06  # of the documents
_LONGEST_TAIL = 18  # words
_LONGEST_SENTENCE = 40


class Edit(StrEnum):
    """What was done to a sentence."""

    NUMBER_SWAP = "number_swap"
    NAME_SWAP = "name_swap"
    NEGATION = "negation"
    ROLE_SWAP = "role_swap"
    SPLICE = "splice"
    FOREIGN = "foreign"  # a sentence of another document in its place


@dataclass(frozen=True)
class Document:
    """A source with its sentences."""

    text: str
    sentences: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Document":
        """Splits a text."""
        return cls(text, tuple(sentences_of(text)))


class Corrupter:
    """Edits sentences of documents that come from one collection.

    Args:
        documents: the whole collection: what is rare in it, and where foreign sentences come from.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        counts: Counter[str] = Counter()
        for document in documents:
            counts.update(set(_lower_words(document.text)))
        most = max(2.0, _RARE_SHARE * len(documents))
        self._frequent = {word for word, count in counts.items() if count > most}

    def apply(self, edit: Edit, sentence: str, document: Document, rng: random.Random) -> str | None:
        """Returns the edited sentence, different from the original; None where the edit does not apply."""
        edits: dict[Edit, Callable[[], str | None]] = {
            Edit.NUMBER_SWAP: lambda: swap_number(sentence, document.text, rng),
            Edit.NAME_SWAP: lambda: self.swap_name(sentence, document.text, rng),
            Edit.NEGATION: lambda: negate(sentence),
            Edit.ROLE_SWAP: lambda: self.swap_roles(sentence, rng),
            Edit.SPLICE: lambda: splice(sentence, document, rng),
            Edit.FOREIGN: lambda: self.foreign(document, rng),
        }
        edited = edits[edit]()
        return edited if edited != sentence else None

    def swap_name(self, sentence: str, text: str, rng: random.Random) -> str | None:
        """Replaces a name by another of the same document."""
        present = set(_lower_words(sentence))
        names = list(_NAME.finditer(sentence))
        others = [name for name in dict.fromkeys(_NAME.findall(text)) if not present & set(_lower_words(name))]
        if not names or not others:
            names = self._rare(sentence)
            words = [match.group() for match in self._rare(text)]
            others = [word for word in dict.fromkeys(words) if word.lower() not in present]
        if not names or not others:
            return None
        old = rng.choice(names)
        alike = [other for other in others if other[-2:].lower() == old.group()[-2:].lower()]
        return _replace(sentence, old, rng.choice(alike if alike and old.group().islower() else others))

    def swap_roles(self, sentence: str, rng: random.Random) -> str | None:
        """Lets two names change places."""
        names = self._rare(sentence)
        if len(names) < 2:  # noqa: PLR2004  # a pair
            return None
        first, second = sorted(rng.sample(names, 2), key=lambda match: match.start())
        if first.group().lower() == second.group().lower() or second.start() - first.end() < len(" and "):
            return None
        return _replace(_replace(sentence, second, first.group()), first, second.group())

    def foreign(self, document: Document, rng: random.Random) -> str | None:
        """Takes a sentence of another document."""
        other = rng.choice(self._documents)
        usable = [sentence for sentence in other.sentences if 5 < len(sentence.split()) < _LONGEST_SENTENCE]  # noqa: PLR2004
        return rng.choice(usable) if usable and other.text != document.text else None

    def _rare(self, text: str) -> list[re.Match[str]]:
        return [match for match in _WORD.finditer(text) if match.group().lower() not in self._frequent]


def swap_number(sentence: str, text: str, rng: random.Random) -> str | None:
    """Replaces a number, weekday or month by another."""
    digits = list(_NUMBER.finditer(sentence))
    words = [
        (match, group)
        for group in _ORDERED_WORDS
        for match in re.finditer(rf"\b(?:{'|'.join(group)})\b", sentence, re.IGNORECASE)
    ]
    if digits and (not words or rng.random() < 0.6):  # noqa: PLR2004  # most are written in digits
        old = rng.choice(digits)
        value = int(re.sub(r"\D", "", old.group().split(".")[0]) or "1")
        elsewhere = [number for number in dict.fromkeys(_NUMBER.findall(text)) if number != old.group()]
        return _replace(sentence, old, rng.choice([str(value + rng.choice([1, 2, 5, 10])), *elsewhere[:1]]))
    if not words:
        return None
    old, group = rng.choice(words)
    return _replace(sentence, old, rng.choice([word for word in group if word != old.group().lower()]))


def negate(sentence: str) -> str | None:
    """Takes a negation out, or puts one in after the first auxiliary verb."""
    if _NEGATION.search(sentence):
        return _NEGATION.sub("", sentence, count=1)
    verb = _AUXILIARY.search(sentence)
    return f"{sentence[: verb.end()]} not{sentence[verb.end() :]}" if verb else None


def splice(sentence: str, document: Document, rng: random.Random) -> str | None:
    """Joins the beginning of a sentence to the end of another at a small word that both have."""
    words = sentence.split()
    spliced = [
        " ".join([*words[:cut], *tail[joint:]])
        for cut in range(3, len(words) - 1)
        if words[cut].lower() in _JOINTS
        for tail in (other.split() for other in document.sentences if other != sentence)
        for joint in range(max(1, len(tail) - _LONGEST_TAIL), len(tail) - 2)
        if tail[joint].lower() == words[cut].lower()
    ]
    whole = document.text.lower()
    usable = [text for text in spliced if text.lower() not in whole]
    return rng.choice(usable) if usable else None


def sentences_of(text: str) -> Iterable[str]:
    """Yields the sentences of a text with white space collapsed."""
    for sentence in split_sentences(text, MAX_SENTENCE_CHARS):
        yield " ".join(text[sentence.start : sentence.end].split())


def _replace(sentence: str, old: re.Match[str], new: str) -> str:
    """Puts another word in a place, with the case of the word that stood there."""
    cased = new[:1].upper() + new[1:] if old.group()[:1].isupper() else new
    return sentence[: old.start()] + cased + sentence[old.end() :]


def _lower_words(text: str) -> list[str]:
    return [match.group().lower() for match in re.finditer(r"[A-Za-z]+", text)]
