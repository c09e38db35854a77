"""Rereads disputed claims in wider windows of the source, around the places that spoke for and against them.

No single sentence entails a claim that was put together from several. Wider windows are no better premises as such: a
small NLI model loses its way in long ones. So they may add support to a claim, and never take it away.
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
    """Returns the table with some claims reread in wider windows; asks the NLI model once.

    Args:
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
    """Adds the best of the windows, which may replace the stitched premise: it is a wide window too."""
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
