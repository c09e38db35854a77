"""Intent, stance and tone of a source as a short list of bullets."""

import re
from collections import Counter
from collections.abc import Sequence

from pipeline.judge.evidence.reading import ReadText
from pipeline.judge.evidence.sentiment import mean_sentiment
from pipeline.judge.evidence.tone import Voice
from pipeline.protocols import Tokenizer

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


def describe_intent(source: ReadText, sentences: Sequence[str], voice: Voice, tokenizer: Tokenizer, most: int) -> str:
    """Returns the bullets, fewer topic words when they would be too long.

    Args:
        source: read.
        sentences: of it, a bounded number.
        voice: how it speaks.
        tokenizer: counts tokens.
        most: tokens.
    """
    counts = [(sum(len(pattern.findall(sentence)) for sentence in sentences), name) for name, pattern in _PURPOSES]
    purpose = max(counts, key=lambda count: count[0])[1] if any(count for count, _ in counts) else "inform"
    feeling = mean_sentiment(sentences)
    stance = "neutral" if abs(feeling) <= _NEUTRAL_BAND else "favourable" if feeling > 0 else "critical"
    topics = _topics(source)
    while True:
        about = f" on {', '.join(topics)}" if topics else ""
        text = f"- intent: {purpose}{about}\n- stance: {stance}\n- tone: {voice.tone}"
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
