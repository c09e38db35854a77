"""Which sentences of a summary say something of the source, whether rightly or wrongly.

A sentence that the source has nothing of cannot help: it covers no key point by what a model makes of its wording, its
everyday words are not those of the source, and it does not soften the tone of the others. It still is a claim, and can
do harm.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.judge.evidence.draft import Side
from pipeline.judge.evidence.plan import Plan
from pipeline.judge.evidence.table import Claim

_ENTAILED = 0.5
_LEAST_SHARE = 0.5  # of a sentence's content words, weighted by rarity, in one place of the source
_LEAST_WORDS = 3  # fewer are there by chance
_MOST_SENTENCES = 200  # that are looked for; later ones are taken to be grounded


@dataclass(frozen=True, slots=True)
class Told:
    """The sentences of a summary by what they are good for; indices, rising.

    Attributes:
        grounded: say something of the source.
        others: do not.
    """

    grounded: tuple[int, ...]
    others: tuple[int, ...]

    def or_all(self) -> "Told":
        """Returns the same, or all as grounded when none is: a text without evidence is compared as a whole."""
        return self if self.grounded else Told(self.others, ())


def find_told(plan: Plan, claims: Sequence[Claim]) -> Told:
    """Divides the sentences of the summary.

    Args:
        plan: of the table.
        claims: those that were checked.
    """
    summary = plan.draft.summary.read
    entailed = {claim.sentence_index for claim in claims if claim.entailment >= _ENTAILED}
    grounded = [
        index in entailed
        or index >= _MOST_SENTENCES
        or _has_words(plan.draft.source, dict.fromkeys(summary.table.content_stems(summary.ranges[index])))
        for index in range(len(summary.sentences))
    ]
    return Told(
        tuple(index for index, is_grounded in enumerate(grounded) if is_grounded),
        tuple(index for index, is_grounded in enumerate(grounded) if not is_grounded),
    )


def _has_words(source: Side, stems: dict[str, None]) -> bool:
    """Tells whether one window of the source has most of some stems."""
    if len(stems) < _LEAST_WORDS:
        return False
    for size, windows in source.windows.items():
        shares = source.index.shares(stems, size)
        best = int(shares.argmax())
        found = sum(any(source.index.has(place, stem) for place in windows[best].sentences) for stem in stems)
        if shares[best] >= _LEAST_SHARE and found >= _LEAST_WORDS:
            return True
    return False
