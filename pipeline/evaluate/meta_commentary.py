"""Finds sentences that talk about the summary or the document instead of their subject.

Patterns are anchored at the start of a sentence and ask for a subject and a verb together: "The document states that
fees rose" is meta-commentary, "The document was signed in 1945" and "The summary judgment covers fees" are not.
"The report found" is not either: reports are often what a text is about; "This report describes" is. English only.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from pipeline.text.normalize import NormalizedText
from pipeline.text.passage import Passage
from pipeline.text.sentences import Sentence

_SUMMARY = r"(?:summary|overview|synopsis|abstract|recap|digest)"
_DOCUMENT = (
    r"(?:(?:source|original) text|source document|document|text|article|passage|excerpt|transcript|authors?|writer)"
)
_OWN_DOCUMENT = r"(?:report|paper|essay|study|memo(?:randum)?|chapter|blog post|guide)"
_ADVERB = r"(?: (?:[a-z]{2,20}ly|also|then|will|aims to|seeks to|attempts to|goes on to))?"
_VERBS = (
    *("addresses", "argues?", "begins? (?:by|with)", "captures?", "concludes?", "contains?", "covers?", "deals? with"),
    *("describes?", "details?", "discuss(?:es)?", "emphasi[sz]es?", "examines?", "explains?", "explores?"),
    *("focus(?:es)? on", "gives?", "highlights?", "includes?", "introduces?", "is about", "mentions?", "notes?"),
    *("offers?", "outlines?", "presents?", "provides?", "reports?", "says?", "states?", "stress(?:es)?"),
    *("summari[sz]es?", "talks? about", "touch(?:es)? on", "walks? through"),
)
_VERB = f"(?:{'|'.join(_VERBS)})"
_OPENINGS = (
    # This brief summary covers ...
    rf"(?:this|the(?: (?:following|above|present|below))?) (?:[\w-]{{1,20}} ){{0,2}}?{_SUMMARY}{_ADVERB} {_VERB}\b",
    # The document states ...
    rf"(?:this|the|said) {_DOCUMENT}{_ADVERB} {_VERB}\b",
    rf"this {_OWN_DOCUMENT}{_ADVERB} {_VERB}\b",
    # In this article, ...
    rf"(?:in|according to|as (?:discussed|mentioned|noted|stated) in) (?:this|the) (?:{_SUMMARY}|{_DOCUMENT})\s*,",
    rf"the (?:aim|goal|purpose) of this (?:{_SUMMARY}|{_DOCUMENT}|{_OWN_DOCUMENT}) is\b",
    # Here is a concise summary ...
    rf"(?:here(?:['’]s| is| are)|(?:below|the following|what follows) is) (?:[\w-]{{1,20}} ){{0,4}}?{_SUMMARY}\b",
    r"(?:let me|i(?:['’](?:ll|ve)| have| will)?) summari[sz]ed?\b",
    r"as an? (?:ai|(?:large )?language model)\b",
)
# Emphasis and a label ("**Summary:** ") may stand in front.
_LEAD = r"[*_~(\s]*+(?:(?:note|summary|overview|abstract|tl;?dr)\s*[:-][*_\s]*)?+"
_META = re.compile(f"{_LEAD}(?:{'|'.join(_OPENINGS)})".replace(" ", r"\s+"), re.IGNORECASE)
_LONGEST_MATCH = 200
# Quotes close within their paragraph, or they are not counted as quotes.
_QUOTED = re.compile(
    r'"[^"\n]*+"|“[^“”]*+”|„[^„“”]*+[“”]|«[^«»]*+»|「[^「」]*+」|『[^『』]*+』|^[ \t]*>[^\n]*+$', re.MULTILINE
)


def find_meta_commentary(source: NormalizedText, sentences: Sequence[Sentence]) -> Passage | None:
    """Returns the opening words of the first such sentence. Quoted text, and block quotes, are exempt."""
    quotes = [match.span() for match in _QUOTED.finditer(source.text)]
    quote_starts = [start for start, _ in quotes]
    for sentence in sentences:
        match = _META.match(source.text, sentence.start, min(sentence.end, sentence.start + _LONGEST_MATCH))
        if match is None:
            continue
        quote = bisect_right(quote_starts, sentence.start) - 1
        if quote < 0 or sentence.start >= quotes[quote][1]:
            return source.passage(*match.span())
    return None
