"""Finds profanity, slurs and stereotypes in a summary.

Profanity comes from glin-profanity (MIT, maintained, offline), less what `word_lists.py` leaves out. No package tells
slurs from swearing, or knows stereotypes; those two lists are ours.
"""

import re
from functools import cache

from glin_profanity.data.dictionary import DictionaryLoader

from pipeline.judge.evidence.quotations import quotations
from pipeline.judge.evidence.reading import ReadText
from pipeline.judge.evidence.table import LexiconHit, LexiconKind, Severity
from pipeline.judge.evidence.word_lists import ALSO_NAMES, MASKED_PROFANITY, NO_PROFANITY, SLUR, STEREOTYPE


def find_lexicon_hits(summary: ReadText, source: ReadText) -> tuple[LexiconHit, ...]:
    """Returns what the lists name in the summary, by position. Linear in its length."""
    text = summary.text.text
    source_text = source.text.text.casefold()
    quoted = quotations(text)
    found = [
        *((match.span(), LexiconKind.SLUR, Severity.STRONG) for match in SLUR.finditer(text)),
        *(
            (match.span(), LexiconKind.PROFANITY, Severity.MILD)
            for match in _profanity().finditer(text)
            if not _is_name(match)
        ),
        *((match.span(), LexiconKind.STEREOTYPE, Severity.STRONG) for match in STEREOTYPE.finditer(text)),
    ]
    hits = []
    for (start, end), kind, severity in sorted(found, key=lambda item: item[0]):
        words = text[start:end].casefold()
        is_quoted = any(first <= start and end <= last for first, last in quoted) and words in source_text
        hits.append(LexiconHit(kind, summary.text.passage(start, end), severity, is_quoted))
    return tuple(hits)


def _is_name(match: re.Match[str]) -> bool:
    return match.group().casefold() in ALSO_NAMES and match.group()[0].isupper()


@cache
def _profanity() -> re.Pattern[str]:
    """Returns one pattern for all swear words and the usual ways to mask them."""
    words = set(DictionaryLoader().get_words("english")) - NO_PROFANITY
    spelled = sorted((word for word in words if word.strip() and word.isascii()), key=lambda word: (-len(word), word))
    listed = "|".join(re.escape(word).replace(r"\ ", r"[\s-]?") for word in spelled)
    return re.compile(rf"{MASKED_PROFANITY}|(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)
