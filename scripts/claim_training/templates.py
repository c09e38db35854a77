"""Pairs made from templates: sentences of families that summaries get wrong, with held-out templates in each family.

`scripts/data/claims/templates.txt` has the templates and `template_words.json` the words; both are our own work. The
heuristics of HANS (McCoy et al. 2019, arXiv 1902.01007) share all words with their premise. The other families have a
clause beside the one that is asked for, units, clocks, quantifiers, or numbers in words. Others have questions and
answers, hedges, or unlinked facts. A held-out template is never trained on and measures what was learned.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.claim_training.example import CONTRADICTION, ENTAILMENT, NEUTRAL, Example

HEURISTICS, FAMILIES = "heuristics", "families"
"""The family of single pairs, and the source of the others: groups of a true one and a false one of one premise."""

_FOLDER = Path(__file__).resolve().parents[1] / "data" / "claims"
_LABELS = {"entailment": ENTAILMENT, "neutral": NEUTRAL, "contradiction": CONTRADICTION}
_NO_DOCUMENT = "f" * 16


@dataclass(frozen=True)
class Template:
    """A premise and a claim with slots."""

    family: str
    is_held_out: bool
    premise: str
    claim: str
    label: int


def read_templates() -> list[Template]:
    """Returns all templates, in the order of the file."""
    lines = (_FOLDER / "templates.txt").read_text(encoding="utf-8").splitlines()
    rows = [[part.strip() for part in line.split("|")] for line in lines if line and not line.startswith("#")]
    return [
        Template(family, held == "held out", premise, claim, _LABELS[label])
        for family, held, premise, claim, label in rows
    ]


def make_templates(count: int, seed: int = 1, *, held_out: bool = False) -> Iterator[Example]:
    """Yields pairs of the heuristics, trained or held out; the same seed gives the same pairs."""
    templates = [one for one in read_templates() if one.family == HEURISTICS and one.is_held_out is held_out]
    words = _words()
    rng, others = random.Random(seed), random.Random(seed)
    for number in range(count):
        template = rng.choice(templates)
        yield _example(template, _slots_of_heuristics(words, rng, others), "templates", f"t{number}")


def make_families(count: int, seed: int = 1, *, held_out: bool = False) -> Iterator[Example]:
    """Yields groups of the other families: a true claim of a premise and a false one, with the same words.

    Args:
        count: of groups.
        held_out: whether the held-out templates are filled, with their own opposites, instead of the others.
    """
    by_premise: defaultdict[tuple[str, str], list[Template]] = defaultdict(list)
    for one in read_templates():
        if one.family != HEURISTICS and one.is_held_out is held_out:
            by_premise[one.family, one.premise].append(one)
    premises, words, rng = list(by_premise.values()), _words(), random.Random(seed)
    for number in range(count):
        templates = premises[number % len(premises)]
        slots = _slots(words, rng, "held_out_opposites" if held_out else "opposites")
        true = [one for one in templates if one.label == ENTAILMENT]
        false = [one for one in templates if one.label != ENTAILMENT]
        for template in (rng.choice(true), rng.choice(false)):
            yield _example(template, slots, FAMILIES, f"{template.family} {number}")


def family_of(example: Example) -> str:
    """Returns the family of an example of `make_families`."""
    return example.group.rpartition(" ")[0]


def _example(template: Template, slots: Mapping[str, object], source: str, group: str) -> Example:
    premise, claim = (_started(text.format(**slots)) for text in (template.premise, template.claim))
    spans = () if template.label == ENTAILMENT else None
    return Example(source, _NO_DOCUMENT, premise, claim, template.label, group, spans)


def _started(text: str) -> str:
    return text[:1].upper() + text[1:]


def _words() -> dict[str, Any]:
    words: dict[str, Any] = json.loads((_FOLDER / "template_words.json").read_text(encoding="utf-8"))
    return words


def _slots_of_heuristics(words: Mapping[str, Any], rng: random.Random, others: random.Random) -> dict[str, str]:
    a, b, c = rng.sample(words["people"], 3)
    (v, w), (r, s), p = rng.sample(words["did"], 2), rng.sample(words["rested"], 2), rng.choice(words["places"])
    drawn = {"a": a, "b": b, "c": c, "v": v, "w": w, "r": r, "s": s, "p": p}
    drawn |= {"k": others.choice(words["thought"]), "f": others.choice(words["knew"])}
    return drawn | {"q": others.choice(words["beside"]), "j": others.choice(words["when"])}


def _slots(words: Mapping[str, Any], rng: random.Random, opposites: str) -> dict[str, object]:
    """Draws words for every slot of the families, so that two claims of one premise have the same."""
    several = {
        ("a",): "people",
        ("r", "s"): "rested",
        ("x", "y", "z"): "buildings",
        ("name", "name2", "name3"): "names",
        ("firm", "firm2"): "firms",
        ("day",): "days",
        ("month", "month2"): "months",
        ("nth",): "ordinals",
        ("thing",): "things",
    }
    slots: dict[str, object] = {}
    for names, kind in several.items():
        slots |= dict(zip(names, rng.sample(words[kind], len(names)), strict=True))
    slots["bad"], slots["good"] = rng.choice(words[opposites])
    slots["base"], slots["past"], slots["pp"] = rng.choice(words["deeds"])
    slots |= {"year": rng.randrange(1980, 2025), "big": rng.randrange(40, 400)}
    return slots | _numbers(words, rng) | _hours(rng) | _quantities(words, rng)


def _numbers(words: Mapping[str, Any], rng: random.Random) -> dict[str, object]:
    n, m = rng.sample(range(len(words["numbers"])), 2)
    return {"n": n + 2, "m": m + 2, "n_word": words["numbers"][n], "m_word": words["numbers"][m]}


def _hours(rng: random.Random) -> dict[str, object]:
    """Two hours of an afternoon, in both ways of writing: h, and o as another."""
    hour, other = rng.sample(range(13, 24), 2)
    slots: dict[str, object] = {}
    for name, one in (("h", hour), ("o", other)):
        slots |= {f"{name}24": f"{one}:00", f"{name}12": f"{one - 12} pm"}
    return slots


def _quantities(words: Mapping[str, Any], rng: random.Random) -> dict[str, object]:
    """A quantity, the same in a smaller unit, its number with that unit, and another number of its unit."""
    large, small, factor = rng.choice(words["units"])
    number, other = rng.sample(range(2, 40), 2)
    same = f"{number * int(factor):,} {small}"
    return {"q": f"{number} {large}", "q_same": same, "q_unit": f"{number} {small}", "q_other": f"{other} {large}"}
