"""Two statements about one document in one sentence: true when both are, and false when one of them is.

Summarizers join what a document says apart, and a model that saw joined halves as errors alone refuses them all.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pipeline.reading.word_lists import FUNCTION_WORDS
from scripts.claim_training.example import ENTAILMENT, NOT_SUPPORTED, Example

JOINED = "joined"
"""Edit of a claim that is two claims in one."""

_MOST_OF_A_DOCUMENT = 2
_WORDS = range(4, 31)  # of either statement
_JOINTS = (", and ", ", and ", " and ", "; ", ", while ", " - ", ", ", ". ")
_WORD = re.compile(r"[^\W_]+")


def joined_pairs(examples: Sequence[Example], passage: Callable[[str], str], rng: random.Random) -> Iterator[Example]:
    """Yields pairs of true statements, each followed by the same pair with a false edit of one of them.

    Args:
        examples: of one document, with their edits.
        passage: finds the premise of a claim. A pair whose premise lacks a word that either statement's own premise
            has is left out.
    """
    true = [one for one in examples if one.label == ENTAILMENT and one.edit in ("", "copied") and _is_usable(one)]
    false = {
        one.group: one
        for one in examples
        if one.label == NOT_SUPPORTED and one.edit not in ("", "splice") and one.spans
    }
    rng.shuffle(true)
    for number in range(min(_MOST_OF_A_DOCUMENT, len(true) // 2)):
        first, second = true[2 * number : 2 * number + 2]
        if first.group == second.group:
            continue
        joint = rng.choice(_JOINTS)
        pair, group = _join(first.claim, second.claim, joint), f"{first.document} joined {number}"
        premise = passage(pair)
        if not _holds(premise, first) or not _holds(premise, second):
            continue
        yield replace(first, claim=pair, premise=premise, group=group, spans=(), edit=JOINED)
        wrong = [(at, false[one.group]) for at, one in enumerate((first, second)) if one.group in false]
        if wrong:
            at, edited = rng.choice(wrong)
            claims = (edited.claim, second.claim) if at == 0 else (first.claim, edited.claim)
            claim = _join(*claims, joint)
            ahead = len(claim) - len(edited.claim) if at else 0
            spans = tuple((start + ahead, end + ahead) for start, end in edited.spans or ())
            yield replace(edited, claim=claim, premise=passage(claim), group=group, spans=spans, edit=JOINED)


def _is_usable(example: Example) -> bool:
    return example.claim[:1].isalnum() and len(example.claim.split()) in _WORDS


def _join(first: str, second: str, joint: str) -> str:
    """Puts the second behind the first; its own end stays."""
    begun = second.split(maxsplit=1)[0]
    if not joint.startswith(".") and begun.lower() in FUNCTION_WORDS and begun != "I":
        second = second[:1].lower() + second[1:]
    return f"{first.rstrip(' .!?;')}{joint}{second}"


def _holds(premise: str, example: Example) -> bool:
    """Tells whether a premise has all words of the claim that its own premise has."""
    claimed, own, held = (_words(text) for text in (example.claim, example.premise, premise))
    return claimed & own <= held


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
