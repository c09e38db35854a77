"""Words that say nothing by themselves, for each reader as many as serve it.

English, and what of German, French and Spanish no list may lack.
"""

from pipeline.reading.word_lists import word_list

_SHARED = word_list("shared_words")
_COMMON = _SHARED | word_list("common_words")

FUNCTION_WORDS = _COMMON | word_list("function_words")
"""The judge compares texts without them; negations are compared on their own."""

STOP_WORDS = _COMMON | word_list("stop_words")
"""No key phrase holds one of them: words of manuals that name no subject."""

PROSE_WORDS = _SHARED | word_list("prose_words")
"""By their share prose is told from listings."""

NO_NAMES = _SHARED | word_list("capitalised_words")
"""A single one of them, capitalised, is no name."""

POINTING_WORDS = word_list("pointing_words")
"""A sentence that begins with one of them points back to what was said before it."""
