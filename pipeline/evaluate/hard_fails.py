"""Which summaries get the greatest loss at once, before any model runs?

One of the rules finds meta-commentary: sentences that talk about the summary or the document instead of their subject.
Patterns are anchored at the start of a sentence and ask for a subject and a verb together: "The document states that
fees rose" is meta-commentary, "The document was signed in 1945" and "The summary judgment covers fees" are not.
"The report found" is not either: reports are often what a text is about; "This report describes" is. English only.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.datum import GeneratedSummary
from pipeline.evaluate.result import HardFail, HardFailRule
from pipeline.evaluate.structured_output import SUMMARY_KEY, InvalidJsonError, JsonString, join_strings, summary_strings
from pipeline.evaluate.texts import GENERATED, SplitText
from pipeline.evaluate.truncation import PROSE_WORDS, open_ending
from pipeline.text.normalize import NormalizedText, normalize, normalize_decoded
from pipeline.text.passage import TextSpan
from pipeline.text.sentences import Sentence

LENGTH_REASONS = frozenset({"length", "max_tokens", "model_length"})
"""How endpoints say that the token limit ended the text: OpenAI and Gemini or Anthropic, Mistral."""

_WORD_CHARACTER = re.compile(r"[^\W_]")
_EVIDENCE_CHARS = 40


def read_summary(generated: GeneratedSummary, config: EvaluateConfig) -> SplitText | HardFail:
    """Returns the summary's text, normalised and split into sentences, or the first rule that it breaks.

    Of structured output the text is the string "summary", or else all strings.
    """
    if not _WORD_CHARACTER.search(generated.text):
        return HardFail(HardFailRule.TRUNCATION, "the text is empty", None)
    if generated.finish_reason.lower() in LENGTH_REASONS:
        reason = "the model stopped at its token limit"
        return HardFail(HardFailRule.TRUNCATION, reason, _quote(generated, len(generated.text) - _EVIDENCE_CHARS))
    read = _read_json(generated) if generated.structured_output else _read_plain(generated, config)
    if isinstance(read, HardFail):
        return read
    summary = SplitText.of(read, config.max_sentence_chars)
    if not summary.sentences:  # its letters were compatibility characters that NFKC turned into marks
        return HardFail(HardFailRule.TRUNCATION, "the text is empty", None)
    if meta := find_meta_commentary(read, summary.sentences):
        return HardFail(HardFailRule.META_COMMENTARY, "a sentence talks about the summary or the document", meta)
    return summary


def _read_plain(generated: GeneratedSummary, config: EvaluateConfig) -> NormalizedText | HardFail:
    if ending := open_ending(generated.text, lists_exempt=config.lists_may_end_open):
        return _truncated(generated, *ending)
    return normalize(GENERATED, generated.text)


def _read_json(generated: GeneratedSummary) -> NormalizedText | HardFail:
    try:
        strings = summary_strings(generated.text)
    except InvalidJsonError as error:
        reason = f"structured output was requested, but the text is not JSON: {error.problem}"
        return HardFail(HardFailRule.INVALID_JSON, reason, _quote(generated, error.position))
    decoded, offsets = join_strings(strings)
    if not _WORD_CHARACTER.search(decoded):
        return HardFail(HardFailRule.TRUNCATION, "the structured output holds no text", None)
    for string in strings:
        if _is_prose(string) and (ending := open_ending(string.text, lists_exempt=True)):
            return _truncated(generated, *string.offsets.to_original(*ending))
    return normalize_decoded(GENERATED, generated.text, decoded, offsets)


def _is_prose(string: JsonString) -> bool:
    is_summary = string.depth == 1 and string.key == SUMMARY_KEY
    is_label = string.key is None or len(string.text.split()) < PROSE_WORDS
    return bool(_WORD_CHARACTER.search(string.text)) and (is_summary or not is_label)


def _truncated(generated: GeneratedSummary, start: int, end: int) -> HardFail:
    passage = normalize(GENERATED, generated.text[start:end]).whole()
    evidence = TextSpan(GENERATED, start, end, passage.quote, passage.text)
    return HardFail(HardFailRule.TRUNCATION, "the text ends in the middle of a sentence", evidence)


def _quote(generated: GeneratedSummary, start: int) -> TextSpan | None:
    """Returns up to 40 characters from `start`, or the last ones when nothing follows."""
    start = max(0, min(start, len(generated.text) - 1))
    end = min(start + _EVIDENCE_CHARS, len(generated.text))
    quote = generated.text[start:end]
    return TextSpan(GENERATED, start, end, quote, " ".join(quote.split()))


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
