"""May a word be a verb? By lists, and by its ending; English only."""

from pipeline.reading.word_lists import word_list

FINITE_VERBS = word_list("finite_verbs")
"""Casefolded words that are verbs with a subject, nearly always."""
_MAYBE_VERBS = word_list("maybe_verbs")  # without an object they may be participles or nouns
_NAMING = word_list("naming_verbs")
_SHORTEST_PAST = 5


def is_verb(word: str) -> bool:
    """Tells whether a word may be a verb that states something."""
    is_past = word.endswith("ed") and len(word) >= _SHORTEST_PAST and word not in _NAMING
    return is_past or word in FINITE_VERBS or word in _MAYBE_VERBS
