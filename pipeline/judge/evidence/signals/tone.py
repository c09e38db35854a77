"""Tone, sentiment and intent of a text.

Tone is neutral, subjective or hostile, by loaded words (of opinion, of contempt) outside quotation marks. Their lists
are ours and short (`pipeline/reading/data`): no maintained one fits reporting without a download. Sentiment is VADER's:
small, offline, deterministic, English only. Intent is a short list of bullets: topics, stance and tone.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from pipeline.judge.evidence.table import Tone
from pipeline.protocols import Tokenizer
from pipeline.reading.document import ReadText, without_quotations
from pipeline.reading.names import starts_sentence
from pipeline.reading.word_lists import FUNCTION_WORDS, any_of
from pipeline.remember import remember_short

_BEHIND = r"(?<=\byou\s)|(?<=\bnothing\ but\s)|(?<=\b(?:bunch|crowd)\ of\s)|(?<=\bgang\ of\s)|(?<=\bcouncil\ of\s)"
_LOADED = re.compile(
    rf"""
    (?<![\w'’-])(?!{any_of("plain_uses_of_opinion")})(?:
    (?P<opinion>{any_of("opinion_words")})
    |(?P<contempt>{any_of("contempt_words")}
        |(?:(?<=\bis\s)|(?<=\b(?:are|was)\s)|(?<=\bwere\s)|(?<=\bis\ a\s)|{_BEHIND}){any_of("contempt_said_of_people")}
        |(?:{_BEHIND}){any_of("contempt_animals")}))
    (?![\w-]|['’]s\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HOSTILE_PATTERN = re.compile(rf"\b{any_of('hostile_phrases')}\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(any_of("first_person"), re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_FEWEST_WORDS = 4
_LEAST_FUNCTION_WORDS = 0.08  # English has about 40%; less is another language
_SUBJECTIVE_SHARE = 0.2  # of sentences with a mark of opinion
_STRONG_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ToneScore:
    """The tone of a text.

    Attributes:
        subjectivity: share of sentences with a mark of opinion, in [0, 1].
        intensity: 0 neutral, 0.5 subjective, 1 hostile.
    """

    tone: Tone
    subjectivity: float
    intensity: float
    reason: str

    @property
    def badness(self) -> tuple[float, bool, float]:
        """What tones are ordered by, the best first."""
        return self.intensity, self.tone is Tone.UNCLEAR, self.subjectivity


def score_tone(
    sentences: Sequence[str], others: Sequence[str] = (), *, weights: Sequence[float] | None = None
) -> ToneScore:
    """Scores the tone of some sentences of one text.

    Args:
        others: ungrounded ones, which count when they have a mark of opinion or of contempt, and only then.
        weights: of the sentences, in (0, 1], where they have no such mark; None: all 1.
    """
    own = [without_quotations(sentence) for sentence in sentences]
    heated = [bare for other in others if _is_heated(bare := without_quotations(other))]
    said = list(zip(own, weights or [1.0] * len(own), strict=True))
    counted = [*(own if _is_clear(own) else ()), *heated]
    if not counted:
        return ToneScore(Tone.UNCLEAR, 0.0, 0.0, "too few words that the lists know")
    hostile = {match.group().lower() for sentence in counted for match in loaded_words(sentence) if match["contempt"]}
    hostile |= {match.group().lower() for sentence in counted for match in _HOSTILE_PATTERN.finditer(sentence)}
    plain = [weight for sentence, weight in said if not _is_opinion(sentence)] if len(counted) > len(heated) else []
    marked = len(counted) - len(plain)
    total = marked + fsum(plain)
    subjectivity = marked / total
    if len(hostile) > 1 or (hostile and fsum(weight for _, weight in said) <= _FEWEST_WORDS):
        return ToneScore(Tone.HOSTILE, max(subjectivity, _STRONG_SHARE), 1.0, f"words of contempt: {len(hostile)}")
    reason = f"sentences with words of opinion: {marked} of {total:.3g}"
    if subjectivity >= _SUBJECTIVE_SHARE:
        return ToneScore(Tone.SUBJECTIVE, subjectivity, 0.5, reason)
    return ToneScore(Tone.NEUTRAL, subjectivity, 0.0, reason)


def _is_clear(sentences: Sequence[str]) -> bool:
    """Tells whether there are enough words, and enough of them that the lists know."""
    words = [word.lower() for sentence in sentences for word in _WORD.findall(sentence)]
    function_words = sum(word in FUNCTION_WORDS for word in words)
    return len(words) >= _FEWEST_WORDS and function_words >= _LEAST_FUNCTION_WORDS * len(words)


def _is_heated(sentence: str) -> bool:
    return _is_opinion(sentence) or bool(_HOSTILE_PATTERN.search(sentence))


def loaded_words(text: str) -> Iterator[re.Match[str]]:
    """Yields the words of opinion and of contempt (group "contempt"), by position. Linear in the length of the text."""
    return (match for match in _LOADED.finditer(text) if not is_name(match))


def is_name(match: re.Match[str]) -> bool:
    """Tells whether a word is a name: it has a capital inside a sentence, and small letters behind it."""
    text, first = match.string, match.start()
    return not (text[first].islower() or match.group().isupper() or starts_sentence(text, first))


def _is_opinion(sentence: str) -> bool:
    is_loaded = any(True for _ in loaded_words(sentence))
    return is_loaded or bool(_FIRST_PERSON.search(sentence)) or sentence.rstrip().endswith("!")


_MOST_CHARS = 700


@cache
def _analyzer() -> SentimentIntensityAnalyzer:
    return SentimentIntensityAnalyzer()  # reads its lexicon, 40 ms, once


@remember_short(1 << 14, most_chars=_MOST_CHARS)
def sentiment(sentence: str) -> float:
    """Returns the sentiment of a sentence, in [-1, 1]; 0 for words that the lexicon does not know."""
    return float(_analyzer().polarity_scores(sentence[:_MOST_CHARS])["compound"])


def mean_sentiment(sentences: Sequence[str]) -> float:
    """Returns the mean over sentences, in [-1, 1]; 0 without any."""
    return sum(map(sentiment, sentences)) / len(sentences) if sentences else 0.0


_PURPOSES = {
    name.removeprefix("purpose_"): re.compile(rf"\b{any_of(name)}\b", re.IGNORECASE)
    for name in ("purpose_report", "purpose_explain", "purpose_instruct", "purpose_persuade")
}
_NEUTRAL_BAND = 0.25
_TOPIC_WORDS = 3
_LONGEST_TOPIC_WORD = 24


def describe_intent(
    source: ReadText, sentences: Sequence[str], tone_score: ToneScore, tokenizer: Tokenizer, most: int
) -> str:
    """Returns the bullets, fewer topic words when they would be too long.

    Args:
        sentences: of it, a bounded number.
        most: tokens.
    """
    counts = [
        (sum(len(pattern.findall(sentence)) for sentence in sentences), name) for name, pattern in _PURPOSES.items()
    ]
    purpose = max(counts, key=lambda count: count[0])[1] if any(count for count, _ in counts) else "inform"
    feeling = mean_sentiment(sentences)
    stance = "neutral" if abs(feeling) <= _NEUTRAL_BAND else "favourable" if feeling > 0 else "critical"
    topics = _topics(source)
    while True:
        about = f" on {', '.join(topics)}" if topics else ""
        text = f"- intent: {purpose}{about}\n- stance: {stance}\n- tone: {tone_score.tone}"
        if not topics or len(tokenizer.offsets(text)) <= most:
            return text
        topics.pop()


def _topics(source: ReadText) -> list[str]:
    """Returns the most frequent content words, as first written."""
    table = source.table
    counts = Counter(table.content_stems(range(len(table))))
    written: dict[str, str] = {}
    for index in range(len(table)):
        written.setdefault(table.stems[index], table.words[index])
    ranked = sorted(counts, key=lambda stem: -counts[stem])
    wanted = [stem for stem in ranked[: 4 * _TOPIC_WORDS] if 3 <= len(written[stem]) <= _LONGEST_TOPIC_WORD]  # noqa: PLR2004
    return [written[stem] for stem in wanted if not written[stem][0].isdigit()][:_TOPIC_WORDS]
