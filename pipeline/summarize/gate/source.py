"""What an answer was made from, read once for all checks. Each part of the reading is made when it is first needed.

A sentence that stands in the input word for word needs no other check. It must be a whole sentence or line of it: the
beginning or end of one may say the opposite.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pipeline.reading.language import is_english, is_english_prose, names_english
from pipeline.reading.parts import split_parts
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import fold
from pipeline.summarize.gate.findings import FaultKind
from pipeline.summarize.gate.values import InputWords, KnownNumbers
from pipeline.support.claim_support import Hypothesis, SupportConfig
from pipeline.support.premises import PremiseFinder

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
        support: how its sentences and passages are cut.
    """

    texts: Sequence[str]
    context: Sequence[str] = ()
    name: str = ""
    language: str = ""
    orders: str = ""
    support: SupportConfig = field(default_factory=SupportConfig)

    def __post_init__(self) -> None:
        self.text = "\n\n".join(self.texts)
        self._orders = frozenset(map(fold, self.orders.splitlines())).union(folded_sentences(self.orders))
        self._lines = Counter(filter(None, map(fold, self.text.splitlines())))
        self._context_lines = frozenset(fold(line) for text in self.context for line in text.splitlines())

    @property
    def wants_english(self) -> bool | None:
        """Whether the answer shall be in English; None if no language was asked for."""
        return names_english(self.language) if self.language else None

    @cached_property
    def is_translated(self) -> bool:
        """Whether the answer shall be in another language, as far as English can be told, or in an unknown one."""
        return bool(self.language) and not (self.wants_english and is_english_prose(self.text))

    def count(self, folded: str) -> int:
        """Returns how often a line or sentence, folded, stands in the texts as a whole."""
        return max(self._lines[folded], self.sentences[folded])

    def has_line(self, folded: str) -> bool:
        """Tells whether a line stands in the texts; cheaper than `count`."""
        return folded in self._lines

    def has_lines(self, words: str) -> bool:
        """Tells whether something of several lines stands in the texts line by line."""
        lines = [folded for line in words.splitlines() if (folded := fold(line))]
        return len(lines) > 1 and all(map(self.has_line, lines))

    def is_context(self, folded: str) -> bool:
        """Tells whether a line or sentence stands in the context."""
        return folded in self._context_lines or folded in self._context_sentences

    def is_order(self, folded: str) -> bool:
        """Tells whether a line or sentence is one of the caller's wishes."""
        return folded in self._orders

    @cached_property
    def sentences(self) -> Counter[str]:
        """The sentences and lines of the texts, folded, and how often each stands there."""
        return Counter(folded_sentences(self.text))

    @cached_property
    def _context_sentences(self) -> frozenset[str]:
        return frozenset(sentence for text in self.context for sentence in folded_sentences(text))

    @cached_property
    def _everything(self) -> str:
        return unicodedata.normalize("NFKC", "\n\n".join((self.text, *self.context, self.name)))

    @cached_property
    def is_english(self) -> bool:
        """Whether names, passages and claims can be told; values can in any language."""
        return not self.is_translated and is_english(self.text)

    @cached_property
    def _numbers(self) -> KnownNumbers:
        return KnownNumbers.of(self._everything)

    @cached_property
    def _words(self) -> InputWords:
        return InputWords.of(self._everything)

    def value_faults(self, text: str, *, with_names: bool) -> list[tuple[FaultKind, str]]:
        """Returns the values of a sentence that are not those of the texts or the context."""
        line = unicodedata.normalize("NFKC", text)
        with_names = with_names and self.is_english  # German capitalises all nouns
        found = [*self._numbers.faults(line), *self._words.faults(line, with_names=with_names)]
        return [one for one in found if one[0] in _IN_ANY_LANGUAGE] if self.is_translated else found

    def has_code(self, line: str) -> bool:
        """Tells whether the texts have all words of a line of code."""
        return self._words.has_code(unicodedata.normalize("NFKC", line))

    def begins_with(self, folded: str) -> bool:
        """Tells whether a sentence of the texts goes on where a folded one ends."""
        return any(sentence.startswith(folded) for sentence in self.sentences)

    @cached_property
    def _finder(self) -> PremiseFinder:
        return PremiseFinder(self._everything, self.support)

    def claim(self, sentence: str) -> Hypothesis:
        """Returns a sentence as a model reads it: with the passages that speak of it."""
        return self._finder.find(sentence).hypothesis

    def is_twisted(self, sentence: str) -> bool:
        """Tells whether a sentence has the words of one of the texts, but a value or name that stands elsewhere.

        Small models miss that "V7" stands in the place of "V8". The sentences beside that one may lend their values
        where none of its own is missing.
        """
        table = WordTable.of(unicodedata.normalize("NFKC", sentence))
        values, words = _marked(table, range(len(table)))
        if len(words) < _FEWEST_WORDS or not values:
            return False
        shares = self._finder.index.shares({word: self._finder.index.rarity(word) for word in words})
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
        if not weights:
            return None
        shares = self._finder.index.shares(weights)
        best = max(range(len(shares)), key=lambda at: (shares[at], -at), default=None)
        if best is None or shares[best] < least_share:
            return None
        own = " ".join(self._finder.read.passages[best].quote.split())
        return own if self.count(fold(own)) else None  # not of the context, not cut


def _marked(table: WordTable, words: range) -> tuple[set[str], set[str]]:
    """Returns the stems of a sentence's values and names, and those of its other content words."""
    values, others = set[str](), set[str]()
    for at in words:
        if table.content[at]:
            raw = table.raw(at)
            is_value = any(map(str.isdigit, raw)) or (at > words.start and raw[0].isupper())
            (values if is_value else others).add(table.stems[at])
    return values, others


def folded_sentences(text: str) -> list[str]:
    """Returns the parts of a text in the form in which they are compared."""
    return [fold(text[part.start : part.end]) for part in split_parts(text)]
