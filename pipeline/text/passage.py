"""A passage: a stretch of one of the caller's texts, as evidence points to it and as models read it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Some sentences, a name, or a whole short text.

    Attributes:
        text_id: path of the text in the request, for example `datum.summary.key_facts[3]`.
        start: first character in Unicode code points of the text as the caller sent it, inclusive.
        end: exclusive.
        quote: the caller's characters from `start` to `end`.
        text: what models read: NFKC-normalised, white space collapsed, list markers left out.
    """

    text_id: str
    start: int
    end: int
    quote: str
    text: str
