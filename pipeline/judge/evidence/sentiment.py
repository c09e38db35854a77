"""Sentiment of sentences, by VADER's lexicon and rules: small, offline, deterministic; English only."""

from collections.abc import Sequence
from functools import cache, lru_cache

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

_MOST_CHARS = 700


@cache
def _analyzer() -> SentimentIntensityAnalyzer:
    return SentimentIntensityAnalyzer()  # reads its lexicon, 40 ms, once


@lru_cache(maxsize=1 << 14)
def sentiment(sentence: str) -> float:
    """Returns the sentiment of a sentence, in [-1, 1]; 0 for words that the lexicon does not know."""
    return float(_analyzer().polarity_scores(sentence[:_MOST_CHARS])["compound"])


def mean_sentiment(sentences: Sequence[str]) -> float:
    """Returns the mean over sentences, in [-1, 1]; 0 without any."""
    return sum(map(sentiment, sentences)) / len(sentences) if sentences else 0.0
