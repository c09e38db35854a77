"""Is a text English? By the script of its letters, and by py3langid, which knows languages by their byte n-grams.

It is asked about words in small letters first: names and code say nothing of the language that they stand in. Then it
reads the whole. A text is foreign when another language is more likely by a margin, both times.
"""

import string
from functools import cache
from threading import Lock

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from pipeline.reading.word_lists import word_list
from pipeline.reading.words import fold_case

_MARGIN = 12.0  # of log-likelihood: on the half it was chosen on 3 of 49,098 English texts are above it
_READ_CHARS = 20_000
_FEWEST_WORDS = 2  # different ones
_FEWEST_LETTERS = 4  # of another script
_LONGEST_SYMBOL = 2  # Greek letters of a formula, as "Δφ"
_LATIN_ENDS, _ADDED_LATIN, _DENSE = 0x250, range(0x1E00, 0x1F00), 0x2E80  # code points; dense: a letter is a syllable
_AROUND_WORDS = f"{string.punctuation}«»„“”‘’…–—•¿¡"
_INSIDE_WORDS = str.maketrans("", "", "'’-")
_loading = Lock()


def is_english(text: str) -> bool:
    """Tells whether a text is English, or too little of any language to know. Reads its first 20,000 characters."""
    text = text[:_READ_CHARS]
    if _is_other_script(text):
        return False
    words = _plain_words(text)
    is_foreign = len(set(words)) >= _FEWEST_WORDS and _lead_over_english(" ".join(words)) > _MARGIN
    return not (is_foreign and _lead_over_english(text) > _MARGIN)


def is_english_prose(text: str) -> bool:
    """Tells whether a text is English beyond doubt; not so of one that has too few words. Reads 20,000 characters."""
    words = _plain_words(text[:_READ_CHARS])
    return len(set(words)) >= _FEWEST_WORDS and _lead_over_english(" ".join(words)) < -_MARGIN


def names_english(language: str) -> bool:
    """Tells whether the name or code of a language is that of English."""
    letters = "".join(letter if letter.isalpha() else " " for letter in fold_case(language))
    return not word_list("names_of_english").isdisjoint(letters.split())


def _is_other_script(text: str) -> bool:
    """Compares letters; those of which each is a syllable or a word count twice."""
    latin = others = 0
    for word in [] if text.isascii() else text.split():
        codes = [ord(letter) for letter in word if letter.isalpha()]
        foreign = [code for code in codes if code >= _LATIN_ENDS and code not in _ADDED_LATIN]
        latin += len(codes) - len(foreign)
        dense = sum(code >= _DENSE for code in foreign)
        others += len(foreign) + dense if dense or len(foreign) > _LONGEST_SYMBOL else 0
    return others >= _FEWEST_LETTERS and others > latin


def _plain_words(text: str) -> list[str]:
    """Returns the words in small letters: no names, numbers, paths, code. Text in capitals is read in small ones."""
    words = (word.strip(_AROUND_WORDS) for word in (text.lower() if text.isupper() else text).split())
    return [word for word in words if word.islower() and word.translate(_INSIDE_WORDS).isalpha()]


def _lead_over_english(text: str) -> float:
    """Returns by how much the likeliest other language is likelier than English, in log-likelihood."""
    with _loading:
        identifier = _identifier()
    likelihoods = dict(identifier.rank(text))
    english = likelihoods.pop("en")
    return float(max(likelihoods.values()) - english)


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)  # half a second, once
    identifier.set_languages(word_list("languages"))
    return identifier
