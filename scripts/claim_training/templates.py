"""Sentences that have all words of their premise and do not follow from it, made from templates.

The three heuristics of HANS (McCoy et al. 2019, arXiv 1902.01007): shared words, a stretch of the premise, a clause of
it. The templates and words are our own; a third of the templates is never trained on and measures what was learned.
"""

import random
from collections.abc import Iterator

from scripts.claim_training.example import ENTAILMENT, NEUTRAL, Example

_PEOPLE = [
    "doctor",
    "lawyer",
    "senator",
    "nurse",
    "painter",
    "driver",
    "baker",
    "judge",
    "tourist",
    "soldier",
    "teacher",
    "farmer",
    "singer",
    "pilot",
    "banker",
    "student",
    "author",
    "engineer",
    "manager",
    "reporter",
    "sailor",
    "tailor",
    "guard",
    "chemist",
    "coach",
    "dancer",
    "editor",
    "gardener",
    "hunter",
    "keeper",
]
_DID = [
    "helped",
    "called",
    "praised",
    "warned",
    "followed",
    "visited",
    "thanked",
    "blamed",
    "hired",
    "sued",
    "met",
    "paid",
    "saved",
    "ignored",
    "defended",
]
_RESTED = ["slept", "waited", "laughed", "resigned", "arrived", "danced", "left", "spoke", "ran", "worked"]
_PLACES = ("in the garden", "near the station", "behind the school", "at the market", "on the bridge")

_THOUGHT = ["believed", "hoped", "feared", "guessed", "suspected", "assumed", "denied", "dreamed", "claimed", "doubted"]
_KNEW = ["knew", "saw", "regretted", "noticed", "proved", "discovered", "remembered", "was glad"]
_BESIDE = ["near", "beside", "next to", "opposite", "in front of", "to the left of", "far from", "above"]
_WHEN = ["when", "while", "because", "since", "after", "before", "as soon as"]

