"""Finds profanity, slurs, stereotypes and loaded words in a summary.

Profanity comes from glin-profanity (MIT, maintained, offline). Words of its English list that reporting uses in their
plain sense are left out. It lacks the mildest words ("damn", "bloody"), which need their context: a "bloody nose" and
"Hell's Kitchen" are no swearing. No package tells slurs from swearing, or knows stereotypes. Those lists are ours, and
short (`pipeline/reading/data`): terms whose use as an insult is not in doubt, and sentences that give a trait to a
whole group. Loaded words are those that make the tone subjective.
"""

import re
from collections.abc import Iterator
from functools import cache

from glin_profanity.data.dictionary import DictionaryLoader

from pipeline.judge.evidence.signals.tone import is_name, loaded_words
from pipeline.judge.evidence.table import LexiconHit, LexiconKind, LexiconSeverity
from pipeline.reading.document import ReadText, quotations
from pipeline.reading.word_lists import any_of, phrase_list, word_list
from pipeline.reading.words import fold_case

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
        hits.append(LexiconHit(kind, summary.text.passage(start, end), severity, is_quoted))
    return tuple(hits)


def _find(text: str) -> Iterator[_Found]:
    """Yields what each list names; overlaps included."""
    for match in SLUR.finditer(text):
        yield match.span(), LexiconKind.SLUR, LexiconSeverity.STRONG
    for match in MILD_SLUR.finditer(text):
        yield match.span(), LexiconKind.SLUR, LexiconSeverity.MILD
    for match in STEREOTYPE.finditer(text):
        yield match.span(), LexiconKind.STEREOTYPE, LexiconSeverity.STRONG
    for pattern in (_profanity(), MILD_PROFANITY):
        for match in pattern.finditer(text):
            if not _is_name(match):
                is_strong = STRONG_PROFANITY.match(match.group())
                yield match.span(), LexiconKind.PROFANITY, LexiconSeverity.STRONG if is_strong else LexiconSeverity.MILD
    for match in loaded_words(text):
        yield match.span(), LexiconKind.LOADED, LexiconSeverity.MILD


def _is_name(match: re.Match[str]) -> bool:
    is_listed = fold_case(match.group()) in ALSO_NAMES and match.group()[0].isupper()
    return is_listed or (match.re is MILD_PROFANITY and is_name(match))


@cache
def _profanity() -> re.Pattern[str]:
    """Returns one pattern for all swear words of the package and the usual ways to mask them."""
    plain = {*word_list("no_profanity"), *phrase_list("no_profanity_phrases")}
    words = set(DictionaryLoader().get_words("english")) - plain
    spelled = sorted((word for word in words if word.strip() and word.isascii()), key=lambda word: (-len(word), word))
    listed = "|".join(re.escape(word).replace(r"\ ", r"[\s-]?") for word in spelled)
    return re.compile(rf"{MASKED_PROFANITY}|(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)


_FUCK = r"(?:mother|cluster)?f(?:uck|u?[*@#]{1,3}c?k|\*{2,})"
MASKED_PROFANITY = rf"(?<!\w)(?:{_FUCK}\w*|s[h*#]{{1,2}}[i*!1]t\w*|b(?:it|[*!]t?)ch(?:es)?|c[u*]nts?)(?!\w)"
"""Swear words, with a letter or two hidden, and what is made of them."""

STRONG_PROFANITY = re.compile(rf"{_FUCK}|c[u*]nt|cocksucker", re.IGNORECASE)

ALSO_NAMES = word_list("profanity_also_names")
"""Swearing only in lower case: Dick Cheney."""


def _whole_words(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){any_of(name)}(?!\w)", re.IGNORECASE)


MILD_PROFANITY = _whole_words("mild_profanity")
SLUR, MILD_SLUR = _whole_words("slurs"), _whole_words("mild_slurs")

# "The men are dangerous" speaks of some men, "men are dangerous" of all.
STEREOTYPE = re.compile(
    rf"""
    (?<!\w)(?:
    (?<!the\s)(?<!these\s)(?<!those\s)(?:(?:all|every|most|typical)\s)?{any_of("groups")}\s(?:are|is)\s+
        {any_of("words_of_generalisation")}*{any_of("traits")}
    |{any_of("groups")}\s+{any_of("said_of_groups")}
    |(?:like\ a\ typical|as\ you\ would\ expect\ (?:of|from)(?:\ an?)?)\s+{any_of("groups")}
    |{any_of("sexist_sayings")}
    )(?!\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)
