"""How much of what a source speaks about most a summary mentions."""

from collections.abc import Collection

from pipeline.judge.evidence.relevance import WordIndex

_WIDESPREAD = 50
"""Words that make up a source's subject; among 10 to 80 it matters little how many, measured on two data sets."""


def salient_share(source: WordIndex, told: Collection[str]) -> float:
    """Returns the share of the widespread words that the summary has, each weighted by its number of sentences.

    Args:
        source: words of the source.
        told: stems of the content words of what the summary says of the source.

    Returns:
        In [0, 1]; 0 for a source without content words.
    """
    widespread = source.widespread(_WIDESPREAD)
    total = sum(widespread.values())
    return sum(count for stem, count in widespread.items() if stem in told) / total if total else 0.0
