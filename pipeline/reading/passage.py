"""A passage: a stretch of one of the caller's texts, as evidence points to it and as models read it."""

from dataclasses import dataclass

LEFT_OUT = " … "
"""Stands in a quote for what it leaves out."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text: its first character, and the one behind its last."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Some sentences, a name, or a whole short text."""

    text_id: str  # path of the text in the request, for example `datum.summary.key_facts[3]`
    start: int  # first character in Unicode code points of the text as the caller sent it, inclusive
    end: int  # exclusive
    # the caller's characters from `start` to `end`. Of sentences that stand apart those of the sentences alone, with
    # `LEFT_OUT` between them: the rest may be most of a long text. Of characters without shape, by which a short
    # sentence may be a whole text, most are left out too.
    quote: str
    text: str  # what models read: NFKC-normalised, white space collapsed, list markers left out
