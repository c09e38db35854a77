"""Finds runs of words that may be noun phrases, by the words around them: a cheap stand-in for a tagger.

A word in front of an article is a verb ("the controller *changes* the pump"), and so is one behind "to" or "may"
("may *hold* water"). What is cut off there, and what verbs, adverbs and words of time leave over, is no topic.
English; in other languages the rules do not fire.
"""

import re
from collections.abc import Iterator, Sequence

from pipeline.reading.function_words import STOP_WORDS

_LONGEST_WORD = 40
_WORD = re.compile(r"[^\W\d_][\w'’/+-]*[\w+]|[^\W\d_]")
_BREAK = re.compile(r"[.,;:!?()\[\]{}\"“”«»|<>=*`…—–、。，；：！？「」（）]+|\s-\s")
# Behind a verb, seldom behind a noun.
_OBJECT_LIST = """
    a an the this these those its his her their our your my it him them us me each every any all some both no that how
    whether if why
"""
_OBJECTS = frozenset(_OBJECT_LIST.split())
# In front of a verb.
_SUBJECT_LIST = """
    to will would can could may might must shall should not never you we i he she they it who which that cannot n't did
    does do is are was were be been being has have had get gets
"""
_SUBJECTS = frozenset(_SUBJECT_LIST.split())
_BE_LIST = "is are was were be been being has have had get gets"
_BE = frozenset(_BE_LIST.split())
_BEFORE_GERUNDS = frozenset(["", "by", "without", "when", "while", "before", "after"])
_VERB_LIST = """
    keep keeps kept send sends sent move moves stop stops start starts started open opens close closes closed
    allow allows help helps helped get goes went came comes involve involves affect affects affected inform
    informs order orders ask asks asked say tell tells told hold holds held bring brought think thought know knew
    draw drew throw threw thrown feel felt looks looked answer answers answered report reported reports begin
    begins began lose lost win won meet met pay paid speak spoke stand stands stood write wrote written leave
    leaves left turn turns turned become becomes put puts seem seems appear appears appeared happen happens
    happened wait waits waited try tries tried want wants wanted arrive arrives arrived protect protects need
    tests tested last lasts mind follow press lift remove install check ensure enable enables disable disables
    depends depend belongs mean takes makes made does done gone been
"""
_VERBS = frozenset(_VERB_LIST.split())
# Of amounts and times, which name no subject.
_AMOUNT_LIST = """
    ago percent second seconds minute minutes hour hours day days week weeks month months year years today
    tomorrow yesterday morning evening night monday tuesday wednesday thursday friday saturday sunday january
    february march april june july august september october november december two three four five six seven eight
    nine ten dozen hundred thousand million billion half lower higher dozens hundreds thousands great good bad
    lots bit
"""
_AMOUNTS = frozenset(_AMOUNT_LIST.split())
_BOUNDARY = STOP_WORDS | _VERBS | _AMOUNTS
_NOUNS_IN_LY = ("supply", "assembly", "family", "reply", "anomaly", "butterfly")
_FEWEST_LETTERS = 5  # of a past tense: "used" is a stop word, "red" and "bed" are none


def noun_runs(text: str) -> Iterator[tuple[str, ...]]:
    """Yields runs of words between punctuation and words that name nothing, without the verbs at their ends."""
    for part in _BREAK.split(text):
        words = part.split()
        start = 0
        for end in range(len(words) + 1):
            if end < len(words) and _is_named(words[end]):
                continue
            if end > start:
                before = _fold(words[start - 1]) if start else ""
                after = _fold(words[end]) if end < len(words) else ""
                yield from _split(words[start:end], before, after)
            start = end + 1


def _is_named(word: str) -> bool:
    folded = _fold(word)
    is_word = len(word) <= _LONGEST_WORD and bool(_WORD.fullmatch(word))
    is_adverb = folded.endswith("ly") and not folded.endswith(_NOUNS_IN_LY)
    return is_word and folded not in _BOUNDARY and not (is_adverb or folded == "n't")


def _fold(word: str) -> str:
    folded = word.lower().replace("’", "'")
    return "n't" if folded.endswith("n't") else folded


def _split(words: Sequence[str], before: str, after: str) -> Iterator[tuple[str, ...]]:
    """Yields what is left of a run without verbs at its ends and past tenses inside."""
    run = list(words)
    if after in _OBJECTS and _is_lower(run[-1]):
        run.pop()
    if run and before in _SUBJECTS and _is_lower(run[0]) and (before not in _BE or _is_participle(run[0])):
        del run[0]
    if run and before in _BEFORE_GERUNDS and run[0].lower().endswith("ing") and len(run) > 1:
        del run[0]
    piece: list[str] = []
    for number, word in enumerate(run):
        if number and _is_lower(word) and _is_past(word):
            if piece:
                yield tuple(piece)
            piece = []
        else:
            piece.append(word)
    if piece:
        yield tuple(piece)


def _is_lower(word: str) -> bool:
    return word == word.lower()


def _is_past(word: str) -> bool:
    return len(word) >= _FEWEST_LETTERS and word.endswith("ed") and not word.endswith("eed")


def _is_participle(word: str) -> bool:
    return _is_past(word) or word.endswith(("ing", "en"))
