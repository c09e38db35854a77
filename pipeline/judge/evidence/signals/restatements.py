"""Restatements: claims with one label that say nearly the same. Together they weigh as much as one.

What is true, or partly true, can be said in many ways, and every way would thin out what is wrong. So the rest of what
they weigh raises no score; of claims that are not supported it lowers scores still. Claims without a twin, nearly all
of ordinary summaries, weigh 1.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence

from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.claims import ClaimSpan
from pipeline.judge.evidence.draft import ReadTexts
from pipeline.judge.evidence.signals.statements import ClaimWords, count_same
from pipeline.reading.names import find_names
from pipeline.reading.passage import TextSpan
from pipeline.reading.values import Values
from pipeline.support.claim_support import ClaimLabel


def count_restatements(draft: ReadTexts, claims: Sequence[Claim]) -> list[int]:
    """Returns for each claim how many say the same, itself included; the same in any order of the summary.

    Claims are compared where they have one label and one sentence of the source as support.

    Args:
        claims: those of the draft, with their labels; only grounded ones are compared.
    """
    sentences = {passage.start: sentence for sentence, passage in enumerate(draft.source.read.passages)}
    about = defaultdict[tuple[ClaimLabel, int], list[int]](list)
    for at, claim in enumerate(claims):
        if claim.is_grounded and claim.support:
            about[claim.label, sentences[claim.support.start]].append(at)
    counts = [1] * len(claims)
    for (label, sentence), places in about.items():
        same = count_same([_statement(draft, draft.claims[at], label, sentence) for at in places])
        for at, count in zip(places, same, strict=True):
            counts[at] = count
    return counts


def _statement(draft: ReadTexts, span: ClaimSpan, label: ClaimLabel, sentence: int) -> ClaimWords:
    """Reads a claim: of one that the source supports, even in part, only the words that it has; "truly" says nothing.

    Args:
        sentence: of the source, the one that supports it.
    """
    table, index = draft.summary.read.table, draft.source.index
    found, names = Values.of(span.passage.text), find_names(table, span.words, draft.names)
    values = frozenset[object](
        (
            *((number.measure, number.value) for number in found.quantities),
            *((part.kind, part.value) for part in found.date_parts),
            *(table.stems[word] for name in names for word in range(name.first, name.last)),
        )
    )
    stems = frozenset(table.content_stems(span.words))
    if label is ClaimLabel.UNSUPPORTED:  # what it invents is what it says
        return ClaimWords(stems, stems, values)
    known = frozenset(filter(index.sentence_count, stems))
    return ClaimWords(known, frozenset(stem for stem in known if index.has(sentence, stem)), values)


def fewest_restatements(claims: Sequence[Claim], places: Sequence[TextSpan]) -> list[int]:
    """Returns for each place in the summary how often it is said: as its claim that is said least; 1 without claims."""
    starts = [claim.passage.start for claim in claims]
    ends = [claim.passage.end for claim in claims]
    return [
        min(
            (claim.times_said for claim in claims[bisect_right(ends, place.start) : bisect_left(starts, place.end)]),
            default=1,
        )
        for place in places
    ]