# Premise, claim, whether it follows. {a} {b} {c}: people, {v} {w}: transitive verbs, {r} {s}: intransitive ones, {p}: a
# place, {k} {f}: what may be false of the clause behind it and what is not, {q}: beside, {j}: when or because.
TRAINED = (
    ("The {a} {v} the {b}.", "The {b} {v} the {a}.", False),
    ("The {a} {v} the {b}.", "The {b} was {v} by the {a}.", True),
    ("The {b} was {v} by the {a}.", "The {b} {v} the {a}.", False),
    ("The {b} was {v} by the {a}.", "The {a} {v} the {b}.", True),
    ("The {a} near the {b} {r}.", "The {b} {r}.", False),
    ("The {a} near the {b} {r}.", "The {a} {r}.", True),
    ("The {a} who {v} the {b} {r}.", "The {b} {r}.", False),
    ("The {a} who {v} the {b} {r}.", "The {a} {v} the {b}.", True),
    ("The {a} and the {b} {v} the {c}.", "The {a} {v} the {b}.", False),
    ("The {a} and the {b} {v} the {c}.", "The {b} {v} the {c}.", True),
    ("If the {a} {r}, the {b} {s}.", "The {b} {s}.", False),
    ("Since the {a} {r}, the {b} {s}.", "The {b} {s}.", True),
    ("The {a} believed that the {b} {r}.", "The {b} {r}.", False),
    ("The {a} knew that the {b} {r}.", "The {b} {r}.", True),
    ("Perhaps the {a} {v} the {b} {p}.", "The {a} {v} the {b}.", False),
    ("Of course the {a} {v} the {b} {p}.", "The {a} {v} the {b}.", True),
    ("Some of the {a}s {r} {p}.", "All of the {a}s {r} {p}.", False),
    ("All of the {a}s {r} {p}.", "The {a}s {r}.", True),
    ("No {a} {r} {p}.", "A {a} {r} {p}.", False),
    ("The {a} {v} the {b} before the {c} {r}.", "The {c} {r} before the {a} {v} the {b}.", False),
    ("The {a} {v} the {b} before the {c} {r}.", "The {a} {v} the {b}.", True),
    ("Few {a}s ever {r}.", "Many {a}s {r}.", False),
    ("The {a} hoped that the {b} {r} {p}.", "The {b} {r} {p}.", False),
    ("The {a} feared that the {b} {v} the {c}.", "The {b} {v} the {c}.", False),
    ("The {a} saw that the {b} {r} {p}.", "The {b} {r} {p}.", True),
    ("The {a} regretted that the {b} {v} the {c}.", "The {b} {v} the {c}.", True),
    ("The {a} asked whether the {b} {r}.", "The {b} {r}.", False),
    ("Either the {a} {r} or the {b} {s}.", "The {b} {s}.", False),
    ("Neither the {a} nor the {b} {r}.", "The {a} {r}.", False),
    ("Not the {a} but the {b} {r} {p}.", "The {a} {r} {p}.", False),
    ("Not the {a} but the {b} {r} {p}.", "The {b} {r} {p}.", True),
    ("In case the {a} {r}, the {b} {v} the {c}.", "The {a} {r}.", False),
    ("Because the {a} {r}, the {b} {v} the {c}.", "The {a} {r}.", True),
    ("The {a} whom the {b} {v} {r}.", "The {a} {v} the {b}.", False),
    ("The {a} whom the {b} {v} {r}.", "The {b} {v} the {a}.", True),
    ("The {a} whom the {b} {v} {r}.", "The {b} {r}.", False),
    ("The {a} with the {b} {v} the {c}.", "The {a} {v} the {c}.", True),
    ("The {a} {v} the {b}, but the {c} {r}.", "The {b} {r}.", False),
    ("The {a} {v} the {b}, but the {c} {r}.", "The {c} {r}.", True),
    ("After the {a} {v} the {b}, the {c} {r}.", "The {b} {r}.", False),
    ("While the {a} {v} the {b}, the {c} {r}.", "The {c} {r}.", True),
    ("The {a} {r} and the {b} {s}.", "The {a} {s}.", False),
    ("The {a} {r} and the {b} {s}.", "The {b} {s}.", True),
    ("The {a}, not the {b}, {v} the {c}.", "The {b} {v} the {c}.", False),
    ("The {a}, not the {b}, {v} the {c}.", "The {a} {v} the {c}.", True),
    ("The friend of the {a} {r} {p}.", "The {a} {r} {p}.", False),
    ("The {a} paid by the {b} {v} the {c}.", "The {b} {v} the {c}.", False),
    ("The {a} paid by the {b} {v} the {c}.", "The {a} {v} the {c}.", True),
    ("The {a} {k} that the {b} {r}.", "The {b} {r}.", False),
    ("The {a} {k} that the {b} {v} the {c}.", "The {b} {v} the {c}.", False),
    ("The {a} {k} that the {b} {v} the {c} {p}.", "The {a} {v} the {c} {p}.", False),
    ("The {a} {f} that the {b} {r}.", "The {b} {r}.", True),
    ("The {a} {f} that the {b} {v} the {c}.", "The {b} {v} the {c}.", True),
    ("The {a} {f} that the {b} {v} the {c}.", "The {a} {v} the {c}.", False),
    ("It is not true that the {a} {v} the {b}.", "The {a} {v} the {b}.", False),
    ("It is true that the {a} {v} the {b}.", "The {a} {v} the {b}.", True),
    ("The {a} {q} the {b} {v} the {c}.", "The {b} {v} the {c}.", False),
    ("The {a} {q} the {b} {v} the {c}.", "The {a} {v} the {c}.", True),
    ("The {a} {q} the {b} {r} {p}.", "The {b} {r} {p}.", False),
    ("The {a} {v} the {b} {q} the {c}.", "The {a} {v} the {c}.", False),
    ("The {a} {v} the {b} {q} the {c}.", "The {a} {v} the {b}.", True),
    ("The {a} {r} {j} the {b} {v} the {c}.", "The {b} {v} the {c}.", True),
    ("The {a} {r} {j} the {b} {v} the {c}.", "The {a} {v} the {c}.", False),
    ("The {a} {v} the {b} {j} the {c} {r}.", "The {b} {r}.", False),
    ("The {a} {v} the {b} {j} the {c} {r}.", "The {a} {v} the {b}.", True),
    ("The {a} {r} provided that the {b} {s}.", "The {b} {s}.", False),
    ("As long as the {a} {v} the {b}, the {c} {r}.", "The {a} {v} the {b}.", False),
    ("Suppose the {a} {v} the {b}.", "The {a} {v} the {b}.", False),
    ("Whether or not the {a} {r}, the {b} {v} the {c}.", "The {a} {r}.", False),
    ("Whether or not the {a} {r}, the {b} {v} the {c}.", "The {b} {v} the {c}.", True),
    ("Even though the {a} {r}, the {b} {v} the {c}.", "The {a} {r}.", True),
    ("Either the {a} or the {b} {v} the {c}.", "The {a} {v} the {c}.", False),
    ("The {a} {v} either the {b} or the {c}.", "The {a} {v} the {b}.", False),
    ("The {a} {v} the {b} or {w} the {c}.", "The {a} {w} the {c}.", False),
    ("The {a} {v} the {b} and {w} the {c}.", "The {a} {w} the {c}.", True),
    ("The {a} {v} the {b} and {w} the {c}.", "The {b} {w} the {c}.", False),
    ("The {a} {v} the {b} and the {c}.", "The {a} {v} the {c}.", True),
    ("The {a} {v} the {b} and the {c}.", "The {b} {v} the {c}.", False),
    ("The {a} {v} the {b}, and then the {c} {r}.", "The {b} {r}.", False),
    ("The {a} {v} the {b}, so the {c} {w} the {a}.", "The {b} {w} the {a}.", False),
    ("The {a} {v} the {b} while the {c} {r} {p}.", "The {b} {r} {p}.", False),
    ("The {a} {v} the {b} who {r}.", "The {b} {r}.", True),
    ("The {a} {v} the {b} who {r}.", "The {a} {r}.", False),
    ("The {a} who {r} {v} the {b}.", "The {a} {v} the {b}.", True),
    ("The {a} who the {b} {v} {w} the {c}.", "The {b} {w} the {c}.", False),
    ("The {a} who the {b} {v} {w} the {c}.", "The {a} {v} the {b}.", False),
    ("The {a} whose {b} {v} the {c} {r}.", "The {a} {v} the {c}.", False),
    ("The {a}, who {v} the {b}, {w} the {c}.", "The {b} {w} the {c}.", False),
    ("The {a}, who {v} the {b}, {w} the {c}.", "The {a} {w} the {c}.", True),
    ("The {a} {v} by the {b} {r}.", "The {b} {r}.", False),
    ("The {a}, {v} by the {b}, {w} the {c}.", "The {b} {w} the {c}.", False),
    ("The {a} was {v} by the {b} and the {c}.", "The {c} {v} the {a}.", True),
    ("The {a} was {v} by the {b} and the {c}.", "The {a} {v} the {c}.", False),
    ("Nobody but the {a} {r} {p}.", "The {a} {r} {p}.", True),
    ("Everyone except the {a} {r} {p}.", "The {a} {r} {p}.", False),
    ("Only the {a} {v} the {b}.", "The {c} {v} the {b}.", False),
    ("Most {a}s {r} {p}.", "All {a}s {r} {p}.", False),
    ("Not all {a}s {r} {p}.", "Some {a}s {r} {p}.", True),
    ("Hardly any {a} {r} {p}.", "Most {a}s {r} {p}.", False),
    ("The {a} nearly {v} the {b}.", "The {a} {v} the {b}.", False),
    ("The {a} wanted the {b} to be {v}.", "The {b} was {v}.", False),
    ("The {a} managed to be {v} by the {b}.", "The {b} {v} the {a}.", True),
    ("The {a}'s {b} {v} the {c}.", "The {a} {v} the {c}.", False),
    ("The {a} of whom the {b} dreamed {r}.", "The {b} {r}.", False),
    ("The {a} {r} {p}, but the {b} did not.", "The {b} {r} {p}.", False),
    ("The {a} {r} {p}, and so did the {b}.", "The {b} {r} {p}.", True),
    ("Instead of the {a}, the {b} {v} the {c}.", "The {a} {v} the {c}.", False),
    ("Together with the {a}, the {b} {v} the {c}.", "The {b} {v} the {c}.", True),
)
HELD_OUT = (
    ("The {a} {v} the {b} and the {c} {r}.", "The {b} {r}.", False),
    ("The {a} {v} the {b} and the {c} {r}.", "The {c} {r}.", True),
    ("The {a} that the {b} {v} {r}.", "The {a} {v} the {b}.", False),
    ("The {a} that the {b} {v} {r}.", "The {b} {v} the {a}.", True),
    ("The {a} said that the {b} {v} the {c}.", "The {b} {v} the {c}.", False),
    ("The {a} forgot that the {b} {v} the {c}.", "The {b} {v} the {c}.", True),
    ("Unless the {a} {r}, the {b} {v} the {c}.", "The {b} {v} the {c}.", False),
    ("Although the {a} {r}, the {b} {v} the {c}.", "The {b} {v} the {c}.", True),
    ("The {a} or the {b} {r} {p}.", "The {b} {r}.", False),
    ("Both the {a} and the {b} {r} {p}.", "The {b} {r}.", True),
    ("The {a} behind the {b} {v} the {c}.", "The {b} {v} the {c}.", False),
)


def make_templates(count: int, seed: int = 1, *, held_out: bool = False) -> Iterator[Example]:
    """Yields pairs of the trained templates, or of the others; the same seed gives the same pairs."""
    rng, others = random.Random(seed), random.Random(seed)
    for number in range(count):
        premise, claim, follows = rng.choice(HELD_OUT if held_out else TRAINED)
        a, b, c = rng.sample(_PEOPLE, 3)
        (v, w), (r, s), p = rng.sample(_DID, 2), rng.sample(_RESTED, 2), rng.choice(_PLACES)
        words = {"a": a, "b": b, "c": c, "v": v, "w": w, "r": r, "s": s, "p": p}
        words |= {"k": others.choice(_THOUGHT), "f": others.choice(_KNEW), "q": others.choice(_BESIDE)}
        words["j"] = others.choice(_WHEN)
        label = ENTAILMENT if follows else NEUTRAL
        spans = () if follows else None
        yield Example("templates", "f" * 16, premise.format(**words), claim.format(**words), label, f"t{number}", spans)
