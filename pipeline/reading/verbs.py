"""May a word be a verb? By lists, and by its ending; English only."""

_FINITE_LIST = """
    is are was were has have had does do did will would can could may might must shall should isn't aren't wasn't
    weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't can't couldn't shouldn't went came took saw became
    began fell rose grew gave wrote knew spoke ran said says remains includes becomes makes takes goes gives finds
    leaves tells sees begins keeps holds brings thinks feels means seems appears wants believes comes offers provides
"""
FINITE_VERBS = frozenset(_FINITE_LIST.split())
"""Casefolded words that are verbs with a subject, nearly always."""
_MAYBE_VERB_LIST = """
    won lost made got found left told kept held brought thought felt met paid sold sent spent stood understood led hit
    cut put set beat shot needs plans hopes claims plays faces works looks lives runs falls rises grows shows
"""
_MAYBE_VERBS = frozenset(_MAYBE_VERB_LIST.split())  # without an object they may be participles or nouns
_NAMING = frozenset(["called", "named", "dubbed", "titled", "nicknamed"])
_SHORTEST_PAST = 5


def is_verb(word: str) -> bool:
    """Tells whether a word may be a verb that states something."""
    is_past = word.endswith("ed") and len(word) >= _SHORTEST_PAST and word not in _NAMING
    return is_past or word in FINITE_VERBS or word in _MAYBE_VERBS
