"""Which summaries get the greatest loss at once, before any model runs?"""

from json import JSONDecodeError

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.datum import GENERATED, GeneratedSummary
from pipeline.evaluate.result import HardFail, HardFailRule
from pipeline.evaluate.structured_output import SUMMARY_KEY, JsonString, join_strings, summary_strings
from pipeline.evaluate.truncation import PROSE_WORDS, open_ending
from pipeline.reading.characters import NormalizedText, normalize, normalize_decoded
from pipeline.reading.document import ReadText
from pipeline.reading.framing import find_meta_commentary
from pipeline.reading.passage import TextSpan
from pipeline.reading.sentences import split_sentences

LENGTH_REASONS = frozenset({"length", "max_tokens", "model_length"})
"""How endpoints say that the token limit ended the text: OpenAI and Gemini or Anthropic, Mistral."""

_EVIDENCE_CHARS = 40


def read_whole(source: NormalizedText, max_sentence_chars: int) -> ReadText:
    """Reads a text with all its sentences, headings included."""
    return ReadText.split(source, tuple(split_sentences(source.text, max_sentence_chars)))


def read_summary(generated: GeneratedSummary, config: EvaluateConfig) -> ReadText | HardFail:
    """Returns the summary's text, normalised and split into sentences, or the first rule that it breaks.

    Of structured output the text is the string "summary", or else all strings.
    """
    if not _has_words(generated.text):
        return HardFail(HardFailRule.TRUNCATION, "the text is empty", None)
    if generated.finish_reason.lower() in LENGTH_REASONS:
        reason = "the model stopped at its token limit"
        return HardFail(HardFailRule.TRUNCATION, reason, _quote(generated, len(generated.text) - _EVIDENCE_CHARS))
    read = _read_json(generated) if generated.structured_output else _read_plain(generated, config)
    if isinstance(read, HardFail):
        return read
    summary = read_whole(read, config.max_sentence_chars)
    if not summary.sentences:  # its letters were compatibility characters that NFKC turned into marks
        return HardFail(HardFailRule.TRUNCATION, "the text is empty", None)
    if meta := find_meta_commentary(read, summary.sentences):
        return HardFail(HardFailRule.META_COMMENTARY, "a sentence talks about the summary or the document", meta)
    return summary


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def _read_plain(generated: GeneratedSummary, config: EvaluateConfig) -> NormalizedText | HardFail:
    if ending := open_ending(generated.text, lists_exempt=config.lists_may_end_open):
        return _truncated(generated, *ending)
    return normalize(GENERATED, generated.text)


def _read_json(generated: GeneratedSummary) -> NormalizedText | HardFail:
    try:
        strings = summary_strings(generated.text)
    except JSONDecodeError as error:
        reason = f"structured output was requested, but the text is not JSON: {error.msg}"
        return HardFail(HardFailRule.INVALID_JSON, reason, _quote(generated, error.pos))
    decoded, offsets = join_strings(strings)
    if not _has_words(decoded):
        return HardFail(HardFailRule.TRUNCATION, "the structured output holds no text", None)
    for string in strings:
        if _is_prose(string) and (ending := open_ending(string.text, lists_exempt=True)):
            return _truncated(generated, string.spelled[ending[0]][0], string.spelled[ending[1] - 1][1])
    return normalize_decoded(GENERATED, generated.text, decoded, offsets)


def _is_prose(string: JsonString) -> bool:
    is_summary = string.depth == 1 and string.key == SUMMARY_KEY
    is_label = string.key is None or len(string.text.split()) < PROSE_WORDS
    return _has_words(string.text) and (is_summary or not is_label)


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
