"""Finds what the document says of terms that its summary lacks, for the critic to judge: are these details, or a loss?

The first terms of every kind in turn, each with the sentence, item or row in which it stands first. Linear in the
number of the document's terms, and in the length of the few batches that hold the passages.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain, zip_longest

from pipeline.reading.parts import split_parts
from pipeline.reading.terms import Term
from pipeline.summarize.meter import BatchTerms
from pipeline.summarize.packing import ChunkBatch
from pipeline.summarize.retention import Mentions, Retention

_MOST_PASSAGES = 24
_MOST_CHARS = 400  # of one


def find_lost_passages(
    retention: Retention,
    terms: BatchTerms,
    batches: tuple[ChunkBatch, ...],
    *,
    limit_tokens: int,
    count_tokens: Callable[[str], int],
) -> tuple[str, ...]:
    """Returns passages within a limit, in the order of the document. CPU-heavy: run it off the loop."""
    by_kind = ([Term(kind.kind, text) for text in kind.missing] for kind in retention.kinds)
    wanted = [term for term in chain.from_iterable(zip_longest(*by_kind)) if term is not None]
    found = _passages(_first_batches(wanted[:_MOST_PASSAGES], terms, len(batches)), batches)
    chosen: dict[tuple[int, int, int], str] = {}
    left = limit_tokens
    for place, passage in (found[term] for term in wanted if term in found):
        if place not in chosen and (tokens := count_tokens(passage)) <= left:
            chosen[place] = passage
            left -= tokens
    return tuple(passage for _, passage in sorted(chosen.items()))


def _first_batches(wanted: Iterable[Term], terms: BatchTerms, batch_count: int) -> dict[int, list[Term]]:
    """Returns the terms that each batch is the first to have."""
    left, found = set(wanted), defaultdict[int, list[Term]](list)
    for index in range(batch_count):
        if not left:
            break
        here = [term for term in terms.of(index) if term in left]
        found[index] += here
        left.difference_update(here)
    return found


def _passages(
    wanted: dict[int, list[Term]], batches: tuple[ChunkBatch, ...]
) -> dict[Term, tuple[tuple[int, int, int], str]]:
    """Returns where each term stands first, as batch, chunk and character, and the passage around it."""
    found: dict[Term, tuple[tuple[int, int, int], str]] = {}
    for index, terms in wanted.items():
        left = set(terms)
        for number, chunk in enumerate(batches[index].chunks):
            for part in split_parts(chunk.text) if left else ():
                words = chunk.text[part.start : part.end]
                mentions = Mentions.of(words)
                for term in [term for term in left if term in mentions.terms or mentions.says(term.text)]:
                    found[term] = (index, number, part.start), words[:_MOST_CHARS]
                    left.discard(term)
    return found
