"""How both texts speak: tone, sentiment, drift, intent, and listed words.

Tone is neutral, subjective or hostile, by loaded words (of opinion, of contempt) outside quotation marks. Their lists
are ours and short (`pipeline/reading/data`): no maintained one fits reporting without a download. Sentiment is VADER's:
small, offline, deterministic, English only. Intent is a short list of bullets: topics, stance and tone.

Profanity comes from glin-profanity (MIT, maintained, offline), without words that reporting uses in their plain sense.
No package knows the mildest words by their context ("bloody nose"), tells slurs from swearing, or knows stereotypes:
those lists are ours too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import fsum, prod
from typing import NamedTuple

import numpy as np
from glin_profanity.data.dictionary import DictionaryLoader
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from pipeline.judge.evidence.labels import RaisingSentences
from pipeline.judge.evidence.plan import EvidencePlan
from pipeline.judge.evidence.table import (
    Claim,
    LexiconHit,
    LexiconKind,
    LexiconSeverity,
    MismatchKind,
    Tone,
    ToneReading,
)
from pipeline.protocols import Tokenizer
from pipeline.reading.document import ReadText
from pipeline.reading.framing import quotations, without_quotations
from pipeline.reading.index import Float64, WordIndex
from pipeline.reading.names import starts_sentence
from pipeline.reading.rules import Rule
from pipeline.reading.word_lists import FUNCTION_WORDS, any_of, any_phrase, is_verb, phrase_list, word_list
from pipeline.reading.word_table import stem
from pipeline.reading.words import fold_case


def _whole_words(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){any_of(name)}(?!\w)", re.IGNORECASE)


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
_HOSTILE_PATTERN = _whole_words("hostile_phrases")
_FIRST_PERSON = re.compile(any_of("first_person"), re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_FEWEST_WORDS = 4
_SUBJECTIVE_SHARE = 0.2  # of sentences with a mark of opinion
_STRONG_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ToneScore:
    """The tone of a text."""

    tone: Tone
    subjectivity: float  # share of sentences with a mark of opinion, in [0, 1]
    intensity: float  # 0 neutral, 0.5 subjective, 1 hostile
    reason: str


def score_tone(sentences: Sequence[str], others: Sequence[str] = ()) -> ToneScore:
    """Scores the tone of some sentences; others, ungrounded ones, count if they have a mark of opinion or contempt."""
    own, rest = (list(map(_read, some)) for some in (sentences, others))
    heated = [one for one in rest if one.is_opinion or one.contempt]
    is_clear = sum(one.word_count for one in own) >= _FEWEST_WORDS
    counted = [*(own if is_clear else ()), *heated]
    if not counted:
        return ToneScore(Tone.UNCLEAR, 0.0, 0.0, "too few words")
    hostile = frozenset[str]().union(*(one.contempt for one in counted))
    marked = len(heated) + (sum(one.is_opinion for one in own) if is_clear else 0)
    subjectivity = marked / len(counted)
    if len(hostile) > 1 or (hostile and len(own) <= _FEWEST_WORDS):
        return ToneScore(Tone.HOSTILE, max(subjectivity, _STRONG_SHARE), 1.0, f"words of contempt: {len(hostile)}")
    reason = f"sentences with words of opinion: {marked} of {len(counted):.3g}"
    if subjectivity >= _SUBJECTIVE_SHARE:
        return ToneScore(Tone.SUBJECTIVE, subjectivity, 0.5, reason)
    return ToneScore(Tone.NEUTRAL, subjectivity, 0.0, reason)


def loaded_words(text: str) -> Iterator[re.Match[str]]:
    """Yields the words of opinion and of contempt (group "contempt"), by position. Linear in the length of the text."""
    return (match for match in _LOADED.finditer(text) if not is_name(match))


HEAT = Rule(
    "heated-words",
    "judge",
    "Profanity and words of opinion before what they colour are judged as such, and not as a part of the claim.",
    "The damned council shamefully voted for the plan.",
    "The council voted for the plan.",
)


def without_heat(text: str, source: WordIndex) -> str:
    """Returns a statement without profanity and words of opinion that colour the next word; the source has none."""
    kept, position = list[str](), 0
    for (start, end), kind, _ in sorted(_find(text), key=lambda found: found[0]):
        word, coloured = fold_case(text[start:end]), [one.rstrip(".,;:!?") for one in text[end:].split(None, 1)[:1]]
        is_heat = kind in (LexiconKind.PROFANITY, LexiconKind.LOADED) and start >= position and word.isalpha()
        if not (is_heat and HEAT.is_on and coloured and text[end] == " ") or source.sentence_count(stem(word)):
            continue
        is_joined = not word_list("coordinators").isdisjoint(text[:start].split()[-1:])  # "shameful and cruel acts"
        if (
            not is_joined
            and coloured[0].isalpha()
            and coloured[0] not in FUNCTION_WORDS
            and (word.endswith("ly") or not is_verb(coloured[0]))
        ):
            kept.append(text[position:start])
            position = end + 1
    return "".join((*kept, text[position:]))


def is_name(match: re.Match[str]) -> bool:
    """Tells whether a word is a name: it has a capital inside a sentence, and small letters behind it."""
    text, first = match.string, match.start()
    return not (text[first].islower() or match.group().isupper() or starts_sentence(text, first))


class _SentenceTone(NamedTuple):
    word_count: int
    is_opinion: bool
    contempt: frozenset[str]  # its words and phrases of contempt


@lru_cache(1 << 12)  # where none may raise a score, each sentence is scored with the same two hundred others
def _read(sentence: str) -> _SentenceTone:
    """Reads what the writer of a sentence says in own words."""
    own = without_quotations(sentence)
    loaded = list(loaded_words(own))
    contempt = [*(match for match in loaded if match["contempt"]), *_HOSTILE_PATTERN.finditer(own)]
    return _SentenceTone(
        len(_WORD.findall(own)),
        bool(loaded or _FIRST_PERSON.search(own) or own.rstrip().endswith("!")),
        frozenset(match.group().lower() for match in contempt),
    )


_analyzer = cache(SentimentIntensityAnalyzer)  # reads its lexicon, 40 ms, once


@lru_cache(1 << 14)
def sentiment(sentence: str) -> float:
    """Returns the sentiment of a sentence, in [-1, 1]; 0 for words that the lexicon does not know."""
    return float(_analyzer().polarity_scores(sentence)["compound"])


def mean_sentiment(sentences: Sequence[str]) -> float:
    """Returns the mean over sentences, in [-1, 1]; 0 without any."""
    return sum(map(sentiment, sentences)) / len(sentences) if sentences else 0.0


_STANCE_TOLERANCE = 0.25  # half the difference of two mean sentiments, of faithful summaries too
_FOCUS_TOLERANCE = 0.6  # 1 - cosine of a summary's and a source's mean vectors, of faithful summaries too
_STANCE_WEIGHT, _TONE_WEIGHT, _MEANING_WEIGHT, _FOCUS_WEIGHT = 0.7, 0.7, 0.9, 0.8
_MOST_SENTENCES = 200  # of either text, whose tone and sentiment are read


def read_drift(plan: EvidencePlan, claims: Sequence[Claim], sentences: RaisingSentences) -> ToneReading:
    """Returns tone, sentiment and drift: how far a summary departs from what its source means, d of Alignment.

    Four distances, each 0 within its tolerance, are joined as independent reasons for doubt: d = 1 - product of
    (1 - weight x distance). So d is exactly 0 when nothing drifts, and one grave distance is enough for a large d.

    Each distance is the larger of two: of the sentences that may raise a score, and of these with the worst other one.
    Filler would else thin out what is wrong. Where none may raise one, each counts in turn as if it alone might.
    """
    raising, others = sentences.raising[:_MOST_SENTENCES], sentences.others[:_MOST_SENTENCES]
    alone = ((one, tuple(other for other in others if other != one)) for one in sentences.others)
    readings = [(raising, others)] if raising else [((one,), rest) for one, rest in alone]
    source, summary = _tones(plan, readings)
    unfocused = 1 - _focus_cosine(plan, sentences)
    pairs = _sentiments(plan, readings if raising else [(told, ()) for told, _ in readings])
    sentiments = max(pairs, key=lambda pair: abs(pair[0] - pair[1]), default=(0.0, 0.0))
    stance = abs(sentiments[0] - sentiments[1]) / 2
    tone = max(0.0, summary.intensity - source.intensity)
    meaning = _contradicted_share(claims, plan.draft.config.contradicted)
    parts = (
        _STANCE_WEIGHT * _beyond(stance, _STANCE_TOLERANCE),
        _TONE_WEIGHT * tone,
        _MEANING_WEIGHT * meaning,
        _FOCUS_WEIGHT * _beyond(unfocused, _FOCUS_TOLERANCE),
    )
    return ToneReading(
        source_tone=source.tone,
        summary_tone=summary.tone,
        summary_reason=summary.reason,
        source_subjectivity=source.subjectivity,
        summary_subjectivity=summary.subjectivity,
        source_sentiment=sentiments[0],
        summary_sentiment=sentiments[1],
        stance_distance=stance,
        tone_distance=tone,
        meaning_distance=meaning,
        focus_distance=unfocused / 2,
        drift=1 - prod(1 - part for part in parts),
    )


_Reading = tuple[tuple[int, ...], tuple[int, ...]]
"""Sentences of a summary that count, and others that count where they make it worse; indices, rising."""


def _tones(plan: EvidencePlan, readings: Sequence[_Reading]) -> tuple[ToneScore, ToneScore]:
    """Scores the tone of both texts; of the summary the worst reading."""
    source, summary = plan.draft.source.read.passages, plan.draft.summary.read.passages
    texts = [passage.text for passage in summary]
    scores = [score_tone([texts[at] for at in told], [texts[at] for at in others]) for told, others in readings]
    worst = max(scores, key=lambda one: (one.intensity, one.tone is Tone.UNCLEAR, one.subjectivity), default=None)
    return score_tone([passage.text for passage in source[:_MOST_SENTENCES]]), worst or score_tone([])


def _sentiments(plan: EvidencePlan, readings: Sequence[_Reading]) -> Iterator[tuple[float, float]]:
    """Yields mean sentiments to be compared, of the source sentences that the summary is about and of the summary."""
    source, summary = plan.draft.source.read.passages, plan.draft.summary.read.passages
    for told, others in readings:
        about = {one.passages[0].best[0]: None for one in plan.claims if one.passages and one.sentence in told}
        covered = mean_sentiment([source[index].text for index in about])
        found = fsum(sentiment(summary[index].text) for index in told)
        yield covered, found / len(told)
        for index in others:
            yield covered, (found + sentiment(summary[index].text)) / (len(told) + 1)


def _contradicted_share(claims: Sequence[Claim], contradicted: float) -> float:
    """Returns the share of the claims, by tokens, that the source contradicts; others count if they may raise."""
    wrong = others = 0
    for claim in claims:
        by_nli = claim.contradiction >= contradicted and claim.contradiction > claim.entailment
        if by_nli or any(mismatch.kind is MismatchKind.NEGATION for mismatch in claim.mismatches):
            wrong += claim.token_count
        elif claim.may_raise:
            others += claim.token_count
    return wrong / (wrong + others) if wrong else 0.0


def _beyond(distance: float, tolerance: float) -> float:
    """Returns how much of the way from the tolerance to 1 a distance has gone; 0 within it."""
    return min(1.0, max(0.0, distance - tolerance) / (1 - tolerance))


def _focus_cosine(plan: EvidencePlan, sentences: RaisingSentences) -> float:
    """Returns the cosine of the mean vectors of source and summary, in [-1, 1]; 1 when a side has no sentence.

    The summary has the sentences that may raise a score, alone or with the other one that lowers the cosine most.
    """
    middle = _unit(plan.closeness.vectors.sum(axis=0))
    vectors = plan.told_closeness.vectors
    raising = vectors[list(sentences.raising)].sum(axis=0)
    sums = [raising] if sentences.raising else []
    sums += [raising + vectors[index] for index in sentences.others]
    cosines = [float(np.clip(middle @ _unit(total), -1, 1)) for total in sums if total.any()]
    return min(cosines, default=1.0) if middle.any() else 1.0


def _unit(vector: Float64) -> Float64:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), float(np.finfo(np.float64).tiny)))


_PURPOSES = {
    name.removeprefix("purpose_"): _whole_words(name)
    for name in ("purpose_report", "purpose_explain", "purpose_instruct", "purpose_persuade")
}
_NEUTRAL_BAND = 0.25
_TOPIC_WORDS = 3
_LONGEST_TOPIC_WORD = 24


def describe_intent(source: ReadText, tone: Tone, tokenizer: Tokenizer, most: int) -> str:
    """Returns the bullets, fewer topic words when they would have more than so many tokens.

    Topics are the most frequent content words, as first written.
    """
    sentences = [passage.text for passage in source.passages[:_MOST_SENTENCES]]
    counts = [
        (sum(len(pattern.findall(sentence)) for sentence in sentences), name) for name, pattern in _PURPOSES.items()
    ]
    purpose = max(counts, key=lambda count: count[0])[1] if any(count for count, _ in counts) else "inform"
    feeling = mean_sentiment(sentences)
    stance = "neutral" if abs(feeling) <= _NEUTRAL_BAND else "favourable" if feeling > 0 else "critical"
    table, written = source.table, dict[str, str]()
    for index in range(len(table)):
        written.setdefault(table.stems[index], table.words[index])
    frequent = Counter(source.content_stems()).most_common(4 * _TOPIC_WORDS)
    words = [written[stem] for stem, _ in frequent if 3 <= len(written[stem]) <= _LONGEST_TOPIC_WORD]  # noqa: PLR2004
    topics = [word for word in words if not word[0].isdigit()][:_TOPIC_WORDS]
    while True:
        about = f" on {', '.join(topics)}" if topics else ""
        text = f"- intent: {purpose}{about}\n- stance: {stance}\n- tone: {tone}"
        if not topics or len(tokenizer.offsets(text)) <= most:
            return text
        topics.pop()


_Found = tuple[tuple[int, int], LexiconKind, LexiconSeverity]


def find_lexicon_hits(summary: ReadText, source: ReadText) -> tuple[LexiconHit, ...]:
    """Returns what the lists name in the summary, by position; no word twice. Linear in its length."""
    text = summary.text.text
    quoted = quotations(text)
    source_text = fold_case(source.text.text) if quoted else ""
    hits, end_of_last = list[LexiconHit](), 0
    for (start, end), kind, severity in sorted(_find(text), key=lambda found: (found[0][0], -found[0][1])):
        if start < end_of_last:
            continue
        end_of_last = end
        is_inside = any(first <= start and end <= last for first, last in quoted)
        is_quoted = is_inside and fold_case(text[start:end]) in source_text
        hits.append(LexiconHit(kind, summary.passage(start, end), severity, is_quoted))
    return tuple(hits)


def _find(text: str) -> Iterator[_Found]:
    """Yields what each list names; overlaps included."""
    for pattern, kind, severity in (
        (_SLUR, LexiconKind.SLUR, LexiconSeverity.STRONG),
        (_MILD_SLUR, LexiconKind.SLUR, LexiconSeverity.MILD),
        (_STEREOTYPE, LexiconKind.STEREOTYPE, LexiconSeverity.STRONG),
        (_profanity(), LexiconKind.PROFANITY, LexiconSeverity.MILD),
        (_MILD_PROFANITY, LexiconKind.PROFANITY, LexiconSeverity.MILD),
    ):
        for match in pattern.finditer(text):
            word, is_profanity = match.group(), kind is LexiconKind.PROFANITY
            is_listed = is_profanity and word[0].isupper() and fold_case(word) in _ALSO_NAMES
            if not (is_listed or (pattern is _MILD_PROFANITY and is_name(match))):
                is_strong = is_profanity and _STRONG_PROFANITY.match(word)
                yield match.span(), kind, LexiconSeverity.STRONG if is_strong else severity
    for match in loaded_words(text):
        yield match.span(), LexiconKind.LOADED, LexiconSeverity.MILD


@cache
def _profanity() -> re.Pattern[str]:
    """Returns one pattern for all swear words of the package and the usual ways to mask them."""
    plain = {*word_list("no_profanity"), *phrase_list("no_profanity_phrases")}
    words = set(DictionaryLoader().get_words("english")) - plain
    spelled = sorted((word for word in words if word.strip() and word.isascii()), key=lambda word: (-len(word), word))
    listed = "|".join(re.escape(word).replace(r"\ ", r"[\s-]?") for word in spelled)
    return re.compile(rf"{_MASKED_PROFANITY}|(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)


_FUCK = r"(?:mother|cluster)?f(?:uck|u?[*@#]{1,3}c?k|\*{2,})"
# Swear words, with a letter or two hidden, and what is made of them.
_MASKED_PROFANITY = rf"(?<!\w)(?:{_FUCK}\w*|s[h*#]{{1,2}}[i*!1]t\w*|b(?:it|[*!]t?)ch(?:es)?|c[u*]nts?)(?!\w)"
_STRONG_PROFANITY = re.compile(rf"{_FUCK}|c[u*]nt|cocksucker", re.IGNORECASE)

_ALSO_NAMES = word_list("profanity_also_names")  # swearing only in lower case: Dick Cheney
_MILD_PROFANITY = _whole_words("mild_profanity")
_SLUR, _MILD_SLUR = _whole_words("slurs"), _whole_words("mild_slurs")

# "The men are dangerous" speaks of some men, "men are dangerous" of all.
_STEREOTYPE = re.compile(
    rf"""
    (?<!\w)(?:
    (?<!the\s)(?<!these\s)(?<!those\s)(?:(?:all|every|most|typical)\s)?{any_of("groups")}\s(?:are|is)\s+
        {any_of("words_of_generalisation")}*{any_of("traits")}
    |{any_of("groups")}\s+{any_of("said_of_groups")}
    |{any_phrase("expected_of")}\s+{any_of("groups")}
    |{any_of("sexist_sayings")}
    )(?!\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)
