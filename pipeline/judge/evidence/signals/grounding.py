"""Grounded sentences of a summary: those that say something of the source, rightly or wrongly.

The others may only lower a score, whatever a model thinks of them: they cover no key point, count no shared words, are
not asked about, soften no tone, and thin out nothing that is wrong. So filler, praise and orders to the judge that
nobody recognised do no good.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.draft import ReadTexts
from pipeline.reading.passages import Passage

_ENTAILED = 0.7  # a model is half sure of anything that says nothing


@dataclass(frozen=True, slots=True)
class Grounding:
    """The sentences of a summary by whether they are grounded; indices, rising.

    Attributes:
        grounded: say something of the source.
        others: do not.
    """

    grounded: tuple[int, ...]
    others: tuple[int, ...]

    def readings(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yields the two; when nothing is grounded, each sentence in turn as if it alone were. The worst one counts."""
        if self.grounded:
            yield self.grounded, self.others
            return
        for at, index in enumerate(self.others):
            yield (index,), (*self.others[:at], *self.others[at + 1 :])


def find_grounding(draft: ReadTexts, claims: Sequence[Claim], passages: Sequence[Passage | None]) -> Grounding:
    """Finds the grounded sentences of the summary (README, Evidence).

    Args:
        draft: what was read.
        claims: as checked, with their passages.
    """
    table = draft.summary.read.table
    found = set(draft.worded)
    for span, claim, passage in zip(draft.claims, claims, passages, strict=True):
        stems, among = table.content_stems(span.words), passage.sentences if passage else ()
        if claim.entailment >= _ENTAILED and draft.source.index.is_about(stems, among):
            found.add(claim.sentence_index)
    everything = range(len(draft.summary.read.sentences))
    return Grounding(
        tuple(index for index in everything if index in found),
        tuple(index for index in everything if index not in found),
    )
