"""One passage of the source for one claim: the sentences that speak about it, with what they lean on, in their order.

Summarizers join what stands apart, so that no single sentence entails such a claim, and a small NLI model loses its way
in long premises. Sentences are ranked by the claim's words, rare ones, names and numbers first, and taken until the
passage is full. Words alone rank as well as words and embeddings do.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np

from pipeline.reading.document import ReadText
from pipeline.reading.index import Float64, WordIndex
from pipeline.reading.passage import LEFT_OUT, TextSpan
from pipeline.reading.word_lists import POINTING_WORDS
from pipeline.reading.word_table import WordTable

_VALUE_WEIGHT = 1.5  # of names and numbers, times their rarity
_POINTED_AT = 0.3  # of the weight of words in the sentence before a claim
_BEFORE, _AFTER = 0.3, 0.15  # what a sentence gains of its neighbours' weight
_REPEATED = 0.5  # what counts again of words that are in the passage already
_BEST = 2
_MOST_BETWEEN = 80  # characters between neighbours that are quoted too: a line end, a list mark, a heading


@dataclass(frozen=True, slots=True)
class Passage:
    """What the NLI model reads as premise of a claim."""

    span: TextSpan  # from the first sentence to the last; its text and its quote are the chosen sentences alone
    sentences: tuple[int, ...]  # the chosen ones, rising
    best: tuple[int, ...]  # those of them that have most of the claim's words, at most two; the first ones on a tie


def claim_weights(
    table: WordTable, words: Sequence[int], index: WordIndex, before: range | None = None
) -> dict[str, float]:
    """Returns how much each content stem of a claim counts: its rarity in the source, more for names and numbers.

    Args:
        table: of the text that the claim stands in.
        before: words of the sentence before it, which count a little when the claim begins with a word that points
            back to them.
    """
    weights = _own_weights(table, words, index)
    if before and words and table.words[words[0]] in POINTING_WORDS:
        for stem, weight in _own_weights(table, before, index).items():
            weights.setdefault(stem, _POINTED_AT * weight)
    return weights


def _own_weights(table: WordTable, words: Sequence[int], index: WordIndex) -> dict[str, float]:
    weights: dict[str, float] = {}
    for word in words:
        if table.content[word]:
            raw = table.raw(word)
            is_value = raw[0].isdigit() or (raw[0].isupper() and len(raw) > 1)
            weight = index.rarity(table.stems[word]) * (_VALUE_WEIGHT if is_value else 1.0)
            weights[table.stems[word]] = max(weight, weights.get(table.stems[word], 0.0))
    return weights


class PassageFinder:
    """Finds passages in one source.

    Attributes:
        read: the source.
        index: of its words.
    """

    def __init__(self, source: ReadText, most_chars: int, *, has_turns: bool = True) -> None:
        """Indexes the words. Linear in the length of the source.

        Args:
            most_chars: of a passage; a single longer sentence is read whole.
            has_turns: whether the text may be a dialogue, whose sentences are read with their speaker in front.
        """
        self.read, self.index, self._most = source, WordIndex(source), most_chars
        self._has_turns = has_turns
        self._lengths = [len(self._text(at)) for at in range(len(source.sentences))]
        self._whole_chars = self._chars(range(len(self._lengths)))

    def for_claim(self, weights: Mapping[str, float], short_chars: int) -> tuple[Passage, ...]:
        """Returns the passages, long and short, that a claim of such weights is compared with; none without source."""
        found = (self.passage(weights), self.passage(weights, most_chars=short_chars))
        return tuple({passage.sentences: passage for passage in found if passage}.values())

    def passage(
        self, weights: Mapping[str, float], among: frozenset[int] | None = None, most_chars: int | None = None
    ) -> Passage | None:
        """Returns the passage for a claim, the same for the same words; None for an empty source.

        Args:
            weights: of `claim_weights`.
            among: sentences that it may be made of; None: all.
            most_chars: of this passage. None: as of all.
        """
        most = self._most if most_chars is None else most_chars
        allowed: Collection[int] = range(len(self._lengths)) if among is None else among
        if not allowed:
            return None
        own = self.index.weighted(weights)
        is_whole = self._whole_chars <= most or (among is not None and self._chars(among) <= most)
        chosen = sorted(allowed if is_whole else self._choose(weights, own, allowed, most))
        text = " ".join(self._text(sentence) for sentence in chosen)
        best = sorted(chosen, key=lambda at: (-own[at], at))[:_BEST]
        return Passage(self._joined(chosen, text), tuple(chosen), tuple(best))

    def _joined(self, chosen: Sequence[int], text: str) -> TextSpan:
        """Returns sentences as one passage that quotes them alone, and what little stands between neighbours."""
        passages, normalized = self.read.passages, self.read.text
        runs = [[chosen[0]]]
        for before, at in pairwise(chosen):
            if at > before + 1 or passages[at].start > passages[before].end + _MOST_BETWEEN:
                runs.append([])
            runs[-1].append(at)
        quotes = (
            normalized.quote(passages[run[0]].start, passages[run[-1]].end, sum(len(passages[at].text) for at in run))
            for run in runs
        )
        first, last = passages[chosen[0]], passages[chosen[-1]]
        return TextSpan(normalized.text_id, first.start, last.end, LEFT_OUT.join(quotes), text)

    def _chars(self, sentences: Collection[int]) -> int:
        return sum(self._lengths[at] + 1 for at in sentences)

    def _choose(self, weights: Mapping[str, float], own: Float64, allowed: Collection[int], most: int) -> set[int]:
        """Takes the sentence with most that is new, again and again, with the one that it leans on."""
        near = own.copy()
        near[1:] += _BEFORE * own[:-1]
        near[:-1] += _AFTER * own[1:]
        missing, chosen, left = dict(weights), set[int](), most
        ranked = (at for at in np.argsort(-near, kind="stable").tolist() if at in allowed)
        candidates = list(islice(ranked, max(8, most // 20)))
        while candidates:
            fresh = self.index.weighted(missing)
            best = max(candidates, key=lambda at: (_REPEATED * near[at] + fresh[at], -at))
            candidates.remove(best)
            leans = best > 0 and best - 1 not in chosen and self._leans(best)
            for sentence in (best, best - 1) if leans else (best,):
                if sentence not in allowed or (chosen and self._lengths[sentence] > left):
                    continue
                chosen.add(sentence)
                left -= self._lengths[sentence] + 1
                missing = {stem: weight for stem, weight in missing.items() if not self.index.has(sentence, stem)}
        return chosen

    def _leans(self, sentence: int) -> bool:
        """Tells whether a sentence begins with a word that points back, or with "The ..." and has no name."""
        table, words = self.read.table, self.read.ranges[sentence]
        if not words:
            return False
        first = table.words[words[0]]
        return first in POINTING_WORDS or (first == "the" and not any(table.raw(at)[0].isupper() for at in words[1:]))

    def _text(self, sentence: int) -> str:
        speaker = self.read.sentences[sentence].speaker if self._has_turns else ""
        text = self.read.passages[sentence].text
        return f"{speaker} {text}" if speaker else text
