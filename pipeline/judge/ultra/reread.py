"""Rereads disputed claims: more of the source at once, around the places that spoke for and against them.

A claim that is put together from several sentences is not entailed by any one of them. Wider windows are no better
premises as such (this reads the source as a small NLI model does, which loses its way in long ones), so they may only
add support to a claim, never take it away.
"""

from collections.abc import Sequence
from dataclasses import replace

from pipeline.judge.evidence.claim import Claim, WindowScore
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.windows import Window, make_windows
from pipeline.protocols import CONTRADICTION, ENTAILMENT, Entailment, Float32
from pipeline.text.passage import TextSpan

_SMALLEST = 3


async def reread(table: EvidenceTable, indices: Sequence[int], widest: int, *, entailment: Entailment) -> EvidenceTable:
    """Returns the table with wider windows read for some claims; in one submission.

    Args:
        table: the evidence so far.
        indices: of the claims to reread.
        widest: sentences of the largest windows.
        entailment: the NLI model that wrote the table.
    """
    text = ReadText.of("source", table.source, EvidenceConfig().max_sentence_chars)
    sizes = range(min(_SMALLEST, widest), widest + 1)
    windows = [window for of_size in make_windows(text, sizes).values() for window in of_size]
    chosen = {index: _around(table.claims[index], windows) for index in indices}
    pairs = [(window.passage.text, table.claims[index].passage.text) for index in chosen for window in chosen[index]]
    if not pairs:
        return table
    scores = await entailment.entail(pairs)
    claims, first = list(table.claims), 0
    for index, read in chosen.items():
        claims[index] = _updated(claims[index], read, scores[first : first + len(read)])
        first += len(read)
    return replace(table, claims=tuple(claims))


def _around(claim: Claim, windows: Sequence[Window]) -> list[Window]:
    """Returns the windows that hold what spoke for or against a claim."""
    places = [place for place in (claim.support, claim.opposition) if place is not None]
    return [window for window in windows if any(_holds(window.passage, place) for place in places)]


def _holds(outer: TextSpan, inner: TextSpan) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _updated(claim: Claim, windows: Sequence[Window], scores: Float32) -> Claim:
    """Adds what the windows say; they may replace the stitched premise, which is a wide one too."""
    if not len(scores):
        return claim
    best = int(scores[:, ENTAILMENT].argmax())
    support, contradiction = float(scores[best, ENTAILMENT]), float(scores[best, CONTRADICTION])
    features = claim.features
    read = WindowScore(windows[best].size, support, contradiction)
    features = replace(features, windows=(*features.windows, read))
    if support > features.stitched_entailment:
        features = replace(features, stitched_entailment=support, stitched_contradiction=contradiction)
    if support <= claim.entailment:
        return replace(claim, features=features)
    return replace(claim, features=features, entailment=support, support=windows[best].passage)
