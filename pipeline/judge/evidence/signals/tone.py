"""Tone, sentiment and intent of a text.

Tone is neutral, subjective or hostile, by loaded words (of opinion, of contempt) outside quotation marks. No maintained
list of them fits reporting without a download, so these are short and reasoned: words with which a writer judges, not
words for things that are bad ("killed" is a fact, "disgraceful" an opinion), less their plain uses ("an outstanding
debt", "the rats left"). Sentiment is VADER's: small, offline, deterministic, English only. Intent is a short list of
bullets: topics, stance and tone.
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
from pipeline.reading.function_words import FUNCTION_WORDS
from pipeline.remember import remember_short

_OPINION_LIST = """
    disgraceful disgracefully shameful shamefully outrageous outrageously appalling appallingly scandalous scandalously
    ridiculous ridiculously absurd absurdly laughable laughably ludicrous ludicrously deplorable deplorably horrendous
    atrocious awful terrible horrible dreadful abysmal shocking shockingly stunning stunningly amazing amazingly
    incredible incredibly wonderful wonderfully fantastic brilliant brilliantly magnificent superb glorious heroic
    heroically visionary genius flawless perfect perfectly unforgivable inexcusable reckless recklessly incompetent
    clueless foolish foolishly senseless pointless useless worthless so-called obviously clearly undoubtedly undeniably
    unquestionably sadly unfortunately thankfully tragically hopefully frankly honestly rightly wrongly
    unfairly shamelessly predictably inevitably surely blatant blatantly cynical cynically hypocritical arrogant
    arrogantly greedy cruel cruelly beautiful gorgeous ugly boring delightful charming inspiring breathtaking must-see
    unbelievable unbelievably best-ever worst-ever disastrous disastrously catastrophic tremendous outstanding
    phenomenal masterpiece triumphantly cowardly shameless bogus sham farce travesty mockery
"""
_CONTEMPT_LIST = """
    idiot idiots idiotic moron morons moronic imbecile imbeciles scum traitor traitors treasonous liar liars crook
    crooks thug thugs filthy subhuman subhumans stupid stupidity dumb dumbest braindead brainless lunatic lunatics
    psycho degenerate degenerates barbarian barbarians pathetic disgusting despicable loathsome repulsive vile evil
    hateful
"""
_SAID_OF_PEOPLE_LIST = """
    savage savages vermin parasite parasites leech leeches cockroach cockroaches garbage trash filth clown clowns loser
    losers
"""  # contempt only behind "is", "are", "bunch of" and the like
_ANIMAL_LIST = "animals pig pigs rat rats"  # only behind "bunch of", for "the pets are pigs" is no contempt
_PLAIN_USES = r"""
    outstanding\s+(?:debt|balance|warrant|bill|loan|claim|payment|share|issue|fine|amount|question|order)s?
    |reckless(?:ly)?\s+(?:driv|endanger|conduct|homicide|manslaughter|burn|operat)|incompetent\s+to
    |so-called\s+islamic|boring\s+(?:machine|tool|hole|compan|insect|beetle)
    |perfect(?:ly)?\s+(?:score|attendance|game|storm|record|square|legal|health)|beautiful\s+game
    |clearly\s+(?:visible|mark|defin|label|see|heard|audible|identif|stat)|dumb\s+waiter|(?:garbage|trash)\s+(?:bin|can|collect|dispos|dump|eat|truck)
"""
_BEHIND = r"(?<=\byou\s)|(?<=\bnothing\ but\s)|(?<=\b(?:bunch|crowd)\ of\s)|(?<=\bgang\ of\s)|(?<=\bcouncil\ of\s)"
_LOADED = re.compile(
    rf"""
    (?<![\w'’-])(?!{_PLAIN_USES})(?:
    (?P<opinion>{"|".join(_OPINION_LIST.split())})
    |(?P<contempt>{"|".join(_CONTEMPT_LIST.split())}
        |(?:(?<=\bis\s)|(?<=\b(?:are|was)\s)|(?<=\bwere\s)|(?<=\bis\ a\s)|{_BEHIND})
            (?:{"|".join(_SAID_OF_PEOPLE_LIST.split())})
        |(?:{_BEHIND})(?:{"|".join(_ANIMAL_LIST.split())})))
    (?![\w-]|['’]s\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE_NAME = 8  # characters that show whether a sentence begins
_SENTENCE_START = re.compile(r"(?:^|[.!?:]['\"”’)]*\s+|\n\s*)[-*•\"'“‘(\s]*$")
_HOSTILE_PATTERN = re.compile(
    r"\b(?:shut up|go to hell|should (?:all )?be (?:shot|hanged|eliminated|exterminated|wiped out)|get rid of them|"
    r"deserves? to (?:die|suffer|rot)|(?:are|is) (?:nothing but|no better than)|rot in)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|we) (?:really |strongly |truly )?(?:think|believe|feel|love|hate|hope|doubt|suspect|say|know)\b|"
    r"\bin (?:my|our) (?:view|opinion)\b|\bmust (?:surely|never|now)\b",
    re.IGNORECASE,
)
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
    if text[first].islower() or match.group().isupper():
        return False
    return _SENTENCE_START.search(text, max(0, first - _BEFORE_NAME), first) is None


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


_INSTRUCT = re.compile(
    r"\b(?:how to|step \d|make sure|you (?:can|should|must|need)|click|run the|install|configure)\b", re.IGNORECASE
)
_PERSUADE = re.compile(
    r"\b(?:should|must|ought to|I (?:think|believe)|we (?:need|must|should)|in my (?:view|opinion)|it is time)\b",
    re.IGNORECASE,
)
_EXPLAIN = re.compile(
    r"\b(?:because|means that|is called|defined as|known as|for example|in other words|study|research)\b", re.IGNORECASE
)
_REPORT = re.compile(r"\b(?:said|says|told|announced|according to|reported|police|minister|spokes\w+)\b", re.IGNORECASE)
_PURPOSES = (("report", _REPORT), ("explain", _EXPLAIN), ("instruct", _INSTRUCT), ("persuade", _PERSUADE))
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
    counts = [(sum(len(pattern.findall(sentence)) for sentence in sentences), name) for name, pattern in _PURPOSES]
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
