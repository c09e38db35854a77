"""What an answer was made from, read once for all checks. Each part of the reading is made when it is first needed.

A sentence that stands in the input word for word needs no other check. It must be a whole sentence or line of it: the
beginning or end of one may say the opposite.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline.reading.language import is_english, is_english_prose, names_english
from pipeline.reading.sentences import split_sentences
from pipeline.reading.values import Date, TermKind, Values, find_terms, find_values
from pipeline.reading.word_lists import FUNCTION_WORDS
from pipeline.reading.word_table import WordTable, stem
from pipeline.reading.words import count_words, fold
from pipeline.summarize.gate.findings import FaultKind
from pipeline.summarize.retention import Mentions, Stated, find_stated
from pipeline.support.claim_support import Hypothesis, PremiseFinder


def value_faults(text: str, known: Values) -> Iterator[FaultKind]:
    """Yields what is wrong with the numbers, units and dates of a sentence that the input does not have."""
    for value in find_values(text):
        if isinstance(value, Date):
            if not known.states(value):
                yield FaultKind.DATE
        elif not known.states(value) or not (value.is_counted or known.has_dimension(value)):
            yield FaultKind.UNIT if known.has_number(value) else FaultKind.NUMBER


_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"))
_BETWEEN_PIECES = str.maketrans(dict.fromkeys("/,;|()[]{}<>=\"'“”‘’`:", " "))
_WORD = re.compile(r"[^\W_]+")
_CODES = {TermKind.VERSION, TermKind.PART_NUMBER, TermKind.PATH, TermKind.COMMAND}
_LEAST_KNOWN = 0.5  # of a name's words: writers add "Mr" and "Street"


def _pieces(text: str) -> Iterator[str]:
    return filter(None, (piece.strip(".!?*_-") for piece in text.lower().translate(_BETWEEN_PIECES).split()))


_CLOSE = 0.75  # of the weight of a sentence's words: it is that sentence, told again
_FEWEST_WORDS = 2
_IN_ANY_LANGUAGE = (FaultKind.NUMBER, FaultKind.CODE)


@dataclass(eq=False)
class SourceText:
    """One task's texts.

    Attributes:
        texts: what the answer is to be made from.
        context: what else the writer was shown; values of it are known, but its sentences are not to be said again.
        name: the document's.
        language: that the answer shall be in; empty for that of the texts.
        orders: the caller's wishes, which are no sentences of a summary.
    """

    texts: Sequence[str]
    context: Sequence[str] = ()
    name: str = ""
    language: str = ""
    orders: str = ""

    @cached_property
    def text(self) -> str:
        """The texts as one."""
        return "\n\n".join(self.texts)

    @cached_property
    def word_count(self) -> int:
        """Words of the texts."""
        return count_words(self.text)

    @cached_property
    def stated(self) -> list[Stated]:
        """The values of the texts."""
        return find_stated(self.text)

    @cached_property
    def wants_english(self) -> bool | None:
        """Whether the answer shall be in English; None if no language was asked for."""
        return names_english(self.language) if self.language else None

    @cached_property
    def is_translated(self) -> bool:
        """Whether the answer shall be in another language, as far as English can be told, or in an unknown one."""
        return bool(self.language) and not (self.wants_english and is_english_prose(self.text))

    @cached_property
    def is_english(self) -> bool:
        """Whether names, passages and claims can be told; values can in any language."""
        return not self.is_translated and is_english(self.text)

    @cached_property
    def lines(self) -> Counter[str]:
        """The lines of the texts, folded, and how often each stands there."""
        return Counter(filter(None, map(fold, self.text.splitlines())))

    @cached_property
    def sentences(self) -> Counter[str]:
        """Likewise the sentences."""
        return Counter(_folded_sentences(self.text))

    def count(self, words: str) -> int:
        """Returns how often a sentence or line, or something of several lines, stands in the texts as a whole."""
        folded = fold(words)
        lines = [line for line in map(fold, words.splitlines()) if line]
        is_in_lines = len(lines) > 1 and all(map(self.lines.__contains__, lines))
        return max(self.lines[folded], self.sentences[folded], is_in_lines)

    @cached_property
    def shown(self) -> frozenset[str]:
        """Sentences and lines, folded, that the writer saw and shall not say: the context and the wishes."""
        texts = (*self.context, self.orders)
        lines = (fold(line) for text in texts for line in text.splitlines())
        return frozenset(lines).union(*map(_folded_sentences, texts))

    @cached_property
    def _everything(self) -> str:
        return unicodedata.normalize("NFKC", "\n\n".join((self.text, *self.context, self.name)))

    @cached_property
    def _values(self) -> Values:
        return Values.of(self._everything)

    @cached_property
    def _dashed(self) -> str:
        return self._everything.translate(_DASHES)

    @cached_property
    def _mentions(self) -> Mentions:
        return Mentions.of(self._dashed)

    @cached_property
    def _word_pieces(self) -> frozenset[str]:
        """What the words are made of: "P-1" and "P-2" of "P-1/P-2"."""
        return frozenset(_pieces(self._dashed))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(map(stem, {*_WORD.findall(self._dashed.lower()), *self._word_pieces}))

    @cached_property
    def _finder(self) -> PremiseFinder:
        return PremiseFinder(self._everything)

    def value_faults(self, text: str, *, with_names: bool) -> list[FaultKind]:
        """Returns what is wrong with the values of a sentence that are not those of the texts or the context."""
        line = unicodedata.normalize("NFKC", text)
        with_names = with_names and self.is_english  # German capitalises all nouns
        faults = list(value_faults(line, self._values))
        for term in find_terms(line.translate(_DASHES)):
            if term.kind in _CODES and not self.has_code(term.text):
                faults.append(FaultKind.CODE)
            elif term.kind is TermKind.ENTITY and with_names and not self._has_name(term.text):
                faults.append(FaultKind.NAME)
        return [kind for kind in faults if kind in _IN_ANY_LANGUAGE or not self.is_translated]

    def has_code(self, line: str) -> bool:
        """Tells whether the texts have a line of code, or all words that it is made of."""
        code = unicodedata.normalize("NFKC", line)
        if any((kind, code) in self._mentions.terms for kind in TermKind) or self._mentions.says(code):
            return True
        return self._word_pieces.issuperset(_pieces(code))

    def _has_name(self, name: str) -> bool:
        words = [word for word in _WORD.findall(name) if word not in FUNCTION_WORDS]
        return sum(stem(word) in self._stems for word in words) >= _LEAST_KNOWN * len(words)

    def claim(self, sentence: str) -> Hypothesis:
        """Returns a sentence as a model reads it: with the passages that speak of it."""
        return self._finder.find(sentence).hypothesis

    def is_twisted(self, sentence: str) -> bool:
        """Tells whether a sentence has the words of one of the texts, but a value or name that stands elsewhere.

        Small models miss that "V7" stands in the place of "V8". The sentences beside that one may lend their values
        where none of its own is missing.
        """
        table, index = WordTable.of(unicodedata.normalize("NFKC", sentence)), self._finder.index
        values, words = _marked(table, range(len(table)))
        if len(words) < _FEWEST_WORDS or not values:
            return False
        shares = index.shares({word: index.rarity(word) for word in words})
        near = [at for at, share in enumerate(shares.tolist()) if share >= _CLOSE]
        return bool(near) and not any(self._has_values(at, values, values | words) for at in near)

    def _has_values(self, sentence: int, values: set[str], told: set[str]) -> bool:
        """Tells whether values are those of a sentence, or of those beside it and it has no others."""
        table, ranges = self._finder.read.table, self._finder.read.ranges
        if values <= set(table.content_stems(ranges[sentence])):
            return True
        around = {one for words in ranges[max(0, sentence - 1) : sentence + 2] for one in table.content_stems(words)}
        return values <= around and _marked(table, ranges[sentence])[0] <= told

    def own_sentence(self, sentence: str, least_share: float) -> str | None:
        """Returns the sentence of the texts that says most of what another one does; None if none says enough."""
        weights = self._finder.weights(sentence)
        shares = self._finder.index.shares(weights) if weights else ()
        best = max(range(len(shares)), key=lambda at: (shares[at], -at), default=None)
        if best is None or shares[best] < least_share:
            return None
        own = " ".join(self._finder.read.passages[best].quote.split())
        return own if self.count(own) else None  # not of the context, not cut


def _marked(table: WordTable, words: range) -> tuple[set[str], set[str]]:
    """Returns the stems of a sentence's values and names, and those of its other content words."""
    values, others = set[str](), set[str]()
    for at in words:
        if table.content[at]:
            raw = table.raw(at)
            is_value = any(map(str.isdigit, raw)) or (at > words.start and raw[0].isupper())
            (values if is_value else others).add(table.stems[at])
    return values, others


def _folded_sentences(text: str) -> list[str]:
    return [fold(text[part.start : part.end]) for part in split_sentences(text)]
