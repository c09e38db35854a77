"""Sliding windows of sentences: the premises that a hypothesis is compared with."""

from collections.abc import Sequence

from pipeline.text.normalize import NormalizedText
from pipeline.text.passage import Passage
from pipeline.text.sentences import Sentence


def sentence_passages(source: NormalizedText, sentences: Sequence[Sentence]) -> tuple[Passage, ...]:
    """Returns each sentence as a passage."""
    return tuple(source.passage(sentence.start, sentence.end) for sentence in sentences)


def sliding_windows(source: NormalizedText, sentences: Sequence[Sentence], sizes: Sequence[int]) -> tuple[Passage, ...]:
    """Returns all runs of neighbouring sentences, small sizes first, then by position.

    A window's text is its sentences joined by a space: list marks and headings between them are not read. A text
    with fewer sentences than the smallest size is one window.

    Args:
        source: the text.
        sentences: its sentences, in order.
        sizes: in sentences, each at least 1.
    """
    singles = sentence_passages(source, sentences)
    windows = [
        _joined(source, sentences, singles, first, first + size)
        for size in sorted(sizes)
        for first in range(len(sentences) - size + 1)
    ]
    if not windows and sentences:
        windows = [_joined(source, sentences, singles, 0, len(sentences))]
    return tuple(windows)


def _joined(
    source: NormalizedText, sentences: Sequence[Sentence], singles: Sequence[Passage], first: int, last: int
) -> Passage:
    if last - first == 1:
        return singles[first]
    text = " ".join(single.text for single in singles[first:last])
    return source.passage(sentences[first].start, sentences[last - 1].end, text)
