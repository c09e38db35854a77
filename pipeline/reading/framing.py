"""Framing: words about the summary or the document in place of their subject. English only.

`find_meta_commentary` asks whether a text has any. Patterns are anchored at the start of a sentence and ask for a
subject and a verb together: "The document states that fees rose" is meta-commentary, "The document was signed in 1945"
and "The summary judgment covers fees" are not. "The report found" is not either: reports are often what a text is
about; "This report describes" is.

`framing_length` asks how much of a sentence only frames a summary, and states nothing: all of "Here is a summary of the
passage:" and of "Let me know if you need more.", the beginning of "Based on the passages, twins happen when ...". What
is left out is never checked. So all of its words are on a closed list, `data/framing.txt`, which has no number and no
denial; only what announces a summary may name its subject, in words that the source has.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from string import digits

from pipeline.reading.characters import NormalizedText
from pipeline.reading.passage import TextSpan
from pipeline.reading.sentences import Sentence
from pipeline.reading.word_lists import FUNCTION_WORDS, any_phrase, is_verb, phrase_list, word_list
from pipeline.reading.words import fold_case

_SUMMARY, _DOCUMENT, _OWN_DOCUMENT = map(any_phrase, ("meta_summaries", "meta_documents", "meta_own_documents"))
_ADVERB, _VERB = f"(?: {any_phrase('meta_adverbs')})?", any_phrase("meta_verbs")
_OPENINGS = (
    # This brief summary covers ...
    rf"(?:this|the(?: {any_phrase('meta_places')})?) (?:[\w-]{{1,20}} ){{0,2}}?{_SUMMARY}{_ADVERB} {_VERB}\b",
    # The document states ...
    rf"(?:this|the|said) {_DOCUMENT}{_ADVERB} {_VERB}\b",
    rf"this {_OWN_DOCUMENT}{_ADVERB} {_VERB}\b",
    # In this article, ...
    rf"(?:in|according to|as {any_phrase('meta_references')} in) (?:this|the) (?:{_SUMMARY}|{_DOCUMENT})\s*,",
    rf"the {any_phrase('meta_aims')} of this (?:{_SUMMARY}|{_DOCUMENT}|{_OWN_DOCUMENT}) is\b",
    # Here is a concise summary ...
    rf"(?:here(?:['’]s| is| are)|{any_phrase('meta_announcements')} is) (?:[\w-]{{1,20}} ){{0,4}}?{_SUMMARY}\b",
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


def find_meta_commentary(source: NormalizedText, sentences: Sequence[Sentence]) -> TextSpan | None:
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


_LONGEST = 240  # characters
_FEWEST_LETTERS_LEFT = 8
_PIECE_END = re.compile(r"[,:!.][*_]*\s+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SIZE = re.compile(r"\d{1,5}(?=[- ](?:word|sentence|point|paragraph)s?\b)|(?<=count: )\d{1,5}")


def framing_length(sentence: str, is_known: Callable[[str], bool] = lambda _: False) -> int:
    """Returns how many characters at its beginning only frame a summary: 0, or up to all of them.

    Args:
        sentence: normalised.
        is_known: whether the source has a casefolded word; it may be the subject that an announcement names.
    """
    length = 0
    while (end := _PIECE_END.search(sentence, length, length + _LONGEST)) and _frames(
        sentence[length : end.end()].rstrip(), is_known
    ):
        length = end.end()
    rest = sentence[length:]
    is_size = length > 0 and rest.strip(" .)*_").isdigit()  # "Word count: 43"
    is_none = is_size or is_citation(rest) or not _WORD.search(rest)
    if len(rest) <= _LONGEST and (is_none or _frames(f"{rest.rstrip()}.", is_known)):
        return len(sentence)
    return length if sum(map(str.isalnum, rest)) >= _FEWEST_LETTERS_LEFT else 0


def refuses(sentence: str, is_known: Callable[[str], bool]) -> bool:
    """Tells whether a sentence declines to answer, or finds nothing: its words say so, or its beginning does.

    What begins so and is about the source is a statement: of a diary, of somebody who apologises.

    Args:
        is_known: whether the source has a casefolded word.
    """
    said = _WORD.findall(fold_case(sentence))
    words = [word for word in said if word not in word_list("framing")]
    if word_list("refusal_denials").isdisjoint(said):
        return False
    if word_list("refusal_words").issuperset(words):
        return True
    begins = f"{' '.join(said)} ".startswith(tuple(f"{phrase} " for phrase in phrase_list("refusals")))
    return begins and not any(is_known(word) for word in words if word not in FUNCTION_WORDS)


def is_citation(inside: str) -> bool:
    """Tells whether words name a place and state nothing: "p. 2", "doc2", "4:0†source", "Holt et al., 2021"."""
    words = "".join(one if one.isalnum() or one == "&" else " " for one in inside).split()
    named = [word.strip(digits) for word in words]
    has_authors = not {"et", "p", "pp", "&"}.isdisjoint(named)
    is_told = any(map(str.isdigit, inside)) or "citation needed" in fold_case(inside)
    return is_told and all(
        fold_case(word) in word_list("citation_words") or word in ("", "&") or (has_authors and word.istitle())
        for word in named
    )


def is_framing(sentence: str, is_known: Callable[[str], bool] = lambda _: False) -> bool:
    """Tells whether a sentence states nothing."""
    return framing_length(sentence, is_known) == len(sentence) > 0


def _frames(piece: str, is_known: Callable[[str], bool]) -> bool:
    """Tells whether words with the mark behind them state nothing."""
    text = fold_case(piece)
    words = [word.removesuffix("'s") for word in _WORD.findall(_SIZE.sub("", text))]
    if not words or (text.rstrip("*_").endswith(",") and words[0] not in word_list("framing_before_comma")):
        return False
    announced, counts = word_list("framing_announced"), word_list("number_words")  # "three things"
    said = [word for word, noun in pairwise([*words, ""]) if noun not in announced or word not in counts]
    others = [word for word in said if word not in word_list("framing")]
    is_title = text.rstrip("*_ .").endswith(":") and not any(map(is_verb, others))
    return not others or (
        (is_title or text.lstrip("*_ ").startswith(phrase_list("framing_announcements")))
        and not announced.isdisjoint(words)
        and all(map(is_known, others))
    )
