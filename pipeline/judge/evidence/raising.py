"""What may raise a score? A sentence that says something of the source, and of claims that say the same only one.

Everything else can only lower a score, whatever a model thinks of it. Filler, praise and orders to the judge say
nothing of the source; the same truth said again adds nothing. So none of them thins out what is wrong. This is the one
defence of the scores against such texts, and `pipeline.judge.exact.guarded_mean` is where it acts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from pipeline.judge.evidence.claims import ClaimSpan
from pipeline.judge.evidence.plan import ReadTexts
from pipeline.judge.evidence.table import Claim
from pipeline.off_loop import stop_if_nobody_waits
from pipeline.reading.passages import Passage
from pipeline.reading.rules import Rule
from pipeline.support.claim_support import ClaimLabel

_MOST_COMPARED = 64  # claims, with one: that keeps the work linear
_ENTAILED = 0.7  # a model is half sure of anything that says nothing


GROUNDING = Rule(
    "grounding",
    "judge",
    "A sentence that says nothing of the source can raise no score.",
    "This is a topic that many people care about.",
    "may_raise: false",
)
REPEATS = Rule(
    "repeats",
    "judge",
    "Of claims that say the same only one may raise a score.",
    "The bridge closed. Truly, the bridge closed.",
    "may_raise: one of two",
)


@dataclass(frozen=True, slots=True)
class RaisingSentences:
    """The sentences of a summary by whether they may raise a score; indices, rising.

    Attributes:
        raising: say something of the source, rightly or wrongly, and not only what another one says.
        others: can only lower a score.
    """

    raising: tuple[int, ...]
    others: tuple[int, ...]

    def readings(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yields the two; when none may raise, each sentence in turn as if it alone might. The worst one counts."""
        if self.raising:
            yield self.raising, self.others
            return
        for at, index in enumerate(self.others):
            yield (index,), (*self.others[:at], *self.others[at + 1 :])


def mark_raising(
    draft: ReadTexts, claims: Sequence[Claim], passages: Sequence[Passage | None]
) -> tuple[tuple[Claim, ...], RaisingSentences]:
    """Returns the claims, each with whether it may raise a score, and the same of the sentences.

    Args:
        draft: what was read.
        claims: as checked, with their passages.
    """
    grounded, repeats = _grounded(draft, claims, passages), find_repeats(draft, claims)
    marked = tuple(
        replace(claim, may_raise=claim.sentence_index in grounded and at not in repeats)
        for at, claim in enumerate(claims)
    )
    raising = {claim.sentence_index for claim in marked if claim.may_raise}
    own = grounded - ({claim.sentence_index for claim in marked} - raising)
    everything = range(len(draft.summary.read.sentences))
    return marked, RaisingSentences(
        tuple(index for index in everything if index in own), tuple(index for index in everything if index not in own)
    )


def _grounded(draft: ReadTexts, claims: Sequence[Claim], passages: Sequence[Passage | None]) -> set[int]:
    """Returns the sentences that say something of the source: their words say so, or a model's entailment."""
    table = draft.summary.read.table
    if not GROUNDING.is_on:
        return set(range(len(draft.summary.read.sentences)))
    found = set(draft.worded)
    for span, claim, passage in zip(draft.claims, claims, passages, strict=True):
        stems, among = table.content_stems(span.words), passage.sentences if passage else ()
        if claim.entailment >= _ENTAILED and draft.source.index.is_about(stems, among):
            found.add(claim.sentence_index)
    return found


def find_repeats(draft: ReadTexts, claims: Sequence[Claim]) -> set[int]:
    """Returns the claims that say no more than another one, in whatever order they stand.

    One has all words of the other, and their label; or they have the same words of the source, and the other is less
    probable. Words that the source does not know say nothing, but in a claim that it does not support.
    """
    if not REPEATS.is_on:
        return set()
    table, known = draft.summary.read.table, [_known_words(draft, span) for span in draft.claims]
    stems = [
        frozenset(table.content_stems(span.words)) if claim.label is ClaimLabel.UNSUPPORTED else words
        for span, claim, words in zip(draft.claims, claims, known, strict=True)
    ]
    return _parts_of_others(claims, stems) | _equals(claims, known)


def _known_words(draft: ReadTexts, span: ClaimSpan) -> frozenset[str]:
    """Returns the stems of a claim that the source has, and its numbers."""
    stems, is_known = draft.summary.read.table.content_stems(span.words), draft.source.index.sentence_count
    return frozenset(stem for stem in stems if is_known(stem) or not stem.isalpha())


def _doubt(claim: Claim) -> tuple[float, str]:
    """Orders claims that say the same: the least probable one first, then what is written in small letters."""
    return claim.probability, claim.passage.text.swapcase()


def _parts_of_others(claims: Sequence[Claim], words: Sequence[frozenset[str]]) -> set[int]:
    """Returns the claims whose words another one with their label has; of equal ones all but the least probable."""
    order = sorted(range(len(claims)), key=lambda at: (-len(words[at]), *_doubt(claims[at])))
    having: dict[tuple[ClaimLabel, str], list[frozenset[str]]] = {}
    found = set[int]()
    for at in order:
        stop_if_nobody_waits()
        others = [having.setdefault((claims[at].label, stem), []) for stem in words[at]]
        with_rarest = min(others, key=len, default=[])
        if any(words[at] <= other for other in islice(with_rarest, _MOST_COMPARED)):
            found.add(at)
        for with_stem in others:
            with_stem.append(words[at])
    return found


def _equals(claims: Sequence[Claim], words: Sequence[frozenset[str]]) -> set[int]:
    """Returns the claims whose words a less probable one of another label has."""
    labels, found = dict[frozenset[str], ClaimLabel](), set[int]()
    for at in sorted(range(len(claims)), key=lambda at: _doubt(claims[at])):
        if len(words[at]) > 1 and labels.setdefault(words[at], claims[at].label) is not claims[at].label:
            found.add(at)
    return found
