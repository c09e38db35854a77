"""Words that turn a statement into its opposite."""

from pipeline.judge.evidence.word_table import WordTable

_CUE_LIST = """
    not never no none nobody nothing neither nor without cannot can't won't don't doesn't didn't isn't aren't wasn't
    weren't hasn't haven't hadn't wouldn't couldn't shouldn't mustn't needn't ain't dont doesnt didnt isnt wasnt wont
    unable fail fails failed failing refuse refuses refused refusing deny denies denied denying lack lacks lacked
    lacking hardly barely scarcely rarely seldom reject rejects rejected rejecting
    """
CUES = frozenset(_CUE_LIST.split())
_DIRECT_LIST = """
    not never no none nobody nothing neither nor cannot can't won't don't doesn't didn't isn't aren't wasn't weren't
    hasn't haven't hadn't wouldn't couldn't shouldn't mustn't needn't ain't dont doesnt didnt isnt wasnt wont
"""
DIRECT_CUES = frozenset(_DIRECT_LIST.split())
"""Cues that negate and mean nothing else."""

_NO_CUES_AFTER = {"no": {"doubt", "matter", "brainer"}, "not": {"only", "just", "least"}, "nothing": {"but"}}


def cues(table: WordTable, indices: range, vocabulary: frozenset[str] = CUES) -> list[int]:
    """Returns the indices of negations among some words; "not only" is none."""
    return [index for index in indices if table.words[index] in vocabulary and not _is_harmless(table, index)]


def _is_harmless(table: WordTable, index: int) -> bool:
    if index + 1 >= len(table):
        return False
    word, following = table.words[index], table.words[index + 1]
    return following in _NO_CUES_AFTER.get(word, frozenset()) or (word == "no" and following[0].isdigit())  # no 1
