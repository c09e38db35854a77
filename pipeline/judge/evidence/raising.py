"""What may raise a score? A sentence that says something of the source, and of claims that say the same only one.

Everything else can only lower a score, whatever a model thinks of it. Filler, praise and orders to the judge say
nothing of the source; the same truth said again adds nothing. So none of them thins out what is wrong. This is the one
defence of the scores against such texts, and `pipeline.judge.exact.guarded_mean` is where it acts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.draft import ReadTexts
from pipeline.off_loop import stop_if_nobody_waits
from pipeline.reading.passages import Passage
from pipeline.support.claim_support import ClaimLabel

_ENTAILED = 0.7  # a model is half sure of anything that says nothing


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
    found = set(draft.worded)
    for span, claim, passage in zip(draft.claims, claims, passages, strict=True):
        stems, among = table.content_stems(span.words), passage.sentences if passage else ()
        if claim.entailment >= _ENTAILED and draft.source.index.is_about(stems, among):
            found.add(claim.sentence_index)
    return found


def find_repeats(draft: ReadTexts, claims: Sequence[Claim]) -> set[int]:
    """Returns the claims that say no more than another one with their label: it has all of their words.

    Words that the source does not know say nothing in a supported claim. Of claims with the same words the least
    probable one counts. The order in the summary does not matter.
    """
    table, known = draft.summary.read.table, draft.source.index.sentence_count
    words: list[frozenset[str]] = []
    for span, claim in zip(draft.claims, claims, strict=True):
        keeps_all = claim.label is ClaimLabel.UNSUPPORTED  # what it invents is what it says
        stems = frozenset(table.content_stems(span.words))
        words.append(frozenset(stem for stem in stems if keeps_all or known(stem) or not stem.isalpha()))
    order = sorted(
        range(len(claims)), key=lambda at: (-len(words[at]), claims[at].probability, claims[at].passage.text)
    )
    having: dict[tuple[ClaimLabel, str], list[frozenset[str]]] = {}
    repeats = set[int]()
    for at in order:
        stop_if_nobody_waits()
        others = [having.setdefault((claims[at].label, stem), []) for stem in words[at]]
        if others and any(words[at] <= other for other in min(others, key=len)):
            repeats.add(at)
        for with_stem in others:
            with_stem.append(words[at])
    return repeats
